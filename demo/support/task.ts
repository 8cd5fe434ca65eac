/**
 * The desk's passes as a task of a region's worker. It only writes deliveries; nothing is sent from here. Cron starts it
 * once a minute and a run plans the next one of its minute, so that follow-ups do not wait that long. A tick that is late,
 * lost or doubled does no harm: see passes.ts.
 */
import type { Task } from "graphile-worker";
import type { PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import type { Hinter } from "#outbox/index.ts";
import { runTick } from "./passes.ts";

/** What the worker takes beside its own tasks. */
export interface SupportTask {
  /** With the region in it: graphile-worker's cron knows one identifier once. */
  readonly identifier: string;
  readonly task: Task;
  readonly crontab: string;
}

export interface SupportTaskOptions {
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
 * The task, its identifier and its crontab line for one region.
 * @param prisma a client of that region's database
 */
export function supportTask(
  region: Region,
  prisma: PrismaClient,
  options: SupportTaskOptions = {},
): SupportTask {
  const identifier = `support-tick-${region}`;
  const repeatMs = options.repeatMs ?? DEFAULT_REPEAT_MS;
  const repeats = repeatMs > 0 ? Math.min(MAX_REPEATS, Math.ceil(MINUTE_MS / repeatMs) - 1) : 0;
  return {
    identifier,
    crontab: `* * * * * ${identifier} ?jobKey=${identifier}&max=1`,
    task: async (payload, helpers) => {
      const tick = tickOf(payload);
      await runTick(prisma, { region, hinter: options.hinter, signal: helpers.abortSignal });
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
