/** GET /api/v1/destinations: one page of a region's destinations. POST: a new one; its secret is in that answer alone. */

import { readConfigureSettings } from "#db/console/commands/configure.ts";
import { createDestination } from "#db/console/commands/create-destination.ts";
import { listDestinations } from "#db/console/list-destinations.ts";
import { answer, parseQuery } from "../../answer.ts";
import { create } from "../../create-command.ts";
import { destinationsQuery } from "../../tenants-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listDestinations(scope, parseQuery(destinationsQuery, request)),
  );
}

export function POST(request: Request): Promise<Response> {
  return create(request, {
    action: "configure",
    audit: "destination.create",
    kind: "destination",
    path: "/api/v1/destinations",
    inTenant: true,
    run: async (context, input) => ({
      ...(await createDestination({ ...context, ...readConfigureSettings() }, input)),
    }),
  });
}
