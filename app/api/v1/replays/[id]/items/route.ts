/** GET /api/v1/replays/{id}/items: the items of a batch, page by page. */

import { listReplayItems } from "#db/console/replay/list-replay-items.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { found } from "../../../../replay-found.ts";
import { replayItemsQuery } from "../../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const query = parseQuery(replayItemsQuery, request);
    return found(await listReplayItems(scope, { ...query, batchId: (await params).id }));
  });
}
