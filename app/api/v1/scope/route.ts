/** GET /api/v1/scope: names of one region's tenants and destinations, for filters. */

import { listScope } from "#db/console/list-scope.ts";
import { answer, parseQuery } from "../../answer.ts";
import { scopeQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listScope(scope, parseQuery(scopeQuery, request).region),
  );
}
