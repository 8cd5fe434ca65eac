/** Many seeds one after the other, and what they amount to. A failing seed never stops the others. */
import { addMet, type Met, nothingMet } from "./check/met.ts";
import type { Violation } from "./check/violations.ts";
import { runSeed, type SeedOptions } from "./run-seed.ts";

/** Seeds of `npm test`, and the steps with faults of each. */
export const TEST_SEEDS = 2_000;
export const TEST_STEPS = 500;
/** Failing seeds that are told of. */
const MAX_FAILURES_KEPT = 20;

export interface Failure extends Violation {
  readonly seed: number;
}

export interface Summary {
  readonly seeds: number;
  /** Events handled, the calm after the faults included. */
  readonly steps: number;
  readonly deliveries: number;
  readonly requests: number;
  /** What the runs met: a check that had nothing to look at proves nothing. */
  readonly met: Met;
  /** Seeds in which an invariant broke. */
  readonly violations: number;
  readonly firstFailingSeed?: number;
  /** The first violation of each failing seed. */
  readonly failures: readonly Failure[];
}

/** @param onSeed told after each seed, for a sign of life */
export async function runSeeds(
  from: number,
  count: number,
  options: SeedOptions,
  onSeed: (seed: number) => void = () => undefined,
): Promise<Summary> {
  const met = nothingMet();
  const sums = { steps: 0, deliveries: 0, requests: 0, violations: 0 };
  const failures: Failure[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const result = await runSeed(seed, options);
    sums.steps += result.steps;
    sums.deliveries += result.deliveries;
    sums.requests += result.requests;
    addMet(met, result.met);
    const first = result.violations[0];
    if (first !== undefined) {
      sums.violations += 1;
      if (failures.length < MAX_FAILURES_KEPT) failures.push({ seed, ...first });
    }
    onSeed(seed);
  }
  const firstFailingSeed = failures[0]?.seed;
  return {
    seeds: count,
    ...sums,
    met,
    ...(firstFailingSeed === undefined ? {} : { firstFailingSeed }),
    failures,
  };
}

/** How to look at a failing seed, for whoever reads the report. */
export function explain({ seed, invariant, detail, step }: Failure): string {
  return `seed ${seed}, step ${step}: ${invariant}: ${detail}\n  run it alone: npm run simulate -- --seed ${seed}`;
}
