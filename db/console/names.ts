/**
 * How tenants and destinations are named in answers. Of a destination's URL only the host leaves the database layer:
 * the path and the query can carry a customer's secret.
 */
import { toPublicId } from "#domain/ids.ts";

export interface TenantName {
  /** `ten_...` */
  id: string;
  slug: string;
  name: string;
}

export interface DestinationName {
  /** `dst_...` */
  id: string;
  name: string;
  host: string;
}

export interface NameRow {
  tenant_id: string;
  tenant_slug: string | null;
  tenant_name: string | null;
  destination_id: string;
  destination_name: string | null;
  destination_url: string | null;
}

/** Columns for a statement that joins tenant `t` and destination `x`. */
export const NAME_COLUMNS = `
  d.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name,
  d.destination_id, x.name AS destination_name, x.url AS destination_url`;

/**
 * The host of a destination `x` as it is searched for: what stands between the slashes and the next one, never a character
 * of the path. Without a pattern match, which would cost ten thousand rows four times as much.
 */
export const HOST_TEXT = `lower(split_part(split_part(split_part(x.url COLLATE "C", '/', 3), '?', 1), '#', 1))`;

/** Text as a part of a LIKE pattern: it stands for itself only. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

/** A row whose tenant is gone keeps its id as its name. */
export function tenantName(row: NameRow): TenantName {
  const id = toPublicId("ten", row.tenant_id);
  return { id, slug: row.tenant_slug ?? id, name: row.tenant_name ?? "Deleted tenant" };
}

/** A row whose destination is gone keeps its id. */
export function destinationName(row: NameRow): DestinationName {
  return {
    id: toPublicId("dst", row.destination_id),
    name: row.destination_name ?? "Deleted destination",
    host: hostOf(row.destination_url),
  };
}

/** "hooks.example.com:8443", or "unknown" for text that is no URL. */
export function hostOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).host : "unknown";
}
