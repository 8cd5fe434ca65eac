/** GET /api/v1/dead-letters/export: the list of dead letters as a file, with the same filters. */

import { listDeadLetters } from "#db/console/list-dead-letters.ts";
import { allowOnly } from "../../../allow-only.ts";
import { parseQuery } from "../../../answer.ts";
import { DEAD_LETTER_COLUMNS } from "../../../dead-letters-columns.ts";
import { deadLettersExportQuery } from "../../../dead-letters-schemas.ts";
import { EXPORT_PAGE_ROWS, exportRows, pagesOf } from "../../../export.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return exportRows(request, {
    action: "export",
    fileName: () => `dead-letters-${parseQuery(deadLettersExportQuery, request).region}`,
    columns: DEAD_LETTER_COLUMNS,
    pages: ({ scope }) => {
      const { format: _, ...filter } = parseQuery(deadLettersExportQuery, request);
      return pagesOf((cursor) => listDeadLetters(scope, { ...filter, cursor, limit: EXPORT_PAGE_ROWS }));
    },
  });
}
