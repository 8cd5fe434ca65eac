/**
 * A bench worker as a process: `worker-main.ts <url> <slots> <probe ms>`. One message when it has started; SIGTERM drains, and it
 * ends with its parent. Nothing else may run here: its memory and its CPU are the numbers.
 */
import { startBenchWorker } from "./worker.ts";

const [url, slots, probeMs] = process.argv.slice(2);
if (url === undefined || !/^\d{1,4}$/.test(slots ?? "") || !/^\d{2,5}$/.test(probeMs ?? ""))
  throw new Error("usage: worker-main.ts <url> <slots> <probe ms>");
const worker = await startBenchWorker(url, Number(slots), Number(probeMs));
const stop = () => {
  worker.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.once("SIGTERM", stop);
process.once("disconnect", stop);
process.send?.("started");
