/** GET /api/v1/audit: one page of one region's audit. There is no way to change it. */

import { listAudit } from "#db/console/list-audit.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { auditQuery } from "../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => listAudit(scope, parseQuery(auditQuery, request)));
}
