/** GET /api/v1/series: ages, outcomes and dead letters of a region, tenant or destination over a range, with gaps. */
import { readSeries } from "#db/console/read-series.ts";
import { answer, parseQuery } from "../../answer.ts";
import { seriesQuery } from "../../series-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { region, range, tenant, destination } = parseQuery(seriesQuery, request);
    return readSeries(scope, region, range, { tenant, destination });
  });
}
