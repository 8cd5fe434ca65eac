/**
 * The graphile-worker job of a running batch: `replay`, key `replay:<batch>`. It carries nothing but the id, and losing it
 * costs a moment: the reconciler puts it back. And the end of reviews and approvals that nobody used in time.
 */

import type { Pool, PoolClient } from "pg";
import { toPublicId } from "#domain/ids.ts";
import { type TransactionBounds, transact } from "../transact.ts";
import { closeFrozen, recallItems } from "./replay-release.ts";
import { addEvent, auditStep, lockBatch, readPolicy, stepBatch } from "./replay-rows.ts";
import type { Queryable } from "./types.ts";

export const REPLAY_TASK = "replay";
const MAX_ATTEMPTS = 25;
/** A turn is short: whoever has had the job for this long will not give it back. */
const DEAD_LOCK_MS = 10_000;
const MAX_BATCHES = 100;

export function replayKey(batchId: string): string {
  return `replay:${batchId}`;
}

/** Puts the batch's only job so long from now, in place of the one that waits. */
export async function writeReplayJob(on: Queryable, batchId: string, inMs: number): Promise<void> {
  await on.query(
    `SELECT graphile_worker.add_job($1, json_build_object('batchId', $2::text), run_at => clock_timestamp() + $3::float8 * interval '1 millisecond',
       max_attempts => $4, job_key => $5, job_key_mode => 'replace')`,
    [REPLAY_TASK, batchId, inMs, MAX_ATTEMPTS, replayKey(batchId)],
  );
}

/** Re-adds the job of every batch that needs turns and has none that can still run. Returns how many. */
export async function restoreReplayJobs(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ id: string }>({
    name: "sluice-replay-missing",
    text: `SELECT b.id FROM sluice.replay_batch b
            WHERE b.state NOT IN ('draft', 'completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled')
              AND (b.state IN ('canary', 'canary_hold', 'running', 'stopping')
                   OR b.state = 'paused' AND EXISTS (SELECT 1 FROM sluice.replay_item i WHERE i.batch_id = b.id AND i.state = 'released'))
              AND NOT EXISTS (SELECT 1 FROM graphile_worker.jobs j WHERE j.key = 'replay:' || b.id AND j.attempts < j.max_attempts
                               AND (j.locked_at IS NULL OR j.locked_at > statement_timestamp() - $2::float8 * interval '1 millisecond'))
            LIMIT $1`,
    values: [MAX_BATCHES, DEAD_LOCK_MS],
  });
  for (const { id } of rows) await writeReplayJob(pool, id, 0);
  return rows.length;
}

/** A row that came back unsent after its batch had ended would wait for ever: it is a dead letter again. Returns how many. */
export async function recallLeftovers(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ id: string }>({
    name: "sluice-replay-leftovers",
    text: `SELECT DISTINCT b.id FROM sluice.replay_item i JOIN sluice.replay_batch b ON b.id = i.batch_id
            WHERE i.state = 'released' AND b.state IN ('completed', 'stopped', 'failed') LIMIT $1`,
    values: [MAX_BATCHES],
  });
  let recalled = 0;
  for (const { id } of rows) recalled += (await recallItems(pool, id, null, "recalled")).recalled;
  return recalled;
}

/** Ends reviews and approvals whose time is over. Returns the ids. */
export async function expireReplays(pool: Pool, actor: string, newId: () => string): Promise<string[]> {
  const { policy } = await readPolicy(pool);
  const { rows } = await pool.query<{ id: string }>({
    name: "sluice-replay-late",
    text: `SELECT b.id FROM sluice.replay_batch b
            WHERE b.state IN ('in_review', 'approved')
              AND CASE b.state WHEN 'in_review' THEN b.submitted_at + $1::float8 * interval '1 millisecond'
                               ELSE coalesce(b.approved_at, b.break_glass_at) + $2::float8 * interval '1 millisecond' END < clock_timestamp()
            LIMIT $3`,
    values: [policy.reviewMs, policy.approvalMs, MAX_BATCHES],
  });
  const ended: string[] = [];
  for (const { id } of rows) {
    if (await expireOne(pool, id, actor, newId, policy)) ended.push(id);
  }
  return ended;
}

async function expireOne(
  pool: Pool,
  id: string,
  actor: string,
  newId: () => string,
  policy: { readonly reviewMs: number; readonly approvalMs: number },
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const batch = await lockBatch(client, id, "skip");
    if (batch === null || (batch.state !== "in_review" && batch.state !== "approved")) return false;
    const [sinceMs, spanMs, what] =
      batch.state === "in_review"
        ? [batch.submitted_ms, policy.reviewMs, "nobody reviewed it"]
        : [batch.approved_ms, policy.approvalMs, "nobody started it"];
    if (sinceMs === null || batch.now_ms - sinceMs < spanMs) return false;
    const reason = `${what} within ${Math.round(spanMs / 60_000)} minutes`;
    await closeFrozen(client, id, null, "expired");
    await stepBatch(client, batch, "expired", {
      sql: "ended_at = clock_timestamp(), stop_cause = $4",
      values: [reason],
    });
    await addEvent(client, {
      id: newId(),
      batchId: id,
      kind: "expire",
      actor,
      from: batch.state,
      to: "expired",
      detail: reason,
    });
    await auditStep(client, {
      id: newId(),
      actor,
      batch,
      publicId: toPublicId("rpl", id),
      to: "expired",
      reason,
    });
    return true;
  });
}

/** A process that is stopped in its turn holds nothing for long. */
const TURN_BOUNDS: TransactionBounds = { lockMs: 2_000, statementMs: 10_000, idleMs: 5_000 };

/** One short transaction of the runner. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return transact(pool, TURN_BOUNDS, work);
}
