/**
 * One page of tenants over the asked regions, the worst age first or by name. A tenant of two regions is two rows: they
 * are different rows of different databases, with states, limits and ages of their own (decision 0021).
 *
 * The order is taken from the newest sample of tenants (at most a minute old), the numbers of a page are read live, or on a
 * large region from the sums that its workers have just made: the region's answer is of that moment then. So a page costs
 * one look at the tenants' table and at the rows of its own tenants, however many tenants there are, and paging is stable:
 * a sample never changes, and the cursor names the one that it began with.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Thresholds } from "#domain/objectives.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { badCursor, readKey, writeKey } from "./key-cursor.ts";
import { readThresholds } from "./objectives.ts";
import { keptMoment } from "./queue-now.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { readTenantNumbers, type TenantNumbers } from "./read-tenant-numbers.ts";

/** A sample that is older says nothing about who is late now; the list is by name then. */
const SAMPLE_LIMIT_MS = 3 * 60_000;

export const TENANT_STATES = ["active", "paused", "limited", "circuit_open"] as const;
/** paused: by people. circuit_open, limited: of at least one destination, the breaker is open or the gate is shut. */
export type TenantListState = (typeof TENANT_STATES)[number];

export const TENANT_SORTS = ["-age", "name"] as const;
export type TenantSort = (typeof TENANT_SORTS)[number];

export interface TenantFilter {
  /** Null: all of the scope. */
  regions: readonly Region[] | null;
  /** Part of the name or the slug, any case. */
  q?: string | undefined;
  state?: TenantListState | undefined;
  /** With live work of this class in the newest sample. */
  class?: ServiceClass | undefined;
  sort: TenantSort;
  cursor?: string | undefined;
  limit: number;
}

export interface TenantRow extends TenantNumbers {
  /** `ten_...` */
  id: string;
  slug: string;
  name: string;
  region: Region;
  state: TenantListState;
  /** When the state ends by itself, UTC. */
  stateUntil: string | null;
  stateReason: string | null;
  /** Who may claim its work; `sluice` unless it was handed over. */
  claimOwner: string;
}

export interface TenantRegion extends Pick<Thresholds, "objectives" | "dueLag"> {
  /** The sample that the order is of, UTC; null: there is none, the order is by name. */
  sampledAt: string | null;
}

export interface TenantList {
  regions: RegionAnswer<TenantRegion>[];
  /** Over all regions that answered, in their order. Ages are those of the row's own region. */
  rows: TenantRow[];
  next: string | null;
}

/** Where a page goes on, and the sample of each region that its order is of (milliseconds since 1970, 0: none). */
interface Position {
  ageMs: number;
  slug: string;
  region: string;
  sampledMs: Readonly<Record<Region, number>>;
}

/**
 * Asks the regions at once. One that does not answer has no rows, and says so.
 * @throws SluiceError `not_found` for a region outside the scope, `bad_cursor` also when its sample is gone.
 */
export async function listTenants(access: AccessScope, filter: TenantFilter): Promise<TenantList> {
  const regions = filter.regions ?? regionsOf(access);
  const scoped = regions.map((region) => ({ region, tenantIds: tenantsIn(access, region) }));
  const from = filter.cursor === undefined ? null : readPosition(filter.sort, filter.cursor);
  const answers = await Promise.all(
    scoped.map(({ region, tenantIds }) =>
      readRegion(region, (sql, asOf) => pageOf(sql, asOf, region, filter, tenantIds, from)),
    ),
  );
  const found = answers
    .flatMap((answer) => (answer.status === "ok" ? answer.data.rows : []))
    .sort((one, two) => compare(filter.sort, one, two));
  const shown = found.slice(0, filter.limit);
  const last = shown.at(-1);
  return {
    regions: answers.map((answer) =>
      answer.status === "ok" ? { ...answer, asOf: answer.data.asOf, data: regionOf(answer.data) } : answer,
    ),
    rows: shown.map(({ row }) => row),
    next: found.length > filter.limit && last ? writePosition(filter.sort, last, answers) : null,
  };
}

