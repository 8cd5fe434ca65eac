/** Readiness: at least one region's database answers, and says that it is that region's. */
import { readReadiness } from "#db/console/read-readiness.ts";

export const dynamic = "force-dynamic";

export async function GET(): Promise<Response> {
  const readiness = await readReadiness();
  return Response.json(readiness, {
    status: readiness.ready ? 200 : 503,
    headers: { "cache-control": "no-store" },
  });
}
