/** The tenants and destinations of a region by name, for the filters of the lists. Bounded; no numbers, no secrets. */
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type DestinationName, hostOf, type TenantName } from "./names.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** Destinations offered in a filter; others can still be asked for by id. */
export const MAX_SCOPE_DESTINATIONS = 1_000;

export interface Scope {
  tenants: (TenantName & { destinations: DestinationName[] })[];
  truncated: boolean;
}

/** Sorted by tenant, then by destination. @throws SluiceError `not_found` for a region outside the scope. */
export async function listScope(access: AccessScope, region: Region): Promise<RegionAnswer<Scope>> {
  const tenantIds = tenantsIn(access, region);
  return readRegion(region, async (sql) => {
    const rows = await sql<ScopeRow>(SCOPE, [MAX_SCOPE_DESTINATIONS + 1, tenantIds]);
    const tenants = new Map<string, Scope["tenants"][number]>();
    for (const row of rows.slice(0, MAX_SCOPE_DESTINATIONS)) {
      const id = toPublicId("ten", row.tenant_id);
      const tenant = tenants.get(id) ?? { id, slug: row.slug, name: row.tenant_name, destinations: [] };
      tenant.destinations.push({ id: toPublicId("dst", row.id), name: row.name, host: hostOf(row.url) });
      tenants.set(id, tenant);
    }
    return { tenants: [...tenants.values()], truncated: rows.length > MAX_SCOPE_DESTINATIONS };
  });
}

const SCOPE = `
  SELECT x.id, x.name, x.url, x.tenant_id, t.slug, t.name AS tenant_name
    FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id
   WHERE x.deleted_at IS NULL AND t.deleted_at IS NULL AND ($2::uuid[] IS NULL OR t.id = ANY ($2))
   ORDER BY t.name, t.id, x.name, x.id LIMIT $1`;

interface ScopeRow {
  id: string;
  name: string;
  url: string;
  tenant_id: string;
  slug: string;
  tenant_name: string;
}
