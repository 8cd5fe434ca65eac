/**
 * What people outside of the console are told of replays: rows that a trigger writes in the transaction of the event, taken
 * here one after the other by whoever sends them. At least once, never out of a transaction that did not commit, and an old
 * notice is not sent late: after a day nobody is helped by it.
 */
import type { Queryable } from "./types.ts";

const MAX_NOTICES = 20;
const MAX_ATTEMPTS = 30;
const MAX_AGE_HOURS = 24;
/** Until the next attempt: 15 s, 30 s, ... 15 min. It is also how long a sender that died keeps others waiting. */
const FIRST_WAIT_S = 15;
const MOST_WAIT_S = 900;

export interface ReplayNotice {
  /** UUID, the same in every attempt. */
  readonly event_id: string;
  readonly kind: "review_requested" | "break_glass" | "auto_paused" | "ended";
  readonly at: Date;
  readonly region: string;
  readonly batch_id: string;
  readonly name: string;
  readonly state: string;
  readonly requested_by: string;
  readonly actor: string;
  readonly detail: string | null;
}

const TAKE = `
  WITH due AS MATERIALIZED (
    SELECT n.event_id FROM sluice.replay_notice n
     WHERE n.sent_at IS NULL AND n.next_at <= clock_timestamp() AND n.attempts < ${MAX_ATTEMPTS}
       AND n.at > clock_timestamp() - ${MAX_AGE_HOURS} * interval '1 hour'
     ORDER BY n.next_at LIMIT $1 FOR UPDATE SKIP LOCKED),
  taken AS (
    UPDATE sluice.replay_notice n
       SET attempts = n.attempts + 1,
           next_at = clock_timestamp() + least(${MOST_WAIT_S}, ${FIRST_WAIT_S} * 2 ^ least(n.attempts, 10)) * interval '1 second'
      FROM due d WHERE n.event_id = d.event_id RETURNING n.event_id, n.batch_id, n.kind, n.at, n.region)
  SELECT t.event_id, t.kind, t.at, t.region, t.batch_id, b.name, b.state, b.requested_by, e.actor, e.detail
    FROM taken t JOIN sluice.replay_batch b ON b.id = t.batch_id JOIN sluice.replay_event e ON e.id = t.event_id
   ORDER BY t.at, t.event_id`;

/** Takes what is due. Nobody else gets it until its wait is over. */
export async function takeReplayNotices(pool: Queryable): Promise<ReplayNotice[]> {
  const { rows } = await pool.query<ReplayNotice>({
    name: "sluice-replay-notices",
    text: TAKE,
    values: [MAX_NOTICES],
  });
  return rows;
}

/** @param error null: it was taken */
export async function endReplayNotice(pool: Queryable, eventId: string, error: string | null): Promise<void> {
  await pool.query(
    `UPDATE sluice.replay_notice SET sent_at = CASE WHEN $2::text IS NULL THEN clock_timestamp() END, last_error = left($2::text, 300)
      WHERE event_id = $1 AND sent_at IS NULL`,
    [eventId, error],
  );
}
