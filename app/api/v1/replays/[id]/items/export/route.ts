/** GET /api/v1/replays/{id}/items/export: the entries of a batch as a file, with the same filters. */

import { listReplayItems } from "#db/console/replay/list-replay-items.ts";
import { allowOnly } from "../../../../../allow-only.ts";
import { parseQuery } from "../../../../../answer.ts";
import { EXPORT_PAGE_ROWS, exportRows, pagesOf } from "../../../../../export.ts";
import { REPLAY_ITEM_COLUMNS } from "../../../../../replay-columns.ts";
import { found } from "../../../../../replay-found.ts";
import { replayItemsExportQuery } from "../../../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

interface Context {
  params: Promise<{ id: string }>;
}

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { id } = await params;
  return exportRows(request, {
    action: "export",
    fileName: `replay-items-${id}`,
    columns: REPLAY_ITEM_COLUMNS,
    pages: ({ scope }) => {
      const { format: _, ...filter } = parseQuery(replayItemsExportQuery, request);
      return pagesOf(async (cursor) =>
        found(await listReplayItems(scope, { ...filter, batchId: id, cursor, limit: EXPORT_PAGE_ROWS })),
      );
    },
  });
}
