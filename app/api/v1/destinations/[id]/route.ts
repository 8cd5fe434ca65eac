/** GET /api/v1/destinations/{id}?region=: one destination. PATCH: name, URL, header, policy. DELETE: takes it away. */

import { readDestination } from "#db/console/read-destination.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { command } from "../../../command.ts";
import { DELETE_DESTINATION, UPDATE_DESTINATION } from "../../../configure-routes.ts";
import { regionQuery } from "../../../tenants-schemas.ts";

export const dynamic = "force-dynamic";
export const { OPTIONS, POST, PUT } = allowOnly("DELETE", "GET", "PATCH");

type Context = { params: Promise<{ id: string }> };

export function GET(request: Request, context: Context): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readDestination(scope, parseQuery(regionQuery, request).region, (await context.params).id),
  );
}

export function PATCH(request: Request, context: Context): Promise<Response> {
  return command(request, context, UPDATE_DESTINATION);
}

export function DELETE(request: Request, context: Context): Promise<Response> {
  return command(request, context, DELETE_DESTINATION);
}
