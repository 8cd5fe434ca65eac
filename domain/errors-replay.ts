/** The part of the error catalogue that is about replay batches. errors.ts joins the parts; its rules hold here too. */
import type { ErrorEntry } from "./errors.ts";

export const REPLAY_ERRORS = {
  bad_selection: {
    status: 400,
    title: "Selection names nothing",
    summary:
      "A batch needs a cause, ids, or a filter with at least a tenant, a destination or a reason. Nothing was selected.",
  },
  bad_plan: {
    status: 422,
    title: "Plan cannot be followed",
    summary: "The window of the plan ends before it begins, or has no batch to run in it.",
  },
  replay_overlap: {
    status: 409,
    title: "Entries are in another batch",
    summary:
      "Some of the entries are in another open batch. The answer names them; take them out or end the other batch.",
  },
  replay_not_ready: {
    status: 409,
    title: "Batch is not ready",
    summary: "Something that must be there first is missing: inspected samples, evidence, or entries.",
  },
  replay_same_cause: {
    status: 409,
    title: "A follow-up needs a new cause",
    summary:
      "The batch takes what is dead again of another one. It must name a root cause, and not the one that was named before.",
  },
  replay_red: {
    status: 409,
    title: "A stop condition is red",
    summary:
      "A stop condition is breached, or its readings are too old. The batch cannot start or go on until it is green.",
  },
} as const satisfies Record<string, ErrorEntry>;
