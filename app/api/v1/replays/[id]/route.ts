/** GET /api/v1/replays/{id}: one batch with its conditions, lanes, events and samples. */

import { readReplay } from "#db/console/replay/read-replay.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { found } from "../../../replay-found.ts";
import { replayQuery } from "../../../replay-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { region } = parseQuery(replayQuery, request);
    return found(await readReplay(scope, region, (await params).id));
  });
}
