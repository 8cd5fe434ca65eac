/** What counts as late in a region as rows of a table and as a form. Pure. */
import type { ObjectivesInForce } from "#db/console/list-policies.ts";
import {
  loosenedObjectives,
  OBJECTIVE_BOUNDS,
  type ObjectiveName,
  type ObjectiveNumbers,
  readObjectiveNumbers,
  refuseObjectives,
  TARGETS_MS,
} from "#domain/objectives.ts";
import {
  changedNumbers,
  changesByVersion,
  differences,
  hasProblem,
  type NumberSpec,
  type NumberSpecs,
  type NumberUnit,
  type Typed,
  valueWords,
} from "./policy-numbers.ts";

const spec = (label: string, name: ObjectiveName, unit: NumberUnit = "s"): NumberSpec => ({
  label,
  unit,
  ...OBJECTIVE_BOUNDS[name],
});
const target = (label: string, name: ObjectiveName): NumberSpec => ({
  ...spec(label, name),
  choices: TARGETS_MS,
});

export const OBJECTIVE_FIELDS: NumberSpecs<ObjectiveName> = {
  urgentTargetMs: target("Urgent first attempt, target", "urgentTargetMs"),
  urgentWarnMs: spec("Urgent first attempt, warns at", "urgentWarnMs"),
  urgentPageMs: spec("Urgent first attempt, pages at", "urgentPageMs"),
  routineTargetMs: target("Routine first attempt, target", "routineTargetMs"),
  routineWarnMs: spec("Routine first attempt, warns at", "routineWarnMs"),
  routinePageMs: spec("Routine first attempt, pages at", "routinePageMs"),
  triedTargetShare: spec("New deliveries tried within their target", "triedTargetShare", "%"),
  dueWarnMs: spec("Due but unclaimed, warns at", "dueWarnMs"),
  duePageMs: spec("Due but unclaimed, pages at", "duePageMs"),
  delayedTargetMs: spec("Delayed attempts behind their due time, at most", "delayedTargetMs"),
  rateLimitedWarnShare: spec("429 answers, noted from", "rateLimitedWarnShare", "%"),
  rateLimitedActShare: spec("429 answers, act from", "rateLimitedActShare", "%"),
  deadLetterWarnMs: spec("Oldest dead letter, warns at", "deadLetterWarnMs"),
};

export const OBJECTIVE_GROUPS: readonly {
  readonly title: string;
  readonly names: readonly ObjectiveName[];
}[] = [
  { title: "Urgent deliveries", names: ["urgentTargetMs", "urgentWarnMs", "urgentPageMs"] },
  { title: "Routine deliveries", names: ["routineTargetMs", "routineWarnMs", "routinePageMs"] },
  { title: "Due work", names: ["dueWarnMs", "duePageMs", "delayedTargetMs", "triedTargetShare"] },
  {
    title: "Answers and dead letters",
    names: ["rateLimitedWarnShare", "rateLimitedActShare", "deadLetterWarnMs"],
  },
];

/** One row per number: in force beside what is built in. */
export function objectiveRows({
  numbers,
  builtIn,
}: Pick<ObjectivesInForce, "numbers" | "builtIn">): { what: string; now: string; builtIn: string }[] {
  return (Object.keys(OBJECTIVE_FIELDS) as ObjectiveName[]).map((name) => {
    const field = OBJECTIVE_FIELDS[name];
    return {
      what: field.label,
      now: valueWords(field, numbers[name]),
      builtIn: valueWords(field, builtIn[name]),
    };
  });
}

/** What is sent, or why nothing can be. */
export function objectiveChanges(
  typed: Typed<ObjectiveName>,
  inForce: ObjectiveNumbers,
): { changes: Partial<ObjectiveNumbers>; problem: string | null; looser: string[] } {
  if (hasProblem(OBJECTIVE_FIELDS, typed)) {
    return { changes: {}, problem: "A number cannot be used: it says why.", looser: [] };
  }
  const changes = changedNumbers(OBJECTIVE_FIELDS, typed, inForce);
  if (Object.keys(changes).length === 0) return { changes, problem: "Nothing is changed yet.", looser: [] };
  const after = { ...inForce, ...changes };
  const refused = refuseObjectives(after);
  const problem = refused === null ? null : `${refused.charAt(0).toUpperCase()}${refused.slice(1)}.`;
  return {
    changes,
    problem,
    looser: loosenedObjectives(inForce, after).map((name) => OBJECTIVE_FIELDS[name].label),
  };
}

export function objectiveHistory({
  history,
  builtIn,
}: Pick<ObjectivesInForce, "history" | "builtIn">): (string[] | null)[] {
  const wholes = history.map(({ body }) => readObjectiveNumbers(body));
  return changesByVersion(history, wholes, builtIn, (before, after) =>
    differences(OBJECTIVE_FIELDS, before, after),
  );
}
