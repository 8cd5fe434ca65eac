/** GET /api/v1/audit/actions: the actions that stand in one region's audit, for the filter. */

import { listAuditActions } from "#db/console/list-audit.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { oneOfRegionQuery } from "../../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listAuditActions(scope, parseQuery(oneOfRegionQuery, request).region),
  );
}
