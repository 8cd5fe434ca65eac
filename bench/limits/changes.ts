/**
 * Limits that are changed while work waits: a rate and a concurrency cap, up and down in turns, each as a plain row. What is measured is
 * when the receiver sees the first request that the old limit would not have allowed, and the last that the new one does not.
 */
import type { Bench } from "../lib/context.ts";
import type { DestinationSpec } from "../lib/sql.ts";
import { sleep, untilTrue } from "../lib/wait.ts";
import { arrivalsAbove, beyondRate, offsetsAfter } from "./arrivals.ts";
import { setConcurrency, setRate } from "./sql.ts";

/** One change. Counted from just before its statement is sent, so the commit itself is in it. */
export interface Change {
  readonly kind: "rate raised" | "rate lowered" | "cap raised" | "cap lowered";
  readonly afterMs: number;
}

/** Changes up, and as many down, of each of the two limits. */
const CHANGES = 10;
/** At the slow rate a request leaves each ten seconds: none falls into the rest after a change by itself. */
const SLOW_PER_SECOND = 0.1;
const FAST_PER_SECOND = 50;
const BURST = 1;
const LOW_CAP = 1;
const HIGH_CAP = 8;
/** So long that requests overlap when the cap lets them. */
const CAPPED_SERVICE_MS = 200;
/** How long a raised limit is used before it is lowered. */
const HOLD_MS = 400;
/** Longer than a lowered limit may take to count, and than what was in flight takes to end. */
const REST_MS = 2_500;
/** A change that has not counted by then never will. */
const COUNTS_TIMEOUT_MS = 15_000;
const POLL_MS = 10;
/** Enough for all changes, however late each of them counts. */
const RATE_ROWS = 12_000;
const CAP_ROWS = 6_000;

interface Mark {
  readonly raisedMs: number;
  readonly loweredMs: number;
  readonly endMs: number;
}

export interface LimitChanges {
  readonly specs: readonly DestinationSpec[];
  /** Deliveries that each destination needs. */
  readonly rows: readonly number[];
  /** Makes the changes. What comes back reads what the receiver saw of them, once the workers have stopped. */
  change(destinationIds: readonly string[]): Promise<() => Promise<Change[]>>;
}

/** @param round stands in the destinations' names, since the receiver remembers them */
export function changeLimits(bench: Bench, round: number): LimitChanges {
  const { pool } = bench.database;
  const { client } = bench.receiver;
  const [rated, capped] = [`rate${round}`, `cap${round}`] as const;
  const requests = async (name: string) => (await client.stats(name)).requests;
  return {
    specs: [
      { path: `/ok/${rated}`, ratePerSecond: SLOW_PER_SECOND, rateBurst: BURST },
      { path: `/ok/${capped}?ms=${CAPPED_SERVICE_MS}`, concurrency: LOW_CAP },
    ],
    rows: [RATE_ROWS, CAP_ROWS],
    async change([ratedId = "", cappedId = ""]) {
      const begun = async () => (await requests(rated)) > 0 && (await requests(capped)) > 0;
      await untilTrue(begun, "the first requests", COUNTS_TIMEOUT_MS, POLL_MS);
      const [rateMarks, capMarks] = await Promise.all([
        changeInTurns(async (raised) => {
          const before = await requests(rated);
          await setRate(pool, ratedId, raised ? FAST_PER_SECOND : SLOW_PER_SECOND);
          return async () => (await requests(rated)) > before + BURST;
        }),
        changeInTurns(async (raised) => {
          await setConcurrency(pool, cappedId, raised ? HIGH_CAP : LOW_CAP);
          return async () => (await client.stats(capped)).currentConcurrency > LOW_CAP;
        }),
      ]);
      return async () => {
        const ratedAt = (await client.requests({ destination: rated })).map(({ arrivedAtMs }) => arrivedAtMs);
        const cappedSeen = (await client.requests({ destination: capped })).map((record) => ({
          arrivedAtMs: record.arrivedAtMs,
          answeredAtMs: record.answeredAtMs ?? Number.POSITIVE_INFINITY,
        }));
        const above = arrivalsAbove(cappedSeen, LOW_CAP);
        const beyondSlow = (fromMs: number, toMs: number) =>
          beyondRate(offsetsAfter(ratedAt, fromMs, toMs), SLOW_PER_SECOND, BURST);
        const beyondLow = (fromMs: number, toMs: number) => offsetsAfter(above, fromMs, toMs);
        return [...changesOf("rate", rateMarks, beyondSlow), ...changesOf("cap", capMarks, beyondLow)];
      };
    },
  };
}

/** @param set changes the limit and says how to see, for a raised one, that it counts */
async function changeInTurns(set: (raised: boolean) => Promise<() => Promise<boolean>>): Promise<Mark[]> {
  const marks: Mark[] = [];
  for (let number = 1; number <= CHANGES; number++) {
    const raisedMs = wallMs();
    const counts = await set(true);
    await untilTrue(counts, "a raised limit to count", COUNTS_TIMEOUT_MS, POLL_MS);
    await sleep(HOLD_MS);
    const loweredMs = wallMs();
    await set(false);
    await sleep(REST_MS);
    marks.push({ raisedMs, loweredMs, endMs: wallMs() });
  }
  return marks;
}

/** @param beyond what passed the lower of the two limits, in milliseconds after the first of two moments */
function changesOf(
  what: "rate" | "cap",
  marks: readonly Mark[],
  beyond: (fromMs: number, toMs: number) => readonly number[],
): Change[] {
  return marks.flatMap(({ raisedMs, loweredMs, endMs }) => [
    { kind: `${what} raised` as const, afterMs: beyond(raisedMs, loweredMs)[0] ?? Number.POSITIVE_INFINITY },
    { kind: `${what} lowered` as const, afterMs: beyond(loweredMs, endMs).at(-1) ?? 0 },
  ]);
}

function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
