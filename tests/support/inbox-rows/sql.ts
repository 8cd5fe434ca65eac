/** What a test reads of the receiving side: its keys, and every effect, counted without the help of the keys. */
import type { Pool } from "pg";

export interface InboxRows {
  readonly keys: number;
  /** Keys without a result: there must never be one. */
  readonly unfinished: number;
  readonly followUps: number;
  readonly enrichments: number;
  /** Keys whose activity stands there more than once. */
  readonly doubled: number;
  readonly documents: number;
  /** Writes of all documents. */
  readonly writes: number;
}

/** Counts of the whole database. */
export async function readInboxRows(pool: Pool): Promise<InboxRows> {
  const { rows } = await pool.query<InboxRows>(
    `SELECT (SELECT count(*)::integer FROM sluice.demo_inbound_key) AS keys,
            (SELECT count(*)::integer FROM sluice.demo_inbound_key WHERE result IS NULL) AS unfinished,
            (SELECT count(*)::integer FROM sluice.demo_inbound_activity WHERE kind = 'follow_up') AS "followUps",
            (SELECT count(*)::integer FROM sluice.demo_inbound_activity WHERE kind = 'enrichment') AS enrichments,
            (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.demo_inbound_activity
                                             GROUP BY endpoint_id, idempotency_key HAVING count(*) > 1) x) AS doubled,
            (SELECT count(*)::integer FROM sluice.demo_inbound_document) AS documents,
            (SELECT coalesce(sum(writes), 0)::integer FROM sluice.demo_inbound_document) AS writes`,
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error("the counts have no row");
  return counts;
}

/** Empties the receiving side. */
export async function clearInbox(pool: Pool): Promise<void> {
  await pool.query(
    "TRUNCATE sluice.demo_inbound_key, sluice.demo_inbound_activity, sluice.demo_inbound_document",
  );
}
