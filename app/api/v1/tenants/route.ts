/** GET /api/v1/tenants: one page of tenants over the regions in scope. POST: a new one. */

import { listTenants } from "#db/console/list-tenants.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { CREATE_TENANT } from "../../configure-routes.ts";
import { create } from "../../create-command.ts";
import { tenantsQuery } from "../../tenants-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => listTenants(scope, parseQuery(tenantsQuery, request)));
}

export function POST(request: Request): Promise<Response> {
  return create(request, CREATE_TENANT);
}
