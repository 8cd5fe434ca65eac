/** /api/v1/replays/policy: GET the limits and thresholds of replays in force, POST their next version. */

import { readReplayPolicyView } from "#db/console/replay/set-replay-policy.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { POLICY_COMMANDS, writePolicy } from "../../../policies.ts";
import { replayQuery } from "../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readReplayPolicyView(scope, parseQuery(replayQuery, request).region),
  );
}

export function POST(request: Request): Promise<Response> {
  return writePolicy(request, POLICY_COMMANDS.replay);
}
