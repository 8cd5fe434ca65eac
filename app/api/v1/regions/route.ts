/** GET /api/v1/regions: how every region in scope runs, or those in `region=us,eu`. */

import { readRegions } from "#db/console/read-regions.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { regionsQuery } from "../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readRegions(scope, parseQuery(regionsQuery, request).region),
  );
}
