/** What the scenario `replay` must know of its batch and its dead letters. Reads only. */
import type { Pool } from "pg";

export interface BatchNow {
  readonly state: string;
  readonly version: number;
  readonly cause: string | null;
  readonly delivered: number;
  readonly ended: number;
  readonly items: number;
}

/** @throws Error when there is no such batch */
export async function readBatch(pool: Pool, id: string): Promise<BatchNow> {
  const { rows } = await pool.query<BatchNow>(
    `SELECT b.state, b.version, coalesce(b.pause_cause, b.stop_cause) AS cause, count(*)::integer AS items,
            count(*) FILTER (WHERE i.state = 'delivered')::integer AS delivered,
            count(*) FILTER (WHERE i.state NOT IN ('frozen', 'released'))::integer AS ended
       FROM sluice.replay_batch b JOIN sluice.replay_item i ON i.batch_id = b.id WHERE b.id = $1 GROUP BY b.id`,
    [id],
  );
  if (rows[0] === undefined) throw new Error(`no batch ${id}`);
  return rows[0];
}

/** How many of these deliveries are dead letters now. */
export async function countDead(pool: Pool, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.dead_letter WHERE id = ANY ($1::uuid[])",
    [ids],
  );
  return rows[0]?.n ?? 0;
}
