/**
 * The rows of a replay batch, for the runner and for the commands of people: the batch under its lock, its numbers, its
 * steps and its events. A step is a conditional update with the next version; nothing here takes one that the table of
 * domain/replay.ts does not have, and the database would refuse it.
 */
import type { ClientBase } from "pg";
import {
  canStep,
  countsOf,
  type ReplayCounts,
  type ReplayItemState,
  type ReplayState,
} from "#domain/replay.ts";
import {
  DEFAULT_REPLAY_POLICY,
  type ReplayPlan,
  type ReplayPolicy,
  readReplayPolicy,
} from "#domain/replay-plan.ts";
import type { Queryable } from "./types.ts";

/** A batch. Times in milliseconds of the database's clock. */
export interface ReplayBatchRow {
  readonly id: string;
  readonly name: string;
  readonly state: ReplayState;
  readonly version: number;
  readonly reason: string;
  /** The batch that it follows. */
  readonly parent_id: string | null;
  readonly plan: ReplayPlan;
  readonly requested_by: string;
  readonly submitted_by: string | null;
  readonly approved_by: string | null;
  readonly break_glass_by: string | null;
  readonly editors: readonly string[];
  readonly tenant_ids: readonly string[];
  readonly inspected: readonly string[];
  readonly checklist: unknown;
  readonly sample_seed: string | null;
  readonly root_cause: string | null;
  readonly fix_url: string | null;
  readonly ticket: string | null;
  readonly frozen_sha256: Buffer | null;
  readonly paused_from: ReplayState | null;
  readonly pause_cause: string | null;
  readonly auto_pauses: number;
  readonly stop_cause: string | null;
  readonly rate_cap: number | null;
  readonly turn_errors: number;
  readonly submitted_ms: number | null;
  readonly approved_ms: number | null;
  readonly started_ms: number | null;
  readonly held_ms: number | null;
  readonly ramp_ms: number | null;
  readonly last_turn_ms: number | null;
  readonly now_ms: number;
}

const ms = (column: string, name: string) => `(extract(epoch FROM b.${column}) * 1000)::float8 AS ${name}`;

/** Columns of ReplayBatchRow, of the table `b`. */
export const BATCH_COLUMNS = `b.id, b.name, b.state, b.version, b.reason, b.parent_id, b.plan, b.requested_by, b.submitted_by, b.approved_by, b.break_glass_by, b.editors, b.tenant_ids,
  b.inspected, b.checklist, b.sample_seed, b.root_cause, b.fix_url, b.ticket, b.frozen_sha256, b.paused_from, b.pause_cause, b.auto_pauses,
  b.stop_cause, b.rate_cap::float8 AS rate_cap, b.turn_errors, ${ms("submitted_at", "submitted_ms")}, ${ms("approved_at", "approved_ms")},
  ${ms("started_at", "started_ms")}, ${ms("held_since", "held_ms")}, ${ms("ramp_since", "ramp_ms")}, ${ms("last_turn_at", "last_turn_ms")},
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`;

