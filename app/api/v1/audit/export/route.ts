/** GET /api/v1/audit/export: the audit as a file, with the same filters. */

import { listAudit } from "#db/console/list-audit.ts";
import { allowOnly } from "../../../allow-only.ts";
import { parseQuery } from "../../../answer.ts";
import { AUDIT_COLUMNS } from "../../../dead-letters-columns.ts";
import { auditExportQuery } from "../../../dead-letters-schemas.ts";
import { EXPORT_PAGE_ROWS, exportRows, pagesOf } from "../../../export.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return exportRows(request, {
    action: "export",
    fileName: () => `audit-${parseQuery(auditExportQuery, request).region}`,
    columns: AUDIT_COLUMNS,
    pages: ({ scope }) => {
      const { format: _, ...filter } = parseQuery(auditExportQuery, request);
      return pagesOf((cursor) => listAudit(scope, { ...filter, cursor, limit: EXPORT_PAGE_ROWS }));
    },
  });
}
