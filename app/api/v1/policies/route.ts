/** GET /api/v1/policies: retry policies and objectives in force, with their version and who wrote them. */

import { listPolicies } from "#db/console/list-policies.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { policiesQuery } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listPolicies(scope, parseQuery(policiesQuery, request).region),
  );
}
