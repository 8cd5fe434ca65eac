/** GET /api/v1/overview: the numbers of every region in scope, or of those in `region=us,eu`. */

import { readOverview } from "#db/console/read-overview.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { overviewQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readOverview(scope, parseQuery(overviewQuery, request).region),
  );
}
