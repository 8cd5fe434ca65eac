/**
 * A bench worker as a process: `worker-main.ts <url> <slots> <probe ms>`. One message when it has started; SIGTERM drains, and it
 * ends with its parent. Nothing else may run here, unless its parent asks for it: its memory and its CPU are the numbers.
 */
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { type LoopReport, READ_LOOP, startBenchWorker, WATCH_LOOP } from "./worker.ts";

const LOOP_RESOLUTION_MS = 10;
const NS_PER_MS = 1_000_000;

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
const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
let utilization = performance.eventLoopUtilization();
process.on("message", (question) => {
  if (question === WATCH_LOOP) {
    delay.reset();
    delay.enable();
    utilization = performance.eventLoopUtilization();
  } else if (question !== READ_LOOP) return;
  const ms = (ns: number) => Math.max(0, Math.round(ns / (NS_PER_MS / 10)) / 10 - LOOP_RESOLUTION_MS);
  const seen: LoopReport = {
    busyShare: performance.eventLoopUtilization(utilization).utilization,
    p99Ms: ms(delay.percentile(99)),
    maxMs: ms(delay.max),
  };
  process.send?.(seen);
});
process.once("SIGTERM", stop);
process.once("disconnect", stop);
process.send?.("started");
