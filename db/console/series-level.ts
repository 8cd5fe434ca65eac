/**
 * Whose numbers a series shows: a region's (or of the tenants of it that the asker may see), a tenant's, a destination's.
 * Who asks for more than their scope covers must get the same answer as for what does not exist.
 */
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";
import type { Reader } from "./read-region.ts";

export type SeriesLevel =
  | { readonly kind: "region"; readonly tenantIds: TenantScope }
  | { readonly kind: "tenant"; readonly tenantId: string }
  | { readonly kind: "destination"; readonly tenantId: string; readonly destinationId: string };

export interface SeriesTarget {
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...` */
  destination?: string | undefined;
}

const TENANT_ID_SHAPE = /^ten_[0-9a-f]{32}$/;

/**
 * Finds what is asked for.
 * @throws SluiceError `not_found` for what does not exist, is outside the scope, or is not the named tenant's.
 */
export async function findLevel(sql: Reader, target: SeriesTarget, scope: TenantScope): Promise<SeriesLevel> {
  if (target.destination !== undefined) {
    const destinationId = fromPublicId("dst", target.destination);
    const [row] = await sql<{ tenant_id: string; slug: string }>(
      `SELECT x.tenant_id, t.slug FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id WHERE x.id = $1`,
      [destinationId],
    );
    const named = row && [undefined, row.slug, toPublicId("ten", row.tenant_id)].includes(target.tenant);
    if (!row || !named || !mayRead(scope, row.tenant_id)) throw notFound("destination");
    return { kind: "destination", tenantId: row.tenant_id, destinationId };
  }
  if (target.tenant === undefined) return { kind: "region", tenantIds: scope };
  const byId = TENANT_ID_SHAPE.test(target.tenant);
  const [row] = await sql<{ id: string }>(
    "SELECT t.id FROM sluice.tenant t WHERE t.id = $1::uuid OR t.slug = $2",
    [byId ? fromPublicId("ten", target.tenant) : null, byId ? null : target.tenant],
  );
  if (!row || !mayRead(scope, row.id)) throw notFound("tenant");
  return { kind: "tenant", tenantId: row.id };
}

function mayRead(scope: TenantScope, tenantId: string): boolean {
  return scope === null || scope.includes(tenantId);
}

function notFound(kind: string): SluiceError {
  return new SluiceError("not_found", `There is no such ${kind} in your scope.`);
}

/** The tenants whose rows belong to the level; null for all of the region. */
export function tenantsOfLevel(level: SeriesLevel): TenantScope {
  return level.kind === "region" ? level.tenantIds : [level.tenantId];
}
