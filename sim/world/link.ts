/**
 * The way between a process and the store: every statement takes effect at one instant, some time after it was sent,
 * and its answer arrives some time later, or never. A statement on its way takes effect also when its process is dead.
 */
import type { QueueStore } from "#db/queue/store.ts";
import type { SeededRandom } from "#sim/random.ts";
import type { Owner, Scheduler } from "#sim/scheduler.ts";
import type { SyncStore } from "#sim/store/memory-store.ts";
import type { Weather } from "./weather.ts";

const MS = 1_000;
const QUICK_US = { low: 100, high: 3 * MS };
/** When the driver gives up on an answer. */
const TIMEOUT_US = { low: 50 * MS, high: 500 * MS };

export interface Link {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly owner: Owner;
  readonly weather: () => Weather;
  /** While the database is away, what arrives is refused and what is on its way back is lost. */
  readonly isAway: () => boolean;
}

type Call = () => unknown;

/** A QueueStore as one process sees it. */
export function linkedStore(store: SyncStore, link: Link): QueueStore {
  const names = Object.keys(store) as (keyof SyncStore)[];
  const methods = names.map((name) => {
    const run = store[name] as (...given: unknown[]) => unknown;
    return [name, (...given: unknown[]) => ask(link, () => run(...given))];
  });
  return Object.fromEntries(methods) as QueueStore;
}

function ask(link: Link, run: Call): Promise<unknown> {
  const { scheduler, random, owner } = link;
  const weather = link.weather();
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const waitUs = random.int(TIMEOUT_US.low, TIMEOUT_US.high);
      scheduler.after(waitUs, owner, () => reject(connectionError(why)));
    };
    if (random.chance(weather.requestLost)) {
      fail("the statement was lost");
      return;
    }
    if (random.chance(weather.duplicated)) {
      scheduler.after(delay(link, weather) + delay(link, weather), null, () => void attempt(link, run));
    }
    scheduler.after(delay(link, weather), null, () => {
      const outcome = attempt(link, run);
      if (outcome.kind === "away" || link.isAway() || random.chance(weather.replyLost)) {
        fail("the connection broke");
        return;
      }
      scheduler.after(delay(link, weather), owner, () => {
        if (outcome.kind === "answer") resolve(outcome.value);
        else reject(outcome.error);
      });
    });
  });
}

type Answer =
  | { readonly kind: "answer"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "away" };

function attempt(link: Link, run: Call): Answer {
  if (link.isAway()) return { kind: "away" };
  try {
    return { kind: "answer", value: run() };
  } catch (error) {
    return { kind: "error", error };
  }
}

function delay({ random }: Link, weather: Weather): number {
  if (random.chance(weather.slow)) return random.int(QUICK_US.high, Math.max(QUICK_US.high, weather.slowUs));
  return random.skewed(QUICK_US.low, QUICK_US.high);
}

function connectionError(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}
