/** What a scenario is and what it hands back, and the few ways to write a goal down. It must never know a scenario by name. */
import type { BenchOptions } from "../config.ts";

/** One number of the table beside its goal. */
export interface Goal {
  /** What was measured, with its unit. */
  readonly what: string;
  readonly measured: number | null;
  /** Null: printed beside the others, without a goal of its own. */
  readonly goal: { readonly atLeast: number } | { readonly atMost: number } | null;
  /** Why there is no number; null when there is one. */
  readonly skipped: string | null;
}

export interface ScenarioResult {
  readonly goals: readonly Goal[];
  /** Everything else that was seen: printed with --json only. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface Scenario {
  readonly name: string;
  /** One line: what runs. */
  readonly title: string;
  /** Sizes of this scenario where they differ from the general ones. */
  readonly defaults: Partial<BenchOptions>;
  /** @throws Error with one line when it cannot run, or when the receiver saw a delivery lost or doubled */
  run(options: BenchOptions): Promise<ScenarioResult>;
}

export function atLeast(what: string, measured: number, limit: number): Goal {
  return { what, measured, goal: { atLeast: limit }, skipped: null };
}

export function atMost(what: string, measured: number, limit: number): Goal {
  return { what, measured, goal: { atMost: limit }, skipped: null };
}

/** A number to compare with. */
export function beside(what: string, measured: number): Goal {
  return { what, measured, goal: null, skipped: null };
}

/** A goal that was not measured, and why. */
export function skipped(goal: Goal["goal"], what: string, why: string): Goal {
  return { what, measured: null, goal, skipped: why };
}
