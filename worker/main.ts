/**
 * The life of a worker process around startWorker: signals, a dead parent, exit codes. The first SIGTERM or SIGINT
 * drains; the second exits at once, and so does a drain that takes too long. Nothing here knows a queue.
 */
import { type WorkerSettings, widenThreadPool } from "./config.ts";
import { startWorker, type WorkerExtras } from "./start-worker.ts";

const FORCED_EXIT_CODE = 1;
/** What a stop may take beyond the drain. A database that neither answers nor refuses would else hold it for ever. */
const STOP_MARGIN_MS = 6_500;

/** Runs until told to stop. Resolves after a clean stop. */
export async function runWorkerProcess(settings: WorkerSettings, extras: WorkerExtras = {}): Promise<void> {
  widenThreadPool();
  const worker = await startWorker(settings, extras);
  await new Promise<void>((resolve, reject) => {
    let asked = false;
    const ask = () => {
      if (asked) process.exit(FORCED_EXIT_CODE);
      asked = true;
      // What is left then ends by its lease, as after a kill.
      setTimeout(() => process.exit(FORCED_EXIT_CODE), settings.drainMs + STOP_MARGIN_MS).unref();
      // A listener for the parent's end keeps the channel, and with it this process, alive.
      process.off("disconnect", ask);
      worker.stop().then(resolve, reject);
    };
    process.on("SIGTERM", ask);
    process.on("SIGINT", ask);
    // Started by a supervisor that is gone: nobody would ever stop us.
    if (process.connected) process.once("disconnect", ask);
  });
}
