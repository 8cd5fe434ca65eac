/**
 * Finds tenants, destinations and deliveries by what people have at hand: a name, a slug, a host, an id, an idempotency
 * key. Bounded, and only within the scope; it never looks into bodies or URLs' paths.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, regionsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type DestinationName, escapeLike, HOST_TEXT, hostOf, type TenantName } from "./names.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** Hits of each kind and region. */
export const MAX_SEARCH_HITS = 6;

export interface SearchHits {
  tenants: TenantName[];
  destinations: (DestinationName & { tenantName: string })[];
  /** By their idempotency key, which stands for one delivery at each destination. */
  deliveries: { id: string; destinationName: string }[];
}

export interface SearchAnswer {
  regions: RegionAnswer<SearchHits>[];
}

/**
 * Asks the given regions, or all in scope.
 * @param text at least two characters
 * @throws SluiceError `not_found` for a region outside the scope
 */
export async function search(
  access: AccessScope,
  text: string,
  regions?: readonly Region[],
): Promise<SearchAnswer> {
  const asked = regions ?? regionsOf(access);
  for (const region of asked) tenantsIn(access, region);
  return { regions: await Promise.all(asked.map((region) => searchRegion(access, text, region))) };
}

function searchRegion(access: AccessScope, text: string, region: Region): Promise<RegionAnswer<SearchHits>> {
  const tenantIds = tenantsIn(access, region);
  const needle = text.toLowerCase();
  const terms = [`%${escapeLike(needle)}%`, `${escapeLike(needle)}%`];
  return readRegion(region, async (sql) => {
    const tenants = await sql<TenantRow>(TENANTS, [
      tenantIds,
      ...terms,
      uuidOf("ten", text),
      MAX_SEARCH_HITS,
    ]);
    const destinations = await sql<DestinationRow>(DESTINATIONS, [
      tenantIds,
      ...terms,
      uuidOf("dst", text),
      MAX_SEARCH_HITS,
    ]);
    const deliveries = await sql<DeliveryRow>(DELIVERIES, [tenantIds, text, MAX_SEARCH_HITS]);
    return {
      tenants: tenants.map(({ id, slug, name }) => ({ id: toPublicId("ten", id), slug, name })),
      destinations: destinations.map(({ id, name, url, tenant_name }) => ({
        id: toPublicId("dst", id),
        name,
        host: hostOf(url),
        tenantName: tenant_name,
      })),
      deliveries: deliveries.map(({ id, destination_name }) => ({
        id: toPublicId("dlv", id),
        destinationName: destination_name,
      })),
    };
  });
}

interface TenantRow {
  id: string;
  slug: string;
  name: string;
}

interface DestinationRow {
  id: string;
  name: string;
  url: string;
  tenant_name: string;
}

interface DeliveryRow {
  id: string;
  destination_name: string;
}

const TENANTS = `
  SELECT t.id, t.slug, t.name FROM sluice.tenant t
   WHERE t.deleted_at IS NULL AND ($1::uuid[] IS NULL OR t.id = ANY ($1))
     AND (t.slug LIKE $2 OR lower(t.name) LIKE $2 OR t.id = $4::uuid)
   ORDER BY (t.slug LIKE $3 OR lower(t.name) LIKE $3) DESC, t.name, t.id LIMIT $5`;

// The host alone: a path can carry a customer's secret, and what cannot be shown must not be found by either.
const DESTINATIONS = `
  SELECT x.id, x.name, x.url, t.name AS tenant_name
    FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id
   WHERE x.deleted_at IS NULL AND t.deleted_at IS NULL AND ($1::uuid[] IS NULL OR t.id = ANY ($1))
     AND (lower(x.name) LIKE $2 OR ${HOST_TEXT} LIKE $2 OR x.id = $4::uuid)
   ORDER BY (lower(x.name) LIKE $3) DESC, x.name, x.id LIMIT $5`;

const DELIVERIES = `
  SELECT k.delivery_id AS id, x.name AS destination_name
    FROM sluice.delivery_key k JOIN sluice.destination x ON x.id = k.destination_id
   WHERE k.idempotency_key = $2 AND ($1::uuid[] IS NULL OR x.tenant_id = ANY ($1))
   ORDER BY k.delivery_id DESC LIMIT $3`;

/** The UUID of a public id of that kind; null for any other text. */
function uuidOf(prefix: "ten" | "dst", text: string): string | null {
  return new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(text) ? fromPublicId(prefix, text) : null;
}
