/**
 * The edge of GET /metrics: authorised like a read of the API, in the text format of a monitoring system. It counts nothing
 * of its own; the numbers are the overview's, so that a page and an alert never tell two stories.
 */
import "server-only";
import { readOverview } from "#db/console/read-overview.ts";
import { admit, guarded } from "./answer.ts";
import { METRICS_TYPE, metricsText } from "./metrics-text.ts";

/**
 * Regions and tenants of the caller's scope, and nobody else's. A region that does not answer costs only its own numbers.
 * Problems: those of `answer`.
 */
export function answerMetrics(request: Request): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { scope } = await admit(request, "read", correlationId);
    const { regions } = await readOverview(scope);
    return new Response(metricsText(regions), {
      headers: {
        "content-type": METRICS_TYPE,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": correlationId,
      },
    });
  });
}
