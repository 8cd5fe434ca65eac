/**
 * How an item leaves the dead letters for a batch, and how it comes back unsent. Each statement moves the row, its item and
 * with it every number of the batch at once. It must never make a new id, key or body, never touch a row that is leased,
 * and never move an entry that is not the one that was frozen.
 */
import type { Queryable } from "./types.ts";

/** Most items of one statement; a batch has no more. */
const MAX_MOVED = 5_000;

const RELEASE = `
  WITH item AS MATERIALIZED (
    SELECT i.batch_id, i.delivery_id, i.dead_letter_version, i.dead_letter_cycle
      FROM sluice.replay_item i
     WHERE i.batch_id = $1 AND i.destination_id = $2 AND i.state = 'frozen' AND (i.canary OR NOT $4)
     ORDER BY i.seq LIMIT $3 FOR UPDATE),
  gone AS (
    DELETE FROM sluice.dead_letter d USING item i
     WHERE d.id = i.delivery_id AND d.version = i.dead_letter_version AND d.cycle = i.dead_letter_cycle AND d.will_not_replay_at IS NULL
       AND EXISTS (SELECT 1 FROM sluice.payload p WHERE p.id = d.payload_id AND p.body IS NOT NULL)
    RETURNING d.*),
  live AS (
    -- The counters of the former cycle stay with its attempts; this one has a budget of its own.
    INSERT INTO sluice.delivery
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, state, lane, attempts, cycle, replay_batch_id, first_attempt_at, first_failure_at, last_outcome, last_status)
    SELECT g.id, g.region, g.tenant_id, g.destination_id, g.payload_id, g.payload_bytes, g.event_type, g.idempotency_key, g.traceparent,
           g.service_class, g.created_at, g.first_due_at, clock_timestamp(), 'delayed', 'replay', g.attempts, g.cycle + 1, $1,
           g.first_attempt_at, g.first_failure_at, g.last_outcome, g.last_status
      FROM gone g RETURNING id),
  moved AS (
    UPDATE sluice.replay_item i
       SET state = CASE WHEN g.id IS NULL THEN 'skipped' ELSE 'released' END,
           skip_reason = CASE WHEN g.id IS NULL THEN 'changed since review' || CASE
             WHEN n.id IS NULL THEN ': no dead letter any more'
             WHEN n.will_not_replay_at IS NOT NULL THEN ': marked as not to be replayed'
             WHEN n.version = f.dead_letter_version AND n.cycle = f.dead_letter_cycle THEN ': its body is gone'
             ELSE '' END END,
           released_at = CASE WHEN g.id IS NOT NULL THEN clock_timestamp() END,
           ended_at = CASE WHEN g.id IS NULL THEN clock_timestamp() END,
           attempts_before = g.attempts, former = CASE WHEN g.id IS NOT NULL THEN to_jsonb(g) END
      FROM item f LEFT JOIN gone g ON g.id = f.delivery_id LEFT JOIN sluice.dead_letter n ON n.id = f.delivery_id
     WHERE i.batch_id = f.batch_id AND i.delivery_id = f.delivery_id
    RETURNING i.delivery_id, i.state)
  SELECT count(*) FILTER (WHERE m.state = 'released')::integer AS released, count(*) FILTER (WHERE m.state = 'skipped')::integer AS skipped
    FROM moved m WHERE (SELECT count(*) FROM live) >= 0`;

export interface Released {
  readonly released: number;
  /** Not the entries that were frozen any more; listed with the reason. */
  readonly skipped: number;
}

/** Moves the next items of a lane, at most `most`. The caller holds the batch's lock. */
export async function releaseItems(
  client: Queryable,
  batchId: string,
  destinationId: string,
  most: number,
  onlyCanary: boolean,
): Promise<Released> {
  const { rows } = await client.query<Released>({
    name: "sluice-replay-release",
    text: RELEASE,
    values: [batchId, destinationId, most, onlyCanary],
  });
  return rows[0] ?? { released: 0, skipped: 0 };
}

const DEAD_COLUMNS = `id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class,
  created_at, first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle,
  replay_batch_id, first_attempt_at, first_failure_at, last_failure_at, last_outcome, last_status, last_detail, will_not_replay_at,
  will_not_replay_reason, version, died_at`;

