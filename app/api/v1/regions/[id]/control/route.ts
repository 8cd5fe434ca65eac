/** GET /api/v1/regions/{region}/control: claims, leases and defaults of a region, and what the caller may do. */

import { readRegionControlView } from "#db/console/read-region-control.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer } from "../../../../answer.ts";
import { readRegionName } from "../../../../command.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) =>
    readRegionControlView(scope, principal.grants, readRegionName(request, (await context.params).id)),
  );
}
