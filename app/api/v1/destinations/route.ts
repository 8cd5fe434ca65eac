/** GET /api/v1/destinations: one page of a region's destinations. POST: a new one; its secret is in that answer alone. */

import { listDestinations } from "#db/console/list-destinations.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { CREATE_DESTINATION } from "../../configure-routes.ts";
import { create } from "../../create-command.ts";
import { destinationsQuery } from "../../tenants-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listDestinations(scope, parseQuery(destinationsQuery, request)),
  );
}

export function POST(request: Request): Promise<Response> {
  return create(request, CREATE_DESTINATION);
}
