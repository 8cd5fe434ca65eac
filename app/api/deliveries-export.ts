/**
 * The rows of a file of deliveries: everything that a filter matches, or exactly those that are named by id. A named one that
 * is not there is refused before the first byte: a file must never be shorter than what was asked for in silence.
 */
import "server-only";
import type { z } from "zod";
import { type DeliveryRow, listDeliveries } from "#db/console/list-deliveries.ts";
import { SluiceError } from "#domain/errors.ts";
import type { AccessScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { deliveriesExportQuery } from "./deliveries-schemas.ts";
import { EXPORT_PAGE_ROWS, pagesOf } from "./export.ts";

/** @throws SluiceError `region_unavailable`; `not_found` when a named delivery is not in the scope */
export function deliveryPages(
  scope: AccessScope,
  { format: _format, ids, ...filter }: z.output<typeof deliveriesExportQuery>,
): AsyncIterable<readonly DeliveryRow[]> {
  if (ids !== undefined) return namedRows(scope, filter.region, ids);
  return pagesOf((cursor) =>
    listDeliveries(scope, { ...filter, cursor, limit: EXPORT_PAGE_ROWS }, { counted: false }),
  );
}

/** Each is looked up by its id, as the list does it; there are few (MAX_NAMED_DELIVERIES). */
async function* namedRows(
  scope: AccessScope,
  region: Region,
  ids: readonly string[],
): AsyncGenerator<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (const id of ids) {
    const found = pagesOf(() => listDeliveries(scope, { region, q: id, limit: 1 }, { counted: false }));
    for await (const page of found) rows.push(...page);
  }
  const missing = ids.length - rows.length;
  if (missing > 0) {
    throw new SluiceError("not_found", `${missing} of the ${ids.length} deliveries are not in your scope.`);
  }
  yield rows;
}