const RECALL = `
  WITH wanted AS MATERIALIZED (
    SELECT i.delivery_id, i.former, i.attempts_before FROM sluice.replay_item i
     WHERE i.batch_id = $1 AND i.state = 'released' AND ($2::uuid IS NULL OR i.destination_id = $2) LIMIT ${MAX_MOVED}),
  found AS MATERIALIZED (
    SELECT d.ctid AS row_id, w.former, w.attempts_before
      FROM wanted w JOIN sluice.delivery d ON d.id = w.delivery_id
     WHERE d.state <> 'leased' AND d.replay_batch_id = $1 ORDER BY d.id FOR UPDATE OF d SKIP LOCKED),
  gone AS (
    DELETE FROM sluice.delivery d USING found f WHERE d.ctid = f.row_id AND d.state <> 'leased'
    RETURNING d.*, f.former, d.attempts > f.attempts_before AS tried),
  back AS (
    -- Never sent: the dead letter that it was, to the last column.
    INSERT INTO sluice.dead_letter (${DEAD_COLUMNS})
    SELECT ${DEAD_COLUMNS.split(",")
      .map((column) => `o.${column.trim()}`)
      .join(", ")}
      FROM gone g CROSS JOIN LATERAL jsonb_populate_record(NULL::sluice.dead_letter, g.former) o WHERE NOT g.tried
    RETURNING id),
  tried AS (
    -- It may have been sent: its cycle ends here, and its item with it (trigger).
    INSERT INTO sluice.dead_letter
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle, replay_batch_id,
       first_attempt_at, first_failure_at, last_failure_at, last_outcome, last_status, last_detail)
    SELECT g.id, g.region, g.tenant_id, g.destination_id, g.payload_id, g.payload_bytes, g.event_type, g.idempotency_key, g.traceparent,
           g.service_class, g.created_at, g.first_due_at, g.due_at, 'attempts_exhausted', g.former->>'fingerprint', g.attempts, g.failures,
           g.rejections, g.throttles, g.throttled_ms, g.lost_leases, g.cycle, $1, g.first_attempt_at, g.first_failure_at, clock_timestamp(),
           g.last_outcome, g.last_status, 'the replay batch ended before its next attempt'
      FROM gone g WHERE g.tried
    RETURNING id),
  items AS (
    UPDATE sluice.replay_item i
       SET state = $3, recalls = i.recalls + 1, released_at = NULL, attempts_before = NULL, former = NULL,
           ended_at = CASE WHEN $3 = 'recalled' THEN clock_timestamp() END
      FROM back b WHERE i.batch_id = $1 AND i.delivery_id = b.id
    RETURNING 1)
  SELECT (SELECT count(*) FROM items)::integer AS recalled, (SELECT count(*) FROM tried)::integer AS "deadAgain"`;

export interface Recalled {
  readonly recalled: number;
  readonly deadAgain: number;
}

/**
 * Takes back what is released and not leased: unsent rows are the dead letters that they were, and those with an attempt of
 * this cycle are dead letters of this cycle. What is in flight ends by itself.
 * @param destinationId one lane, or null for all
 * @param to frozen: may be released again after a resume. recalled: for good.
 */
export async function recallItems(
  client: Queryable,
  batchId: string,
  destinationId: string | null,
  to: "frozen" | "recalled",
): Promise<Recalled> {
  const { rows } = await client.query<Recalled>({
    name: "sluice-replay-recall",
    text: RECALL,
    values: [batchId, destinationId, to],
  });
  return rows[0] ?? { recalled: 0, deadAgain: 0 };
}

/** Ends items that were never released: they stay dead letters, untouched, and free for another batch. */
export async function closeFrozen(
  client: Queryable,
  batchId: string,
  destinationId: string | null,
  why: string,
): Promise<number> {
  const { rowCount } = await client.query(
    `UPDATE sluice.replay_item SET state = 'not_released', skip_reason = left($3, 200), ended_at = clock_timestamp()
      WHERE batch_id = $1 AND state = 'frozen' AND ($2::uuid IS NULL OR destination_id = $2)`,
    [batchId, destinationId, why],
  );
  return rowCount ?? 0;
}
