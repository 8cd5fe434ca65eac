/**
 * The commands about a cause of dead letters: what must be permitted, how the audit names it, and the function that does
 * it. A cause of several tenants is a matter of the region: only a grant for all of it covers one.
 */
import "server-only";
import { markGroup } from "#db/console/dead-letter-groups-mark.ts";
import { type GroupVerb, triageGroup } from "#db/console/dead-letter-groups-triage.ts";
import type { CommandRoute } from "./command.ts";

const triage = (verb: GroupVerb): CommandRoute => ({
  action: "dead_letter_triage",
  audit: `dead_letter_group.${verb}`,
  run: (context, input) => triageGroup(context, verb, input),
  kind: "dead_letter_group",
  idField: "groupId",
  versioned: true,
});

export const GROUP_COMMANDS = {
  acknowledge: triage("acknowledge"),
  assign: triage("assign"),
  note: triage("note"),
  resolve: triage("resolve"),
  reopen: triage("reopen"),
  willNotReplay: {
    ...triage("note"),
    action: "will_not_replay",
    audit: "dead_letter_group.will_not_replay",
    run: markGroup,
  },
} as const satisfies Record<string, CommandRoute>;
