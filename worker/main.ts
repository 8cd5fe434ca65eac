/**
 * The life of a worker process around startWorker: signals, a dead parent, exit codes. The first SIGTERM or SIGINT
 * drains; the second exits at once. Nothing here knows a queue.
 */
import type { WorkerSettings } from "./config.ts";
import { startWorker, type WorkerExtras } from "./start-worker.ts";

const FORCED_EXIT_CODE = 1;

/** Runs until told to stop. Resolves after a clean stop. */
export async function runWorkerProcess(settings: WorkerSettings, extras: WorkerExtras = {}): Promise<void> {
  const worker = await startWorker(settings, extras);
  await new Promise<void>((resolve, reject) => {
    let asked = false;
    const ask = () => {
      if (asked) process.exit(FORCED_EXIT_CODE);
      asked = true;
      worker.stop().then(resolve, reject);
    };
    process.on("SIGTERM", ask);
    process.on("SIGINT", ask);
    // Started by a supervisor that is gone: nobody would ever stop us.
    if (process.connected) process.once("disconnect", ask);
  });
}
