/** Faults of worker processes: killed, stopped, told to end, cut off, with a wrong clock. */
import { leasesOf } from "../sql.ts";
import { beyondLease, type Inject, sure, whileItHolds, withWorker } from "./arena.ts";

const SKEW_MS = 180_000;

export const kill: Inject = (arena) =>
  withWorker(arena, async (worker, region) => {
    await whileItHolds(worker, region);
    await worker.killAndReplace();
    return true;
  });

export const zombie: Inject = (arena) =>
  withWorker(arena, async (worker, region) => {
    await whileItHolds(worker, region);
    await worker.stoppedFor(() => beyondLease(arena.chance));
    return true;
  });

/** Alone, so that it is judged by what it does: it ends with 0, and no lease is left. */
export const stop: Inject = (arena) =>
  withWorker(arena, async (worker, region) => {
    await arena.exclusive(async () => {
      await whileItHolds(worker, region);
      const { workerId } = worker;
      const code = await worker.stop();
      const left = await sure(() => leasesOf(region.pool, workerId));
      if (code !== 0 || left.length > 0) {
        arena.findings.uncleanStops.push(
          `${worker.name}: exit code ${code}, leases left: ${left.join(", ") || "none"}; its last words: ${worker.lastWords}`,
        );
      }
    });
    await worker.start();
    return true;
  });

export const clockOff: Inject = (arena) =>
  withWorker(arena, async (worker) => {
    await worker.stopAndReplace(arena.chance.pick([SKEW_MS, -SKEW_MS]));
    return true;
  });

export const networkCut: Inject = (arena) =>
  withWorker(arena, async (worker, region) => {
    await whileItHolds(worker, region);
    await worker.cutFor(() => beyondLease(arena.chance));
    return true;
  });
