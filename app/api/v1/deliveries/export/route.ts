/** GET /api/v1/deliveries/export: the list of deliveries as a file, with the same filters, or the named ones alone. */

import { allowOnly } from "../../../allow-only.ts";
import { parseQuery } from "../../../answer.ts";
import { deliveryPages } from "../../../deliveries-export.ts";
import { deliveriesExportQuery } from "../../../deliveries-schemas.ts";
import { DELIVERY_COLUMNS } from "../../../delivery-columns.ts";
import { exportRows } from "../../../export.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return exportRows(request, {
    action: "export",
    fileName: () => `deliveries-${parseQuery(deliveriesExportQuery, request).region}`,
    columns: DELIVERY_COLUMNS,
    pages: ({ scope }) => deliveryPages(scope, parseQuery(deliveriesExportQuery, request)),
  });
}
