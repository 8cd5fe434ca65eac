/** GET /api/v1/destinations/{id}?region=: one destination. PATCH: name, URL, header, policy. DELETE: takes it away. */

import { readRulesSettings } from "#db/console/commands/configure.ts";
import { deleteDestination } from "#db/console/commands/delete-destination.ts";
import { updateDestination } from "#db/console/commands/update-destination.ts";
import { readDestination } from "#db/console/read-destination.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { type CommandRoute, command } from "../../../command.ts";
import { regionQuery } from "../../../tenants-schemas.ts";

export const dynamic = "force-dynamic";

type Context = { params: Promise<{ id: string }> };
const ROUTE = {
  action: "configure",
  kind: "destination",
  idField: "destinationId",
  versioned: true,
} as const;
const UPDATE: CommandRoute = {
  ...ROUTE,
  audit: "destination.update",
  run: async (by, input) => ({ ...(await updateDestination({ ...by, ...readRulesSettings() }, input)) }),
};
const DELETE_ROUTE: CommandRoute = {
  ...ROUTE,
  audit: "destination.delete",
  run: async (by, input) => ({ ...(await deleteDestination(by, input)) }),
};

export function GET(request: Request, context: Context): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readDestination(scope, parseQuery(regionQuery, request).region, (await context.params).id),
  );
}
export function PATCH(request: Request, context: Context): Promise<Response> {
  return command(request, context, UPDATE);
}
export function DELETE(request: Request, context: Context): Promise<Response> {
  return command(request, context, DELETE_ROUTE);
}