function regionOf({ sampledAt, objectives, dueLag }: RegionPage): TenantRegion {
  return { sampledAt, objectives, dueLag };
}

interface Placed {
  /** Of the sample: what the order is by. */
  ageMs: number;
  row: TenantRow;
}

interface RegionPage extends TenantRegion {
  /** Of when the numbers are, UTC. */
  asOf: string;
  rows: Placed[];
}

async function pageOf(
  sql: Reader,
  asOf: Date,
  region: Region,
  filter: TenantFilter,
  tenantIds: TenantScope,
  from: Position | null,
): Promise<RegionPage> {
  const sampledAt = await sampleOf(sql, asOf, from === null ? null : from.sampledMs[region]);
  const { text, values } = orderStatement(filter, asOf, sampledAt, tenantIds, from);
  const rows = await sql<OrderRow>(text, values);
  const keptAt = await keptMoment(sql, asOf);
  const numbers = await readTenantNumbers(
    sql,
    keptAt ?? asOf,
    rows.map((row) => row.id),
    { kept: keptAt !== null },
  );
  const { objectives, dueLag } = await readThresholds(sql);
  return {
    objectives,
    dueLag,
    asOf: (keptAt ?? asOf).toISOString(),
    sampledAt: sampledAt?.toISOString() ?? null,
    rows: rows.flatMap((row) => {
      const own = numbers.get(row.id);
      return own === undefined ? [] : [{ ageMs: row.age_ms, row: toRow(row, region, own) }];
    }),
  };
}

/** The newest sample, or the one that the cursor began with. */
async function sampleOf(sql: Reader, asOf: Date, pinnedMs: number | null): Promise<Date | null> {
  if (pinnedMs === 0) return null;
  const [low, high] =
    pinnedMs === null
      ? [new Date(asOf.getTime() - SAMPLE_LIMIT_MS), asOf]
      : [new Date(pinnedMs), new Date(pinnedMs + 1)];
  const [run] = await sql<{ at: Date }>(
    `SELECT at FROM sluice.sample_run WHERE scope = 'tenant' AND ok AND at >= $1 AND at < $2 ORDER BY at DESC LIMIT 1`,
    [low, high],
  );
  if (run === undefined && pinnedMs !== null) throw badCursor();
  return run?.at ?? null;
}

interface OrderRow {
  id: string;
  slug: string;
  name: string;
  age_ms: number;
  state: TenantListState;
  state_until: Date | null;
  pause_reason: string | null;
  claim_owner: string;
}

const STATE = `CASE WHEN t.pause_until > $1 THEN 'paused' WHEN p.open THEN 'circuit_open' WHEN p.gated THEN 'limited' ELSE 'active' END`;

/** $1 the time of the answer, $2 the time of the sample (null: none), $3 the tenants of the scope. */
const ORDERED = `
  WITH sample AS MATERIALIZED (
    SELECT s.tenant_id, max(greatest(s.first_attempt_age_ms, s.due_age_ms))::float8 AS age_ms,
           array_agg(s.service_class::text) FILTER (WHERE s.ready + s.delayed + s.in_flight > 0) AS classes
      FROM sluice.queue_sample s
     WHERE s.scope = 'tenant' AND s.at >= $2::timestamptz AND s.at < $2::timestamptz + interval '1 millisecond' GROUP BY 1
  ), trouble AS MATERIALIZED (
    SELECT x.tenant_id, bool_or(s.breaker = 'open') AS open, bool_or(s.hold_until > $1) AS gated,
           max(s.hold_until) FILTER (WHERE s.hold_until > $1) AS gated_until,
           max(s.breaker_until) FILTER (WHERE s.breaker = 'open' AND s.breaker_until > $1) AS open_until
      FROM sluice.destination_state s JOIN sluice.destination x ON x.id = s.destination_id
     WHERE (s.breaker = 'open' OR s.hold_until > $1) AND x.deleted_at IS NULL AND x.disabled_at IS NULL GROUP BY 1
  ), t AS (
    SELECT t.id, t.slug, t.name, coalesce(m.age_ms, 0) AS age_ms, m.classes, t.claim_owner, t.pause_reason, ${STATE} AS state,
           CASE ${STATE} WHEN 'paused' THEN t.pause_until WHEN 'circuit_open' THEN p.open_until WHEN 'limited' THEN p.gated_until
           END AS state_until
      FROM sluice.tenant t
      LEFT JOIN sample m ON m.tenant_id = t.id
      LEFT JOIN trouble p ON p.tenant_id = t.id
     WHERE t.deleted_at IS NULL AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  )
  SELECT t.id, t.slug, t.name, t.age_ms, t.state, t.state_until, t.pause_reason, t.claim_owner
    FROM t CROSS JOIN sluice.region_control rc`;

