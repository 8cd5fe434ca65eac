/**
 * The runner of replay batches: the graphile-worker task that makes one short turn of a batch, and what puts a lost job
 * back. All that a batch is stands in its rows (db/queue/replay-turn.ts); nothing here remembers one, so that a process may
 * end anywhere. It must never send: what a turn releases is sent like any other delivery.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { z } from "zod";
import { expireReplays, REPLAY_TASK, recallLeftovers, restoreReplayJobs } from "#db/queue/replay-jobs.ts";
import { turnReplay } from "#db/queue/replay-turn.ts";
import { sendHint } from "#db/queue/wake-job.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Chore } from "./chores.ts";
import type { Logger } from "./log.ts";
import { readReplayHook } from "./replay-notice-config.ts";
import { sendReplayNotices } from "./replay-notices.ts";
import type { ExtraTask } from "./supervisor.ts";

const RESTORE_MS = 2_000;
const EXPIRE_MS = 10_000;
const NOTICES_MS = 5_000;

const Payload = z.object({ batchId: z.uuid() });
const newId = () => uuidV7(Date.now(), randomBytes);

/** The task. A turn that fails is counted by the turn itself; the job then ends, and the reconciler brings the next. */
export function replayTask(pool: Pool, workerId: string, log: Logger): ExtraTask {
  return {
    identifier: REPLAY_TASK,
    crontab: null,
    task: async (payload) => {
      const { batchId } = Payload.parse(payload);
      try {
        const turn = await turnReplay(pool, batchId, { actor: `worker:${workerId}`, newId, schedule: true });
        if (turn.released > 0) await sendHint(pool);
        if (turn.released + turn.skipped + turn.recalled > 0) {
          log.info({ event: "replay_turn", batch: batchId, ...turn }, "a replay batch moved");
        }
      } catch (error) {
        log.error({ event: "replay_turn_failed", batch: batchId, error: String(error) }, "a turn failed");
      }
    },
  };
}

/**
 * Safe in any number of processes at once.
 * @param hook where notices go; null: nowhere
 * @throws SluiceError `bad_config` for a hook that is no URL
 */
export function replayChoresOf(
  pool: Pool,
  workerId: string,
  log: Logger,
  hook: string | null = readReplayHook(),
): Chore[] {
  const notices: Chore[] =
    hook === null
      ? []
      : [
          {
            name: "send-replay-notices",
            everyMs: NOTICES_MS,
            work: async () => {
              const sent = await sendReplayNotices(pool, hook, log);
              if (sent > 0) log.info({ event: "replay_notices", sent }, "people were told of replays");
            },
          },
        ];
  return [
    ...notices,
    {
      name: "restore-replays",
      everyMs: RESTORE_MS,
      work: async () => {
        const restored = await restoreReplayJobs(pool);
        if (restored > 0)
          log.debug({ event: "replay_jobs_restored", restored }, "a running batch had no job");
        const recalled = await recallLeftovers(pool);
        if (recalled > 0)
          log.info({ event: "replay_leftovers", recalled }, "rows of ended batches came back");
      },
    },
    {
      name: "expire-replays",
      everyMs: EXPIRE_MS,
      work: async () => {
        const expired = await expireReplays(pool, `worker:${workerId}`, newId);
        if (expired.length > 0) log.info({ event: "replays_expired", expired }, "nobody used them in time");
      },
    },
  ];
}
