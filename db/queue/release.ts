/** Gives rows back with their token: it says that nothing of them was sent, so they take their former state. */
import type { Queryable } from "./types.ts";

/** Returns how many of the rows were still leased under this token. */
export async function release(pool: Queryable, ids: readonly string[], token: string): Promise<number> {
  const result = await pool.query<{ released: number }>({
    name: "sluice-release",
    text: "SELECT sluice.release($1::uuid[], $2::uuid) AS released",
    values: [ids, token],
  });
  return result.rows[0]?.released ?? 0;
}
