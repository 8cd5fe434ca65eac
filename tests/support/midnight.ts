/** For tests that name today's partitions: a day that changes in the middle of one would be another day to its second half. */
import { setTimeout as delay } from "node:timers/promises";

const DAY_MS = 86_400_000;
/** Longer than a slow machine needs for one of those tests. */
const BEFORE_MS = 90_000;
/** The database's clock and ours may differ by a moment. */
const AFTER_MS = 2_000;

/** Waits for midnight (UTC) to be over when it is near. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < BEFORE_MS) await delay(leftMs + AFTER_MS);
}
