/** GET /api/v1/tenants: one page of tenants over the regions in scope. POST: a new one. */

import { createTenant } from "#db/console/commands/create-tenant.ts";
import { listTenants } from "#db/console/list-tenants.ts";
import { answer, parseQuery } from "../../answer.ts";
import { create } from "../../create-command.ts";
import { tenantsQuery } from "../../tenants-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => listTenants(scope, parseQuery(tenantsQuery, request)));
}

export function POST(request: Request): Promise<Response> {
  return create(request, {
    action: "configure",
    audit: "tenant.create",
    kind: "tenant",
    path: "/api/v1/tenants",
    inTenant: false,
    run: async (context, input) => ({ ...(await createTenant(context, input)) }),
  });
}
