/** /api/v1/replays: GET lists a region's replay batches, POST drafts one from a selection. */

import { listReplays } from "#db/console/replay/list-replays.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { draft } from "../../replay-draft.ts";
import { replaysQuery } from "../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) =>
    listReplays(scope, parseQuery(replaysQuery, request), principal),
  );
}

export function POST(request: Request): Promise<Response> {
  return draft(request);
}
