/** GET /api/v1/scope: names of one region's tenants and destinations, for filters. */

import { listScope } from "#db/console/list-scope.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { scopeQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listScope(scope, parseQuery(scopeQuery, request).region),
  );
}
