/** The new versions of a region's policies: what must be permitted, and the functions that write them. */
import "server-only";
import { setObjectives } from "#db/console/commands/set-objectives.ts";
import { setRetryPolicy } from "#db/console/commands/set-retry-policy.ts";
import { setReplayPolicy } from "#db/console/replay/set-replay-policy.ts";
import { type CommandRoute, command } from "./command.ts";

const policy = (audit: string, run: CommandRoute["run"]): CommandRoute => ({
  action: "policies",
  audit,
  kind: "region",
  idField: null,
  versioned: true,
  fromBuiltIn: true,
  run,
});

export const POLICY_COMMANDS = {
  objectives: policy("policy.objectives", setObjectives),
  retry: policy("policy.retry", setRetryPolicy),
  replay: policy("replay.policy", setReplayPolicy),
} as const satisfies Record<string, CommandRoute>;

/** Answers POST /api/v1/policies/{which}?region= and /api/v1/replays/policy?region=: the region is the row, but it stands in the query. */
export function writePolicy(request: Request, route: CommandRoute): Promise<Response> {
  const region = new URL(request.url).searchParams.get("region")?.toLowerCase() ?? "";
  return command(request, { params: Promise.resolve({ id: region }) }, route);
}
