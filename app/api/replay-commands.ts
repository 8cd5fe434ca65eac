/**
 * The commands about a replay batch: what must be permitted, how the audit names it, and the function that does it. A batch
 * of several tenants is a matter of the region: only a grant for all of it covers one.
 */
import "server-only";
import { annotateReplay, inspectReplay, planReplay, removeReplayItems } from "#db/console/replay/draft.ts";
import { submitReplay } from "#db/console/replay/freeze.ts";
import {
  approveReplay,
  breakGlass,
  cancelReplay,
  rejectReplay,
  requestChanges,
} from "#db/console/replay/review.ts";
import {
  continueReplay,
  pauseReplay,
  resumeReplay,
  setReplayRate,
  startReplay,
  stopReplay,
} from "#db/console/replay/run.ts";
import type { Action } from "#domain/permissions.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";
import type { CommandRoute } from "./command.ts";

const batch = (action: Action, verb: string, run: CommandRoute["run"]): CommandRoute => ({
  action,
  audit: `replay.${verb}`,
  run,
  kind: "replay_batch",
  idField: "batchId",
  versioned: true,
});

/** By the verb in the path. */
export const REPLAY_COMMANDS = {
  inspect: batch("replay_draft", "inspect", inspectReplay),
  annotate: batch("replay_draft", "annotate", annotateReplay),
  plan: batch("replay_draft", "plan", planReplay),
  remove: batch("replay_draft", "remove", removeReplayItems),
  submit: batch("replay_draft", "submit", submitReplay),
  "request-changes": batch("replay_draft", "request_changes", requestChanges),
  cancel: batch("replay_draft", "cancel", cancelReplay),
  approve: batch("replay_approve", "approve", approveReplay),
  reject: batch("replay_approve", "reject", rejectReplay),
  "break-glass": batch("break_glass", "break_glass", breakGlass),
  start: batch("replay_start", "start", startReplay),
  continue: batch("replay_start", "continue", continueReplay),
  resume: batch("replay_start", "resume", resumeReplay),
  // Never refused for an old version: the runner may have taken a step meanwhile.
  pause: batch("replay_stop", "pause", pauseReplay),
  stop: batch("replay_stop", "stop", stopReplay),
  // Raising needs an administrator, which the command checks.
  rate: batch("replay_lower_rate", "rate", setReplayRate),
} as const satisfies Record<ReplayVerb, CommandRoute>;

export type { ReplayVerb };

export function isReplayVerb(text: string): text is ReplayVerb {
  return Object.hasOwn(REPLAY_COMMANDS, text);
}
