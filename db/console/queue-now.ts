/**
 * Where the sums over a region's live rows come from: of a large region, from what the newest sampling of its workers has
 * summed up; of any other, from the rows themselves. An answer that is made of kept sums is of their moment, which is its
 * `asOf`: nothing in it may be older than that, and none is ever older than the limit.
 */
import type { Reader } from "./read-region.ts";

/** Oldest sums that are used. A sampling comes every 5 s and takes its time; without one the rows are summed up here. */
export const KEPT_LIMIT_MS = 8_000;

/** The moment of the newest kept sums; null: there are none, or they are too old. Whole milliseconds. */
export async function keptMoment(sql: Reader, asOf: Date): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }>(
    "SELECT max(q.at) AS at FROM sluice.queue_now q WHERE q.at <= $1 AND q.at > $1::timestamptz - $2::integer * interval '1 millisecond'",
    [asOf, KEPT_LIMIT_MS],
  );
  return row?.at ?? null;
}

/**
 * The sums as rows, by tenant, class and what holds them at least. Both forms have the columns of `sluice.queue_age`, but for the
 * destination.
 * @param moment placeholder of the moment: the kept one, or that of the answer
 * @param tenants placeholder of the tenants as `uuid[]`; null there means all of them
 */
export function queueRows(kept: boolean, moment: string, tenants: string): string {
  return kept
    ? `sluice.queue_now q WHERE q.at = ${moment}::timestamptz AND (${tenants}::uuid[] IS NULL OR q.tenant_id = ANY (${tenants}))`
    : `sluice.queue_age(${moment}, ${tenants}::uuid[]) q`;
}
