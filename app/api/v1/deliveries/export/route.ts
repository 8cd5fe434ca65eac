/** GET /api/v1/deliveries/export: the list of deliveries as a file, with the same filters. */

import { listDeliveries } from "#db/console/list-deliveries.ts";
import { parseQuery } from "../../../answer.ts";
import { deliveriesExportQuery } from "../../../deliveries-schemas.ts";
import { DELIVERY_COLUMNS } from "../../../delivery-columns.ts";
import { EXPORT_PAGE_ROWS, exportRows, pagesOf } from "../../../export.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return exportRows(request, {
    action: "export",
    fileName: () => `deliveries-${parseQuery(deliveriesExportQuery, request).region}`,
    columns: DELIVERY_COLUMNS,
    pages: ({ scope }) => {
      const { format: _, ...filter } = parseQuery(deliveriesExportQuery, request);
      return pagesOf((cursor) =>
        listDeliveries(scope, { ...filter, cursor, limit: EXPORT_PAGE_ROWS }, { counted: false }),
      );
    },
  });
}