function orderStatement(
  filter: TenantFilter,
  asOf: Date,
  sampledAt: Date | null,
  tenantIds: TenantScope,
  from: Position | null,
): { text: string; values: unknown[] } {
  const values: unknown[] = [asOf, sampledAt, tenantIds];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms: string[] = [];
  if (filter.q !== undefined) {
    const text = `lower(${bind(filter.q)})`;
    terms.push(`(position(${text} IN lower(t.name)) > 0 OR position(${text} IN t.slug) > 0)`);
  }
  if (filter.state !== undefined) terms.push(`t.state = ${bind(filter.state)}`);
  if (filter.class !== undefined) terms.push(`${bind(filter.class)} = ANY (t.classes)`);
  if (from !== null) {
    const after = `(t.slug COLLATE "C", rc.region COLLATE "C") > (${bind(from.slug)}, ${bind(from.region)})`;
    terms.push(filter.sort === "name" ? after : orderedAfter(bind(from.ageMs), after));
  }
  const condition = terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
  const order = filter.sort === "name" ? "" : "t.age_ms DESC, ";
  const text = `${ORDERED} ${condition} ORDER BY ${order}t.slug COLLATE "C" LIMIT ${bind(filter.limit + 1)}`;
  return { text, values };
}

function orderedAfter(age: string, after: string): string {
  return `(t.age_ms < ${age}::float8 OR (t.age_ms = ${age}::float8 AND ${after}))`;
}

function toRow(row: OrderRow, region: Region, numbers: TenantNumbers): TenantRow {
  return {
    id: toPublicId("ten", row.id),
    slug: row.slug,
    name: row.name,
    region,
    state: row.state,
    stateUntil: row.state_until?.toISOString() ?? null,
    stateReason: row.state === "paused" ? row.pause_reason : null,
    claimOwner: row.claim_owner,
    ...numbers,
  };
}

/** The order of the statement, over regions: slugs are ASCII, so that both compare bytes. */
function compare(sort: TenantSort, one: Placed, two: Placed): number {
  if (sort === "-age" && one.ageMs !== two.ageMs) return two.ageMs - one.ageMs;
  if (one.row.slug !== two.row.slug) return one.row.slug < two.row.slug ? -1 : 1;
  return one.row.region < two.row.region ? -1 : 1;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

function readPosition(sort: TenantSort, cursor: string): Position {
  const key = readKey(`tenants${sort}`, cursor, {
    a: isCount,
    s: (value) => typeof value === "string" && /^[a-z0-9-]{1,63}$/.test(value),
    r: (value) => value === "us" || value === "eu",
    us: isCount,
    eu: isCount,
  });
  return {
    ageMs: Number(key.a),
    slug: String(key.s),
    region: String(key.r),
    sampledMs: { us: Number(key.us), eu: Number(key.eu) },
  };
}

function writePosition(sort: TenantSort, last: Placed, answers: readonly RegionAnswer<RegionPage>[]): string {
  const sampledMs = (region: Region) => {
    const answer = answers.find((one) => one.region === region);
    return answer?.status === "ok" && answer.data.sampledAt !== null ? Date.parse(answer.data.sampledAt) : 0;
  };
  return writeKey(`tenants${sort}`, {
    a: last.ageMs,
    s: last.row.slug,
    r: last.row.region,
    us: sampledMs("us"),
    eu: sampledMs("eu"),
  });
}
