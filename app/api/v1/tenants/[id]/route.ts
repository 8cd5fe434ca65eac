/** GET /api/v1/tenants/{id}?region=: one tenant with its numbers. PATCH: what it is called. */

import { updateTenant } from "#db/console/commands/update-tenant.ts";
import { readTenant } from "#db/console/read-tenant.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { command } from "../../../command.ts";
import { regionQuery } from "../../../tenants-schemas.ts";

export const dynamic = "force-dynamic";

interface Context {
  params: Promise<{ id: string }>;
}

export function GET(request: Request, context: Context): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readTenant(scope, parseQuery(regionQuery, request).region, (await context.params).id),
  );
}

export function PATCH(request: Request, context: Context): Promise<Response> {
  return command(request, context, {
    action: "configure",
    kind: "tenant",
    audit: "tenant.update",
    idField: "tenantId",
    versioned: true,
    run: async (by, input) => ({ ...(await updateTenant(by, input)) }),
  });
}
