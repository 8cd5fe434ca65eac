/** GET /api/v1/regions/{region}/drain: the leases of a region, counted behind a barrier: the proof that it is drained. */

import { allowOnly } from "../../../../allow-only.ts";
import { answer } from "../../../../answer.ts";
import { readDrain, readRegionName } from "../../../../command.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "region_claims", async (caller) =>
    readDrain(caller, readRegionName(request, (await context.params).id)),
  );
}
