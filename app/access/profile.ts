/** What a signed-in person or a token is told about itself. Ids of tenants stay out; their number is enough. */
import "server-only";
import type { SignedIn } from "#components/shell/signed-in.tsx";
import { ACTIONS, regionsOf, scopeOf } from "#domain/permissions.ts";
import type { Principal } from "./principal.ts";

export function profileOf({ name, email, grants }: Principal): SignedIn {
  return {
    name,
    email,
    roles: grants.map(({ role, regions, tenantIds }) => ({
      role,
      regions: [...regions],
      tenants: tenantIds === null ? null : tenantIds.length,
    })),
    regions: regionsOf(scopeOf(grants, "read")),
    actions: ACTIONS.filter((action) => Object.keys(scopeOf(grants, action)).length > 0),
  };
}
