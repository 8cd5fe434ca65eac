/**
 * A write that Postgres refuses because the row's day has no partition and there is no DEFAULT one either: no fault of
 * the row. The partitions are made and the write is run once more; else every outcome of that day would be lost until
 * retention comes along, and what was delivered would be sent again. It must never hide any other error.
 */
import type { Queryable } from "./types.ts";

const CHECK_VIOLATION = "23514";
/** The server's function that looks for a row's partition. */
const FIND_PARTITION = "ExecFindPartition";

/** Runs `write`; at most once more, after the partitions that are missing have been made. */
export async function withPartitions<T>(pool: Queryable, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isMissingPartition(error)) throw error;
    await pool.query("SELECT count(*) FROM sluice.ensure_partitions()");
    return await write();
  }
}

function isMissingPartition(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown };
  return code === CHECK_VIOLATION && routine === FIND_PARTITION;
}
