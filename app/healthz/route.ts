/** Liveness: this process answers. It asks no database, so that a region's outage never restarts the console. */
export const dynamic = "force-dynamic";

export function GET(): Response {
  return Response.json({ status: "ok" }, { headers: { "cache-control": "no-store" } });
}
