/** GET /api/v1/dead-letter-groups/export: the causes as a file, with the same filters. */

import { listDeadLetterGroups, MAX_EXPORT_PAGE_CAUSES } from "#db/console/list-dead-letter-groups.ts";
import { allowOnly } from "../../../allow-only.ts";
import { parseQuery } from "../../../answer.ts";
import { GROUP_COLUMNS } from "../../../dead-letters-columns.ts";
import { deadLetterGroupsExportQuery } from "../../../dead-letters-schemas.ts";
import { exportRows, pagesOf } from "../../../export.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return exportRows(request, {
    action: "export",
    fileName: () => `dead-letter-causes-${parseQuery(deadLetterGroupsExportQuery, request).region}`,
    columns: GROUP_COLUMNS,
    pages: ({ scope }) => {
      const { format: _, ...filter } = parseQuery(deadLetterGroupsExportQuery, request);
      return pagesOf((cursor) =>
        listDeadLetterGroups(scope, { ...filter, cursor, limit: MAX_EXPORT_PAGE_CAUSES }),
      );
    },
  });
}
