/** What every queue of a comparison can do. Types and job making only; it must not prefer one of them. */
import { randomBytes } from "node:crypto";
import { uuidV7 } from "#domain/ids.ts";
import type { BenchJob, SendContext } from "./send.ts";

export interface Contender {
  readonly name: string;
  /** The settings in force, for the report. */
  settings(): Readonly<Record<string, unknown>>;
  /** Empties it, makes its worker ready and puts `count` deliveries in place; none of them may start yet. */
  prepare(count: number): Promise<void>;
  /** Starts, and waits until every delivery is recorded as done. Milliseconds. */
  drain(count: number): Promise<number>;
  /** Stops its worker, so that it costs the others nothing. */
  rest(): Promise<void>;
  /** Forgets what it has and ends its connections. */
  close(): Promise<void>;
}

/** A contender whose settings can be tried out. */
export interface Tunable<Settings> extends Contender {
  use(settings: Settings): void;
}

/** Most of a run: one that takes longer has no number. */
export const MAX_RUN_MS = 180_000;
export const FILL_CHUNK = 1_000;

/** Jobs round robin over the destinations, `count` of them, in pieces of FILL_CHUNK. */
export function* jobChunks(context: SendContext, count: number): Generator<BenchJob[]> {
  const body = context.body.toString("utf8");
  for (let from = 0; from < count; from += FILL_CHUNK) {
    const nowMs = Date.now();
    yield Array.from({ length: Math.min(FILL_CHUNK, count - from) }, (_, index) => ({
      id: uuidV7(nowMs, randomBytes),
      n: ((from + index) % context.destinations) + 1,
      body,
    }));
  }
}

/** One unmeasured run, in milliseconds. */
export async function oneRun(contender: Contender, deliveries: number): Promise<number> {
  await contender.prepare(deliveries);
  try {
    return await contender.drain(deliveries);
  } finally {
    await contender.rest();
  }
}

/** Tries each setting on a short drain and leaves the fastest in force. */
export async function tune<Settings>(
  contender: Tunable<Settings>,
  candidates: readonly Settings[],
  deliveries: number,
): Promise<void> {
  let best: { settings: Settings; perSecond: number } | null = null;
  for (const settings of candidates) {
    contender.use(settings);
    const perSecond = (deliveries / (await oneRun(contender, deliveries))) * 1_000;
    if (best === null || perSecond > best.perSecond) best = { settings, perSecond };
  }
  if (best !== null) contender.use(best.settings);
}
