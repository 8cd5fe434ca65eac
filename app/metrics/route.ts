/** GET /metrics: what the overview knows of each region in scope, for a monitoring system. It needs the action read. */

import { answerMetrics } from "../api/metrics.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answerMetrics(request);
}
