/**
 * One page of a region's destinations: those in trouble first, or by name. The page is found on the small tables alone
 * (destination and what workers remember of it); attempts, leases and dead letters are read for its rows only.
 * Of a URL only the host can be searched for and seen: the path and the query can carry a customer's secret, and a search
 * that looked at them would give it away letter by letter.
 */
import { fromPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { readKey, writeKey } from "./key-cursor.ts";
import { escapeLike, HOST_TEXT } from "./names.ts";
import {
  DESTINATION_STATE,
  type DestinationHealth,
  type DestinationState,
  readDestinationHealth,
} from "./read-destination-health.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";
import { FAILING } from "./read-tenant-numbers.ts";

export const DESTINATION_STATES = [
  "active",
  "disabled",
  "paused",
  "circuit_open",
  "rate_limited",
] as const satisfies readonly DestinationState[];
export const DESTINATION_SORTS = ["trouble", "name"] as const;
export type DestinationSort = (typeof DESTINATION_SORTS)[number];

export interface DestinationFilter {
  region: Region;
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...`, or part of the name or the host, any case. */
  q?: string | undefined;
  state?: (typeof DESTINATION_STATES)[number] | undefined;
  sort: DestinationSort;
  cursor?: string | undefined;
  limit: number;
}

export interface DestinationPage {
  rows: DestinationHealth[];
  /** Cursor of the next page, null on the last one. */
  next: string | null;
}

const DESTINATION_ID = /^dst_[0-9a-f]{32}$/;
/** What comes first when trouble does. */
const MAX_RANK = 5;

/**
 * Reads one page of what the scope covers. By name a page is stable; by trouble a destination whose state changes
 * between two pages moves, and may come twice or not at all. The others come once.
 * @throws SluiceError `not_found` for a region outside the scope, `bad_cursor`, `bad_id`
 */
export async function listDestinations(
  access: AccessScope,
  filter: DestinationFilter,
): Promise<RegionAnswer<DestinationPage>> {
  const tenantIds = tenantsIn(access, filter.region);
  const { text, values } = pageStatement(filter, tenantIds);
  return readRegion(filter.region, async (sql, asOf) => {
    const found = await sql<{ id: string; rank: number }>(text, [asOf, ...values]);
    const page = found.slice(0, filter.limit);
    const health = await readDestinationHealth(
      sql,
      asOf,
      page.map(({ id }) => id),
    );
    const last = page.at(-1);
    return {
      rows: page.flatMap(({ id }) => health.get(id) ?? []),
      next: found.length > filter.limit && last ? writeKey(listName(filter.sort), { ...last }) : null,
    };
  });
}

const RANK = `
  CASE ${DESTINATION_STATE} WHEN 'circuit_open' THEN 0 WHEN 'rate_limited' THEN 1 WHEN 'disabled' THEN 3 WHEN 'paused' THEN 4
       ELSE CASE WHEN ${FAILING} THEN 2 ELSE ${MAX_RANK} END END`;

/** $1 is the time of the answer. */
function pageStatement(
  filter: DestinationFilter,
  tenantIds: TenantScope,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const terms: string[] = [];
  if (tenantIds !== null) terms.push(`x.tenant_id = ANY (${bind(tenantIds)}::uuid[])`);
  if (filter.tenant !== undefined) terms.push(tenantTerm(filter.tenant, bind));
  if (filter.q !== undefined) terms.push(searchTerm(filter.q, bind));
  const outer: string[] = [];
  if (filter.state !== undefined) outer.push(`d.state = ${bind(filter.state)}`);
  if (filter.cursor !== undefined) outer.push(afterTerm(filter, bind));
  const condition = outer.length > 0 ? `WHERE ${outer.join(" AND ")}` : "";
  const order = filter.sort === "name" ? "" : "d.rank, ";
  const text = `
    SELECT d.id, d.rank FROM (
      SELECT x.id, x.name, ${DESTINATION_STATE} AS state, ${RANK} AS rank
        FROM sluice.destination x
        JOIN sluice.tenant t ON t.id = x.tenant_id AND t.deleted_at IS NULL
        LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
       WHERE x.deleted_at IS NULL ${terms.map((term) => `AND ${term}`).join(" ")}) d
    ${condition} ORDER BY ${order}d.name COLLATE "C", d.id LIMIT ${bind(filter.limit + 1)}`;
  return { text, values };
}

function tenantTerm(tenant: string, bind: (value: unknown) => string): string {
  return tenant.startsWith("ten_")
    ? `x.tenant_id = ${bind(fromPublicId("ten", tenant))}::uuid`
    : `x.tenant_id = (SELECT id FROM sluice.tenant WHERE slug = ${bind(tenant)})`;
}

/** By the name or the host, as `HOST_TEXT` says. */
function searchTerm(q: string, bind: (value: unknown) => string): string {
  if (DESTINATION_ID.test(q)) return `x.id = ${bind(fromPublicId("dst", q))}::uuid`;
  const pattern = `'%' || lower(${bind(escapeLike(q))}::text) || '%'`;
  return `(lower(x.name) LIKE ${pattern} OR ${HOST_TEXT} LIKE ${pattern})`;
}

/** Goes on behind the cursor's row, wherever its name stands by now: a deleted row still has one. */
function afterTerm({ sort, cursor }: DestinationFilter, bind: (value: unknown) => string): string {
  const key = readKey(listName(sort), cursor ?? "", {
    id: (value) => typeof value === "string" && UUID.test(value),
    rank: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_RANK,
  });
  const id = `${bind(key.id)}::uuid`;
  const after = `(d.name COLLATE "C", d.id) > ((SELECT c.name FROM sluice.destination c WHERE c.id = ${id}) COLLATE "C", ${id})`;
  if (sort === "name") return after;
  const rank = `${bind(key.rank)}::integer`;
  return `(d.rank > ${rank} OR (d.rank = ${rank} AND ${after}))`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function listName(sort: DestinationSort): string {
  return `destinations-${sort}`;
}
