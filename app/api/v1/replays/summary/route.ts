/** GET /api/v1/replays/summary: how many batches stand in each tab of each region, and how many wait for the caller. */

import { readReplaySummary } from "#db/console/replay/list-replays.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { replaySummaryQuery } from "../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) =>
    readReplaySummary(scope, principal, parseQuery(replaySummaryQuery, request).region),
  );
}
