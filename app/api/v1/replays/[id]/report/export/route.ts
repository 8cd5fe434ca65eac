/** GET /api/v1/replays/{id}/report/export: what came of a batch as a file, CSV or JSON. */

import { allowOnly } from "../../../../../allow-only.ts";
import { parseQuery } from "../../../../../answer.ts";
import { exportRows } from "../../../../../export.ts";
import { REPORT_COLUMNS } from "../../../../../replay-columns.ts";
import { reportJson, reportPages, wantsJson } from "../../../../../replay-export.ts";
import { replayReportExportQuery } from "../../../../../replay-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

interface Context {
  params: Promise<{ id: string }>;
}

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { id } = await params;
  if (wantsJson(request)) return reportJson(request, id);
  return exportRows(request, {
    action: "export",
    fileName: `replay-report-${id}`,
    columns: REPORT_COLUMNS,
    pages: ({ scope }) => reportPages(scope, parseQuery(replayReportExportQuery, request).region, id),
  });
}
