/**
 * What tests of replays share: dead letters, readings that are fresh or not, and a batch that has gone the whole way to its
 * approval by the product's own commands. Only tests import this.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { annotateReplay, draftReplay, inspectReplay, planReplay } from "#db/console/replay/draft.ts";
import { submitReplay } from "#db/console/replay/freeze.ts";
import { approveReplay } from "#db/console/replay/review.ts";
import { claim } from "#db/queue/claim.ts";
import { type FinishRow, finish } from "#db/queue/finish.ts";
import { type TurnResult, turnReplay } from "#db/queue/replay-turn.ts";
import type { LaneKey } from "#db/queue/types.ts";
import type { DraftReplay } from "#domain/commands-replay.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import type { ReplayPlanInput, ReplayPolicy } from "#domain/replay-plan.ts";
import { contextOf, REASON } from "#tests/support/command-rows/sql.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { leaseRows, outcomeOf, request } from "#tests/support/queue-rows/sql.ts";

const MAX_FINISHED = 500;
const yes = (evidence: string) => ({ yes: true, evidence });
export const CHECKLIST = {
  rootCause: yes("their certificate had expired"),
  causeGone: yes("ten successes in ten minutes"),
  dedup: yes("their docs say so"),
  meaningful: yes("the holds are still open"),
  order: yes("each event stands alone"),
};

/** Dead letters of one destination, by the product's own finish. */
export async function makeDead(
  pool: Pool,
  place: LaneKey,
  count: number,
  changes: Partial<FinishRow> = {},
): Promise<string[]> {
  const ids = await makeDeliveries(pool, {
    tenantId: place.tenantId,
    destinationId: place.destinationId,
    count,
  });
  const token = await leaseRows(pool, ids);
  const dead = {
    decision: "dead",
    outcome: "server_error",
    reason: "attempts_exhausted",
    status: 500,
    fingerprint: `f:${place.destinationId}`,
    failure: true,
  } as const;
  for (let from = 0; from < ids.length; from += MAX_FINISHED) {
    await finish(
      pool,
      ids.slice(from, from + MAX_FINISHED).map((id) => outcomeOf(id, token, { ...dead, ...changes })),
    );
  }
  return ids;
}

/** A sample and a roll-up of so long ago. */
export async function setMetrics(
  pool: Pool,
  ago: { readonly ageMs?: number; readonly dueLagMs?: number } = {},
): Promise<void> {
  const { ageMs = 0, dueLagMs = 0 } = ago;
  await pool.query("DELETE FROM sluice.sample_run");
  await pool.query("DELETE FROM sluice.queue_sample");
  await pool.query(
    `WITH t AS MATERIALIZED (SELECT clock_timestamp() - $1::float8 * interval '1 millisecond' AS at, region FROM sluice.region_control),
     r AS (INSERT INTO sluice.sample_run (at, scope, region, ok) SELECT at, 'class', region, true FROM t),
     s AS (UPDATE sluice.series_run SET rolled_at = (SELECT at FROM t))
     INSERT INTO sluice.queue_sample (at, scope, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms, gated_count, ready, delayed, in_flight, dead)
     SELECT at, 'class', 'routine', region, 0, 0, $2, 0, 0, 0, 0, 0, 0, 0 FROM t`,
    [ageMs, dueLagMs],
  );
}

