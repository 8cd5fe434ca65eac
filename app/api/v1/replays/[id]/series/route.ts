/** GET /api/v1/replays/{id}/series: the curves of a batch, at most 240 points. */

import { readReplaySeries } from "#db/console/replay/read-replay-series.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { found } from "../../../../replay-found.ts";
import { replayQuery } from "../../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { region } = parseQuery(replayQuery, request);
    return found(await readReplaySeries(scope, region, (await params).id));
  });
}
