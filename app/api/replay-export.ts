/**
 * A batch's report as a file: as lines for a spreadsheet, or as the API's own answer. A region that does not answer is a problem, never an empty file.
 */
import "server-only";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { readReplayReport } from "#db/console/replay/read-replay-report.ts";
import type { ReplayReport } from "#db/console/replay/replay-views.ts";
import { SluiceError } from "#domain/errors.ts";
import type { AccessScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { admit, guarded, parseQuery } from "./answer.ts";
import { type ReportLine, reportLines } from "./replay-columns.ts";
import { found } from "./replay-found.ts";
import { replayReportExportQuery } from "./replay-schemas.ts";

/** The report is one page of lines. @throws SluiceError `region_unavailable`, `not_found`, `bad_id` */
export async function* reportPages(
  scope: AccessScope,
  region: Region,
  id: string,
): AsyncGenerator<ReportLine[]> {
  yield reportLines((await reportOf(scope, region, id)).data);
}

export function wantsJson(request: Request): boolean {
  return new URL(request.url).searchParams.get("format") === "json";
}

/** The report as it is, indented for people. */
export function reportJson(request: Request, id: string): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { scope } = await admit(request, "export", correlationId);
    const { region } = parseQuery(replayReportExportQuery, request);
    const answer = await reportOf(scope, region, id);
    return new Response(JSON.stringify(answer, null, 2), {
      headers: {
        "content-type": "application/json; charset=utf-8",
        "content-disposition": `attachment; filename="replay-report-${answer.data.id}.json"`,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": correlationId,
      },
    });
  });
}

async function reportOf(
  scope: AccessScope,
  region: Region,
  id: string,
): Promise<RegionAnswer<ReplayReport> & { status: "ok" }> {
  const answer = found(await readReplayReport(scope, region, id));
  if (answer.status !== "ok") throw new SluiceError("region_unavailable", answer.detail, { region });
  return answer;
}
