/** Turns results into what is printed: a row of the table, a line of JSON. Pure. */
import type { Goal, ScenarioResult } from "./scenario.ts";

export interface PrintedRow {
  readonly scenario: string;
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: string;
}

/** True or false; null when there is no number or no goal. NaN is never met. */
export function isMet({ measured, goal }: Goal): boolean | null {
  if (measured === null || goal === null) return null;
  return "atLeast" in goal ? measured >= goal.atLeast : measured <= goal.atMost;
}

export function goalText(goal: Goal["goal"]): string {
  if (goal === null) return "-";
  return "atLeast" in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
}

export function printedRows(scenario: string, result: ScenarioResult): PrintedRow[] {
  return result.goals.map((goal) => ({
    scenario,
    what: goal.what,
    goal: goalText(goal.goal),
    measured: goal.measured === null ? `skipped: ${goal.skipped ?? "no number"}` : String(goal.measured),
    met: { true: "yes", false: "NO", null: "-" }[String(isMet(goal))] ?? "-",
  }));
}

/** One JSON object for a scenario: its goals with `met`, then all facts side by side. */
export function jsonRow(scenario: string, result: ScenarioResult, at: string): Record<string, unknown> {
  const met = result.goals.filter(({ goal }) => goal !== null).map(isMet);
  return {
    scenario,
    at,
    // Null: nothing was missed, but something has no number.
    met: met.includes(false) ? false : met.includes(null) ? null : true,
    goals: result.goals.map((goal) => ({
      what: goal.what,
      goal: goalText(goal.goal),
      measured: goal.measured,
      met: isMet(goal),
      ...(goal.skipped === null ? {} : { skipped: goal.skipped }),
    })),
    ...result.facts,
  };
}
