/**
 * Keeps the last answer of a read that is dear, so that many open tabs cost one scan and nobody waits for it. An answer
 * carries its own `asOf`, so a kept one says how old it is; one that is older than the limit is never given out. Who asks says
 * which answers are dear; the others are read anew each time, so that a small region's answer is always of this moment.
 */
import { singleFlight } from "./single-flight.ts";

export interface SnapshotRules {
  /** The part of the time that reads of one question may take: with 0.1, one of 300 ms begins every 3 s at most. */
  readonly duty: number;
  /** Oldest answer that is given out, counted from the begin of its read. */
  readonly maxAgeMs: number;
}

export const SNAPSHOT_RULES: SnapshotRules = { duty: 0.1, maxAgeMs: 8_000 };
/** Questions that are remembered; the one asked least lately goes first. */
const MAX_QUESTIONS = 100;

interface Kept {
  readonly value: unknown;
  readonly begunMs: number;
  readonly tookMs: number;
}

/** Next loads modules more than once per process, so the answers live on globalThis. */
const shared = globalThis as typeof globalThis & { sluiceSnapshots?: Map<string, Kept> };

/**
 * The answer to a question: the kept one while a new one is read, or a new one.
 * @param key names the question completely, its scope included
 * @param worthKeeping false for what must not be given out again: an outage, or what costs little
 * @param nowMs a clock that never goes back
 */
export async function snapshot<T>(
  key: string,
  read: () => Promise<T>,
  worthKeeping: (value: T) => boolean,
  nowMs: () => number,
  rules: SnapshotRules = SNAPSHOT_RULES,
): Promise<T> {
  shared.sluiceSnapshots ??= new Map();
  const kept = shared.sluiceSnapshots.get(key);
  const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : nowMs() - kept.begunMs;
  if (kept === undefined || ageMs > rules.maxAgeMs) {
    return readAndKeep(shared.sluiceSnapshots, key, read, worthKeeping, nowMs);
  }
  if (ageMs * rules.duty >= kept.tookMs) {
    // Whoever asks next hears of a failure: what failed is not kept.
    readAndKeep(shared.sluiceSnapshots, key, read, worthKeeping, nowMs).catch(() => undefined);
  }
  return kept.value as T;
}

function readAndKeep<T>(
  all: Map<string, Kept>,
  key: string,
  read: () => Promise<T>,
  worthKeeping: (value: T) => boolean,
  nowMs: () => number,
): Promise<T> {
  return singleFlight(key, async () => {
    const begunMs = nowMs();
    const value = await read().catch((error: unknown) => {
      all.delete(key);
      throw error;
    });
    all.delete(key);
    if (worthKeeping(value)) all.set(key, { value, begunMs, tookMs: nowMs() - begunMs });
    while (all.size > MAX_QUESTIONS) all.delete(all.keys().next().value ?? key);
    return value;
  });
}
