/**
 * A repeated pass of the demo as a task of a region's worker. Cron only starts it, once a minute; a run plans the next
 * one of its minute itself, so that the demo does not wait so long. The pass must do no harm when a tick is late, lost
 * or doubled, and it must never send: it writes deliveries, the dispatcher sends them.
 */
import type { Task } from "graphile-worker";
import type { Hinter } from "#outbox/index.ts";

/** What the worker takes beside its own tasks. */
export interface TickTask {
  readonly identifier: string;
  readonly task: Task;
  readonly crontab: string;
}

export interface TickOptions {
  /** Told after a pass that wrote deliveries. */
  readonly hinter?: Pick<Hinter, "hint">;
  /** Time between two ticks of a minute, in milliseconds. Default 5 s; 0 leaves only cron's. */
  readonly repeatMs?: number;
}

const DEFAULT_REPEAT_MS = 5_000;
const MINUTE_MS = 60_000;
/** Cron starts the next minute's row of ticks; this one ends by itself. */
const MAX_REPEATS = 60;

/**
 * @param identifier with the region in it: graphile-worker's cron knows one identifier once
 * @param pass one run; it should end soon after the signal aborts
 */
export function tickTask(
  identifier: string,
  pass: (signal: AbortSignal) => Promise<unknown>,
  repeatMs = DEFAULT_REPEAT_MS,
): TickTask {
  const repeats = repeatMs > 0 ? Math.min(MAX_REPEATS, Math.ceil(MINUTE_MS / repeatMs) - 1) : 0;
  return {
    identifier,
    crontab: `* * * * * ${identifier} ?jobKey=${identifier}&max=1`,
    task: async (payload, helpers) => {
      const tick = tickOf(payload);
      await pass(helpers.abortSignal);
      if (tick >= repeats || helpers.abortSignal.aborted) return;
      // Planned, not slept: no slot of the worker is held meanwhile. Cron's next job takes over the same key.
      await helpers.addJob(
        identifier,
        { tick: tick + 1 },
        { jobKey: identifier, maxAttempts: 1, runAt: new Date(Date.now() + repeatMs) },
      );
    },
  };
}

/** Cron's own payload has no tick: it is the first one. */
function tickOf(payload: unknown): number {
  const tick = (payload as { tick?: unknown } | null)?.tick;
  return typeof tick === "number" && Number.isInteger(tick) && tick > 0 ? tick : 0;
}
