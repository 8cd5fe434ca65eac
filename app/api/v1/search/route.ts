/** GET /api/v1/search: tenants, destinations and deliveries by name, host, id or key. */

import { search } from "#db/console/search.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { searchQuery } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { q, region } = parseQuery(searchQuery, request);
    return search(scope, q, region);
  });
}
