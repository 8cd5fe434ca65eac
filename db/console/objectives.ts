/**
 * What "late" means in a region, as its database says it, and how long workers and samples may be silent. Every number
 * that a page compares with stands in the answer of the API too, so that a screen never has a threshold of its own.
 */
import {
  type ObjectiveNumbers,
  readObjectiveNumbers,
  type Thresholds,
  thresholdsOf,
} from "#domain/objectives.ts";
import type { Reader } from "./read-region.ts";

/** A worker that was not heard of for this long does not count as running. */
export const HEARTBEAT_LIMIT_MS = 10_000;

/** Samples are taken every 5 s; a series without one for this long has no data. */
export const SAMPLE_LIMIT_MS = 20_000;

const NEWEST = "SELECT p.body FROM sluice.objective_policy p ORDER BY p.version DESC LIMIT 1";

/** The numbers in force; the built-in ones where nobody has written any. */
export async function readNumbers(sql: Reader): Promise<ObjectiveNumbers> {
  const [newest] = await sql<{ body: unknown }>(NEWEST);
  return readObjectiveNumbers(newest?.body);
}

/** The same, in the shape of the answers. Read in the snapshot of what is compared with them. */
export async function readThresholds(sql: Reader): Promise<Thresholds> {
  return thresholdsOf(await readNumbers(sql));
}
