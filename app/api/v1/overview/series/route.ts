/** GET /api/v1/overview/series: both ages of one region over a range, with gaps. */

import { readAgeSeries } from "#db/console/read-age-series.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { seriesQuery } from "../../../schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { region, range } = parseQuery(seriesQuery, request);
    return readAgeSeries(scope, region, range);
  });
}
