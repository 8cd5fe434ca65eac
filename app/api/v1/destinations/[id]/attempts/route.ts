/** GET /api/v1/destinations/{id}/attempts?region=: the newest attempts at one destination. */

import { readDestinationAttempts } from "#db/console/read-destination-attempts.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { regionQuery } from "../../../../tenants-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readDestinationAttempts(scope, parseQuery(regionQuery, request).region, (await context.params).id),
  );
}