export async function setReplayPolicy(pool: Pool, body: Partial<ReplayPolicy>): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.replay_policy (version, region, body, created_by, reason)
     SELECT coalesce((SELECT max(version) FROM sluice.replay_policy), 0) + 1, region, $1, 'test', 'a test' FROM sluice.region_control`,
    [JSON.stringify(body)],
  );
}

export interface Batch {
  /** UUID */
  readonly id: string;
  readonly publicId: string;
  version: number;
}

export const publicIds = (ids: readonly string[]) => ids.map((id) => toPublicId("dlv", id));

/** What a command about the batch carries. */
export const about = (batch: Batch) => ({ batchId: batch.publicId, version: batch.version, reason: REASON });

/** A draft by ann, inspected, annotated and planned. */
export async function makeDraft(
  database: TestDatabase,
  selection: DraftReplay["selection"],
  plan: ReplayPlanInput = {},
): Promise<Batch> {
  const ann = contextOf(database);
  const answer = await draftReplay(ann, EVERYWHERE, {
    name: "after the outage",
    selection,
    limit: 5_000,
    reason: REASON,
  });
  const publicId = String(answer.after.batchId);
  const { rows } = await database.pool.query<{ batch_id: string; delivery_id: string }>(
    "SELECT i.batch_id, i.delivery_id FROM sluice.replay_item i JOIN sluice.replay_batch b ON b.id = i.batch_id WHERE b.sample_seed = b.id::text AND replace(b.id::text, '-', '') = $1",
    [publicId.slice(4)],
  );
  const batch: Batch = { id: String(rows[0]?.batch_id), publicId, version: 1 };
  const follow = ({ version }: { version: number | null }) => {
    batch.version = version ?? batch.version;
  };
  follow(
    await inspectReplay(ann, {
      ...about(batch),
      deliveryIds: publicIds(rows.map(({ delivery_id }) => delivery_id)),
    }),
  );
  follow(
    await annotateReplay(ann, {
      ...about(batch),
      rootCause: "the certificate had expired",
      checklist: CHECKLIST,
    }),
  );
  follow(await planReplay(ann, { ...about(batch), plan }));
  return batch;
}

/** ... and frozen. */
export async function makeSubmitted(
  database: TestDatabase,
  selection: DraftReplay["selection"],
  plan: ReplayPlanInput = {},
): Promise<Batch & { readonly sha256: string }> {
  const batch = await makeDraft(database, selection, plan);
  const answer = await submitReplay(contextOf(database), about(batch));
  return { ...batch, version: answer.version ?? 0, sha256: String(answer.after.sha256) };
}

/** ... and approved by bob. */
export async function makeApproved(
  database: TestDatabase,
  selection: DraftReplay["selection"],
  plan: ReplayPlanInput = {},
): Promise<Batch> {
  const batch = await makeSubmitted(database, selection, plan);
  const bob = contextOf(database, { actor: "user:bob" });
  const answer = await approveReplay(bob, { ...about(batch), sha256: batch.sha256 });
  return { ...batch, version: answer.version ?? 0 };
}

export interface BatchState {
  readonly state: string;
  readonly version: number;
  readonly paused_from: string | null;
  readonly pause_cause: string | null;
  readonly stop_cause: string | null;
  readonly auto_pauses: number;
}

export async function readBatch(pool: Pool, id: string): Promise<BatchState> {
  const { rows } = await pool.query<BatchState>("SELECT * FROM sluice.replay_batch WHERE id = $1", [id]);
  if (rows[0] === undefined) throw new Error(`no batch ${id}`);
  return rows[0];
}

/** Items by state; states without an item are left out. */
export async function itemStates(pool: Pool, batchId: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ state: string; n: number }>(
    "SELECT state, count(*)::integer AS n FROM sluice.replay_item WHERE batch_id = $1 GROUP BY 1 ORDER BY 1",
    [batchId],
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

export async function readItem(
  pool: Pool,
  batchId: string,
  id: string,
): Promise<Record<string, unknown> | undefined> {
  const { rows } = await pool.query(
    "SELECT * FROM sluice.replay_item WHERE batch_id = $1 AND delivery_id = $2",
    [batchId, id],
  );
  return rows[0];
}

/** Rows of the dead letters, as they are. */
export async function deadRows(pool: Pool, ids: readonly string[]): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query(
    "SELECT * FROM sluice.dead_letter WHERE id = ANY ($1::uuid[]) ORDER BY id",
    [ids],
  );
  return rows;
}

/** One turn of the runner, without graphile-worker. */
export function turn(pool: Pool, batchId: string): Promise<TurnResult> {
  return turnReplay(pool, batchId, {
    actor: "worker:test",
    newId: () => uuidV7(Date.now(), randomBytes),
    schedule: false,
  });
}

/** Lets the rate of every lane be full again, as after a long wait. */
export async function refillRates(pool: Pool, batchId: string): Promise<void> {
  await pool.query(
    "UPDATE sluice.replay_lane SET rate_tat = clock_timestamp() - interval '1 hour' WHERE batch_id = $1",
    [batchId],
  );
}

/** Claims the released rows of a destination. */
export async function claimReplay(
  pool: Pool,
  place: LaneKey,
  wanted = 50,
): Promise<{ ids: readonly string[]; token: string }> {
  const wish = request([
    {
      lane: "replay",
      serviceClass: "routine",
      tenantId: place.tenantId,
      destinationId: place.destinationId,
      wanted,
    },
  ]);
  const { ids } = await claim(pool, wish);
  return { ids, token: wish.token };
}

export const DEAD_AGAIN = {
  decision: "dead",
  outcome: "server_error",
  reason: "attempts_exhausted",
  status: 500,
  fingerprint: "again",
  failure: true,
} as const;

/** Claims and ends what is released of a destination. Returns the ids. */
export async function send(
  pool: Pool,
  place: LaneKey,
  changes: Partial<FinishRow> = {},
): Promise<readonly string[]> {
  const { ids, token } = await claimReplay(pool, place);
  if (ids.length > 0)
    await finish(
      pool,
      ids.map((id) => outcomeOf(id, token, changes)),
    );
  return ids;
}

/** Gives a destination another address, as its owner would after a repair. */
export async function moveDestination(pool: Pool, id: string, url: string): Promise<void> {
  await pool.query("UPDATE sluice.destination SET url = $2, version = version + 1 WHERE id = $1", [id, url]);
}

/** Ids of a destination's dead letters, oldest first. */
export async function readDeadOf(pool: Pool, destinationId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM sluice.dead_letter WHERE destination_id = $1 ORDER BY died_at, id LIMIT 10000",
    [destinationId],
  );
  return rows.map(({ id }) => id);
}
