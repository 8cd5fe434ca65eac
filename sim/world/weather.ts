/** How bad a run is: chances and sizes of each fault, drawn once from the seed. When the faults stop, it is calm. */
import type { SeededRandom } from "#sim/random.ts";

const MS = 1_000;

export interface Weather {
  /** A statement that never arrives, one whose answer is lost after it took effect, one that takes effect twice. */
  readonly requestLost: number;
  readonly replyLost: number;
  readonly duplicated: number;
  /** Longest way of a request or reply to the store, and how often it takes that long. */
  readonly slow: number;
  readonly slowUs: number;
  /** A process that has just claimed, or just sent, is killed or stopped for a while. */
  readonly killed: number;
  readonly frozen: number;
  readonly hintLost: number;
  readonly jobLost: number;
  /** Receivers answer as their profile says; otherwise they accept. */
  readonly receiversFail: boolean;
  /** How late a timer may fire. */
  readonly timerLateUs: number;
}

export const CALM: Weather = {
  requestLost: 0,
  replyLost: 0,
  duplicated: 0,
  slow: 0,
  slowUs: 0,
  killed: 0,
  frozen: 0,
  hintLost: 0,
  jobLost: 0,
  receiversFail: false,
  timerLateUs: MS,
};

/** A third of all runs have a good connection, so that what needs many steps in a row is seen too. */
export function drawWeather(random: SeededRandom): Weather {
  const bad = random.chance(0.67);
  const rate = (most: number) => (bad && random.chance(0.5) ? random.next() * most : 0);
  return {
    requestLost: rate(0.06),
    replyLost: rate(0.08),
    duplicated: rate(0.06),
    slow: rate(0.2),
    slowUs: random.pick([20, 100, 800]) * MS,
    killed: random.pick([0, 0.02, 0.1]),
    frozen: random.pick([0, 0.02, 0.1]),
    hintLost: random.pick([0, 0.5, 1]),
    jobLost: random.pick([0, 0.3, 1]),
    receiversFail: random.chance(0.9),
    timerLateUs: random.pick([1, 5, 50]) * MS,
  };
}
