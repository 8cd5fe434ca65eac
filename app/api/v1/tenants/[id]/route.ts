/** GET /api/v1/tenants/{id}?region=: one tenant with its numbers. PATCH: what it is called. */

import { readTenant } from "#db/console/read-tenant.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { command } from "../../../command.ts";
import { UPDATE_TENANT } from "../../../configure-routes.ts";
import { regionQuery } from "../../../tenants-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, POST, PUT } = allowOnly("GET", "PATCH");

type Context = { params: Promise<{ id: string }> };

export function GET(request: Request, context: Context): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readTenant(scope, parseQuery(regionQuery, request).region, (await context.params).id),
  );
}

export function PATCH(request: Request, context: Context): Promise<Response> {
  return command(request, context, UPDATE_TENANT);
}
