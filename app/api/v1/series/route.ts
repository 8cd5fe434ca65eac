/** GET /api/v1/series: ages, outcomes and dead letters of a region, tenant or destination over a range, with gaps. */
import { readSeries } from "#db/console/read-series.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { seriesQuery } from "../../series-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    const { region, range, tenant, destination } = parseQuery(seriesQuery, request);
    return readSeries(scope, region, range, { tenant, destination });
  });
}