/** The batch, locked against other people and turns, and against nobody who adds to its tables. */
export async function lockBatch(
  client: ClientBase,
  id: string,
  whenLocked: "wait" | "skip" = "wait",
): Promise<ReplayBatchRow | null> {
  const { rows } = await client.query<ReplayBatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM sluice.replay_batch b WHERE b.id = $1 FOR NO KEY UPDATE${whenLocked === "skip" ? " SKIP LOCKED" : ""}`,
    [id],
  );
  return rows[0] ?? null;
}

/** Whether there is such a batch, locked or not. */
export async function isBatch(client: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await client.query("SELECT 1 FROM sluice.replay_batch WHERE id = $1", [id]);
  return rowCount !== 0;
}

/** Columns that a step may set beside the state, as SQL. Values are never part of the text. */
export interface StepSet {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/**
 * Takes a step under the batch's lock. `$1` to `$3` are taken: a set begins with `$4`.
 * @throws Error when the table has no such step, which is a fault of ours
 */
export async function stepBatch(
  client: ClientBase,
  batch: Pick<ReplayBatchRow, "id" | "state" | "version" | "paused_from">,
  to: ReplayState,
  set: StepSet = { sql: "" },
): Promise<number> {
  if (!canStep(batch.state, to, batch.paused_from)) {
    throw new Error(`a replay batch cannot go from ${batch.state} to ${to}`);
  }
  const more = set.sql === "" ? "" : `, ${set.sql}`;
  const { rows } = await client.query<{ version: number }>(
    `UPDATE sluice.replay_batch SET state = $3, version = version + 1${more} WHERE id = $1 AND version = $2 RETURNING version`,
    [batch.id, batch.version, to, ...(set.values ?? [])],
  );
  const row = rows[0];
  if (row === undefined) throw new Error("a locked batch was not updated");
  return row.version;
}

export interface ReplayEventInput {
  readonly id: string;
  readonly batchId: string;
  readonly kind: string;
  readonly actor: string;
  readonly from?: ReplayState | null;
  readonly to?: ReplayState | null;
  readonly detail?: string | null;
  readonly facts?: Readonly<Record<string, unknown>>;
}

const MAX_DETAIL_CHARS = 500;

export async function addEvent(client: Queryable, event: ReplayEventInput): Promise<void> {
  const detail = event.detail?.slice(0, MAX_DETAIL_CHARS) ?? null;
  await client.query(
    `INSERT INTO sluice.replay_event (id, batch_id, region, kind, actor, from_state, to_state, detail, facts)
     SELECT $1, $2, rc.region, $3, $4, $5, $6, $7, $8 FROM sluice.region_control rc`,
    [
      event.id,
      event.batchId,
      event.kind,
      event.actor,
      event.from ?? null,
      event.to ?? null,
      detail === "" ? null : detail,
      JSON.stringify(event.facts ?? {}),
    ],
  );
}

/** Items by state: at most 5,000 rows of one batch, so that nothing has to be counted apart. */
export async function readCounts(client: Queryable, batchId: string): Promise<ReplayCounts> {
  const { rows } = await client.query<{ state: ReplayItemState; n: number }>(
    "SELECT state, count(*)::integer AS n FROM sluice.replay_item WHERE batch_id = $1 GROUP BY 1",
    [batchId],
  );
  return countsOf(rows);
}

/** The policy in force, with its version; 0 for the built-in one. */
export async function readPolicy(client: Queryable): Promise<{ version: number; policy: ReplayPolicy }> {
  const { rows } = await client.query<{ version: number; body: unknown }>(
    "SELECT version, body FROM sluice.replay_policy ORDER BY version DESC LIMIT 1",
  );
  const row = rows[0];
  if (row === undefined) return { version: 0, policy: DEFAULT_REPLAY_POLICY };
  return { version: row.version, policy: readReplayPolicy(row.body) };
}

/** The audit row of a step that no person took. */
export async function auditStep(
  client: Queryable,
  step: {
    readonly id: string;
    readonly actor: string;
    readonly batch: Pick<ReplayBatchRow, "tenant_ids" | "state" | "version">;
    readonly publicId: string;
    readonly to: ReplayState;
    readonly reason: string;
  },
): Promise<void> {
  const [tenantId] = step.batch.tenant_ids;
  await client.query(
    `INSERT INTO sluice.operator_action
       (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, before, after, result, correlation_id)
     SELECT $1, rc.region, $2, 'system', $3, 'replay_batch', $4, $5, $6, $7, $8, 'done', $4 FROM sluice.region_control rc`,
    [
      step.id,
      step.actor,
      `replay.${step.to}`,
      step.publicId,
      step.batch.tenant_ids.length === 1 ? tenantId : null,
      step.reason.slice(0, MAX_DETAIL_CHARS),
      JSON.stringify({ state: step.batch.state, version: step.batch.version }),
      JSON.stringify({ state: step.to, version: step.batch.version + 1 }),
    ],
  );
}
