/** GET /api/v1/replays/{id}: one batch with its conditions, lanes, events, samples, and what the caller may do with it. */

import { readReplay } from "#db/console/replay/read-replay.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { found } from "../../../replay-found.ts";
import { replayQuery } from "../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) => {
    const { region } = parseQuery(replayQuery, request);
    return found(await readReplay(scope, region, (await params).id, principal));
  });
}
