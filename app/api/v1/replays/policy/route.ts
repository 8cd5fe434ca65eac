/** /api/v1/replays/policy: GET the limits and thresholds of replays in force, POST their next version. */

import { readReplayPolicyView } from "#db/console/replay/set-replay-policy.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { changePolicy } from "../../../replay-policy.ts";
import { replayQuery } from "../../../replay-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readReplayPolicyView(scope, parseQuery(replayQuery, request).region),
  );
}

export function POST(request: Request): Promise<Response> {
  return changePolicy(request, { action: "policies" });
}
