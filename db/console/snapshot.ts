/**
 * Keeps the last answer of a read that is dear, so that many open tabs cost one scan and nobody waits for it. An answer
 * carries its own `asOf`, so a kept one says how old it is; one that is older than the limit is never given out. Who asks says
 * which answers are dear; the others are read anew each time, so that a small region's answer is always of this moment.
 *
 * A question may also be kept warm: for some time after somebody asked, it is read anew by itself, so that who comes back to
 * a page does not wait either. Only few questions are, and never one that would take a large part of the time.
 */
import { singleFlight } from "./single-flight.ts";

export interface SnapshotRules {
  /** The part of the time that reads of one question may take: with 0.1, one of 300 ms begins every 3 s at most. */
  readonly duty: number;
  /** Oldest answer that is given out, counted from the begin of its read. */
  readonly maxAgeMs: number;
  /** How long after the last question an answer is still read anew by itself; 0: only when somebody asks. */
  readonly warmMs: number;
}

export const SNAPSHOT_RULES: SnapshotRules = { duty: 0.1, maxAgeMs: 8_000, warmMs: 0 };
/** For what everybody sees first. */
export const WARM_RULES: SnapshotRules = { ...SNAPSHOT_RULES, warmMs: 300_000 };
/** Least time between the begins of two reads of one question that nobody waits for: what costs next to nothing is not read all the time. */
const LEAST_PACE_MS = 1_000;
/** Questions that are remembered; the one asked least lately goes first. */
const MAX_QUESTIONS = 100;
/** Questions that are kept warm at one time. */
const MAX_WARM = 4;
/** The part of the time that keeping one question warm may take: on a machine that is slow for a while it is more than the duty. */
const MAX_WARM_DUTY = 0.25;

interface Kept {
  readonly value: unknown;
  /** What it says is of this moment; the read began then or later. */
  readonly bornMs: number;
  readonly begunMs: number;
  readonly tookMs: number;
}

/** Next loads modules more than once per process, so the answers live on globalThis. */
const shared = globalThis as typeof globalThis & {
  sluiceSnapshots?: Map<string, Kept>;
  sluiceWarm?: Map<string, Warm>;
};

/** A question that is kept warm. */
interface Warm {
  askedMs: number;
}

/**
 * The answer to a question: the kept one while a new one is read, or a new one.
 * @param key names the question completely, its scope included
 * @param read gets the answer that is kept, so that one that would be the same need not be made again
 * @param worthKeeping false for what must not be given out again: an outage, or what costs little
 * @param nowMs a clock that never goes back
 * @param ageMsOf how old an answer was when its read began
 */
export async function snapshot<T>(
  key: string,
  read: (before: T | undefined) => Promise<T>,
  worthKeeping: (value: T) => boolean,
  nowMs: () => number,
  rules: SnapshotRules = SNAPSHOT_RULES,
  ageMsOf: (value: T) => number = () => 0,
): Promise<T> {
  shared.sluiceSnapshots ??= new Map();
  const readAgain = () =>
    readAndKeep(shared.sluiceSnapshots ?? new Map(), key, read, { worthKeeping, ageMsOf }, nowMs);
  const answer = await keptOrRead(key, readAgain, nowMs, rules);
  if (rules.warmMs > 0) keepWarm(key, readAgain, nowMs, rules);
  return answer as T;
}

async function keptOrRead(
  key: string,
  readAgain: () => Promise<unknown>,
  nowMs: () => number,
  rules: SnapshotRules,
): Promise<unknown> {
  const kept = shared.sluiceSnapshots?.get(key);
  if (kept === undefined || nowMs() - kept.bornMs > rules.maxAgeMs) return readAgain();
  // Whoever asks next hears of a failure: what failed is not kept.
  const paceMs = Math.max(kept.tookMs / rules.duty, LEAST_PACE_MS);
  if (nowMs() - kept.begunMs >= paceMs) readAgain().catch(() => undefined);
  return kept.value;
}

/** Notes that somebody asked. From the first time on the answer is read anew by itself, while the rules allow it. */
function keepWarm(
  key: string,
  readAgain: () => Promise<unknown>,
  nowMs: () => number,
  rules: SnapshotRules,
): void {
  shared.sluiceWarm ??= new Map();
  const all = shared.sluiceWarm;
  const known = all.get(key);
  if (known !== undefined) {
    known.askedMs = nowMs();
    return;
  }
  if (all.size >= MAX_WARM) return;
  const warm = { askedMs: nowMs() };
  all.set(key, warm);
  const goOn = () => {
    const kept = shared.sluiceSnapshots?.get(key);
    const tookMs = kept?.tookMs ?? 0;
    // Before the answer is too old, with room for a read that takes longer than the last one.
    const everyMs = Math.min(tookMs / rules.duty, rules.maxAgeMs - 1.5 * tookMs);
    // Not dear any more; or so dear that keeping it warm would be all that the region does; or nobody looks.
    const ends =
      kept === undefined || tookMs > everyMs * MAX_WARM_DUTY || nowMs() - warm.askedMs > rules.warmMs;
    if (ends) {
      all.delete(key);
      return;
    }
    const waitMs = kept.begunMs + Math.max(everyMs, LEAST_PACE_MS) - nowMs();
    // Somebody's question may have read it meanwhile.
    if (waitMs > 0) setTimeout(goOn, waitMs).unref();
    else readAgain().then(goOn, () => all.delete(key));
  };
  goOn();
}

function readAndKeep<T>(
  all: Map<string, Kept>,
  key: string,
  read: (before: T | undefined) => Promise<T>,
  {
    worthKeeping,
    ageMsOf,
  }: { readonly worthKeeping: (value: T) => boolean; readonly ageMsOf: (value: T) => number },
  nowMs: () => number,
): Promise<T> {
  return singleFlight(key, async () => {
    const begunMs = nowMs();
    const value = await read(all.get(key)?.value as T | undefined).catch((error: unknown) => {
      all.delete(key);
      throw error;
    });
    all.delete(key);
    if (worthKeeping(value)) {
      all.set(key, { value, bornMs: begunMs - ageMsOf(value), begunMs, tookMs: nowMs() - begunMs });
    }
    while (all.size > MAX_QUESTIONS) all.delete(all.keys().next().value ?? key);
    return value;
  });
}
