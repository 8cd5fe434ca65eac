/**
 * A bench worker as a process: `worker-main.ts <url> <slots>`. One message when it has started; SIGTERM drains, and it
 * ends with its parent. Nothing else may run here: its memory and its CPU are the numbers.
 */
import { startBenchWorker } from "./worker.ts";

const [url, slots] = process.argv.slice(2);
if (url === undefined || !/^\d{1,4}$/.test(slots ?? ""))
  throw new Error("usage: worker-main.ts <url> <slots>");
const worker = await startBenchWorker(url, Number(slots));
const stop = () => {
  worker.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.once("SIGTERM", stop);
process.once("disconnect", stop);
process.send?.("started");
