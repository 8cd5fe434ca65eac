/**
 * Gives back the rows of a claim whose answer was lost on its way to this process: nothing of them was sent, and they
 * need not wait for their leases or lose one of their three. It must never reach what another claim has leased.
 */
import type { Queryable } from "./types.ts";

/**
 * @param token of the claim that failed; it may have leased rows all the same, or none
 * @returns how many rows were given back
 * @throws a Postgres error 55P03 when another claim held the lock for a second; nothing was given back then.
 */
export async function releaseUnanswered(pool: Queryable, token: string): Promise<number> {
  const result = await pool.query<{ released: number }>({
    name: "sluice-release-unanswered",
    text: "SELECT sluice.release_unanswered($1) AS released",
    values: [token],
  });
  return result.rows[0]?.released ?? 0;
}
