/**
 * One page of a region's deliveries, live, dead and archived together. The order is that of acceptance, newest first (the
 * ids say it, and all three tables have them as an index); waiting deliveries alone are listed by their due time.
 * Reads envelopes only, never a body. What the filters mean in SQL stands in delivery-sources.ts.
 */
import type { DeliveryState, Lane, ServiceClass } from "#domain/delivery.ts";
import {
  type FilterReason,
  type RangeName,
  readAge,
  readAttempts,
  readCode,
  readMoment,
} from "#domain/delivery-filter.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import { maxFailuresOf } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { BLOCKER_COLUMNS, BLOCKER_JOINS, type Blocker, type BlockerRow, blockersOf } from "./blockers.ts";
import { type Position, readCursor, readTimedCursor, writeCursor } from "./cursor.ts";
import {
  countText,
  deliveredText,
  HELD_PLACES,
  type ListFilter,
  type ListOrder,
  orderBy,
  orderOf,
  type Place,
  pageText,
  planList,
} from "./delivery-sources.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type Policies, readPolicies } from "./policies.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

/** The most rows of one page. */
export const MAX_PAGE_ROWS = 100;
/** Rows are counted exactly up to here; beyond it is "10,000+". */
export const MAX_COUNTED_ROWS = 10_000;
/** Cancelled rows of the asked tenants that a count of their delivered ones may leave out. */
const MAX_CANCELLED_ROWS = 1_000;
/** Held destinations that are gone through one by one; with more, the due rows are dense with matches. */
const MAX_PLACES = 200;
/** One key can stand for a delivery at each of several destinations. */
const MAX_DELIVERIES_OF_A_KEY = 100;
const PUBLIC_ID_SHAPE = /^dlv_[0-9a-f]{32}$/;
const TENANT_ID_SHAPE = /^ten_[0-9a-f]{32}$/;

/** The filters as texts, as an address and the API carry them (domain/delivery-filter.ts). */
export interface DeliveryFilter {
  region: Region;
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...` */
  destination?: string | undefined;
  state?: DeliveryState | undefined;
  reason?: FilterReason | undefined;
  /** "429", "5xx", "timeout": the last result. */
  code?: string | undefined;
  /** Event type, exact. */
  type?: string | undefined;
  class?: ServiceClass | undefined;
  /** "3..": at least three. */
  attempts?: string | undefined;
  /** "1h..": accepted at least an hour ago. */
  age?: string | undefined;
  /** Accepted at or after, before: ISO, UTC. */
  from?: string | undefined;
  to?: string | undefined;
  range?: RangeName | undefined;
  /** A delivery id or an idempotency key, exact. */
  q?: string | undefined;
  sort?: "due" | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface DeliveryRow {
  /** `dlv_...` */
  id: string;
  tenant: TenantName;
  destination: DestinationName;
  eventType: string;
  serviceClass: ServiceClass;
  state: DeliveryState;
  /** Only while it is live. */
  lane: Lane | null;
  /** Of a dead or cancelled one. */
  reason: string | null;
  attempts: number;
  /** Attempts that count against the policy. */
  failures: number;
  /** Failures after which it is dead; null when its policy cannot be used. */
  maxFailures: number | null;
  lastOutcome: string | null;
  lastStatus: number | null;
  createdAt: string;
  dueAt: string;
  finishedAt: string | null;
  /** `rpl_...` of the replay batch that released it last. */
  replayId: string | null;
  /** Named only for a waiting delivery that is due: what holds it. */
  held: Blocker[];
}

export interface DeliveryPage {
  rows: DeliveryRow[];
  /** Cursor of the next page, null on the last one. */
  next: string | null;
  order: ListOrder;
  /** Rows of the whole list; `atLeast` when there are more than can be counted. Null when the count was not asked for. */
  total: { count: number; atLeast: boolean } | null;
  /** Of when the rows were accepted. `byDefault`: a filter without an index looks at one day unless a range is given. */
  window: { from: string | null; to: string | null; byDefault: boolean };
}

/**
 * Reads one page of what the scope covers.
 * @param counted false leaves the total out, for readers that want every page and no number
 * @throws SluiceError `not_found` for a region outside the scope, `bad_cursor`, `bad_id`; `invalid_query` is the edge's.
 */
export async function listDeliveries(
  access: AccessScope,
  filter: DeliveryFilter,
  { counted = true } = {},
): Promise<RegionAnswer<DeliveryPage>> {
  const scope = tenantsIn(access, filter.region);
  const read = readFilter(filter);
  return readRegion(filter.region, async (sql, asOf) => {
    const tenantIds = await tenantsOf(sql, filter, scope);
    const ids = await searchedIds(sql, filter.q);
    const places = tenantIds === undefined ? undefined : await heldPlaces(sql, asOf, read, tenantIds);
    return readPage(
      sql,
      asOf,
      { ...read, ids, tenantIds: tenantIds ?? null, places },
      {
        limit: filter.limit,
        counted,
        nothing: tenantIds === undefined || ids?.length === 0 || places?.length === 0,
      },
    );
  });
}

async function readPage(
  sql: Reader,
  asOf: Date,
  filter: ListFilter,
  { limit, counted, nothing }: { limit: number; counted: boolean; nothing: boolean },
): Promise<DeliveryPage> {
  const values: unknown[] = [asOf, limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const plan = planList(filter, asOf.getTime(), bind);
  const { fromMs, toMs, byDefault } = plan.window;
  const window = { from: isoOf(fromMs), to: isoOf(toMs), byDefault };
  if (nothing || plan.sources.length === 0) {
    return { rows: [], next: null, order: plan.order, total: { count: 0, atLeast: false }, window };
  }
  const policies = await readPolicies(sql);
  const found = await sql<PageRow>(
    `WITH d AS MATERIALIZED (${pageText(plan, filter, "$2", bind)})
     SELECT d.*, to_char(d.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_key, x.policy_override,
            ${NAME_COLUMNS}, ${BLOCKER_COLUMNS}
       FROM d ${BLOCKER_JOINS} ORDER BY ${orderBy(plan.order, "d")} LIMIT $2`,
    values,
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit;
  return {
    rows: rows.map((row) => toRow(row, asOf, policies)),
    next:
      more && last
        ? writeCursor(
            listName(plan.order),
            plan.order === "accepted" ? { id: last.id } : { id: last.id, at: last.due_key },
          )
        : null,
    order: plan.order,
    total: counted ? await totalOf(sql, asOf, filter, more ? null : rows.length) : null,
    window,
  };
}

/** @param known the count when the first page is the whole list: rare matches must not be searched for twice */
async function totalOf(
  sql: Reader,
  asOf: Date,
  filter: ListFilter,
  known: number | null,
): Promise<{ count: number; atLeast: boolean }> {
  if (known !== null && filter.after === null) return { count: known, atLeast: false };
  const delivered = await deliveredOf(sql, asOf, filter);
  if (delivered !== null) return delivered;
  const values: unknown[] = [asOf, MAX_COUNTED_ROWS + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const plan = planList(filter, asOf.getTime(), bind);
  const [row] = await sql<{ n: number }>(countText(plan, filter, "$2", bind), values);
  const count = row?.n ?? 0;
  return { count: Math.min(count, MAX_COUNTED_ROWS), atLeast: count > MAX_COUNTED_ROWS };
}

/** The total of a list of delivered rows of tenants; null when it is told otherwise, or when very many of them were cancelled. */
async function deliveredOf(
  sql: Reader,
  asOf: Date,
  filter: ListFilter,
): Promise<{ count: number; atLeast: boolean } | null> {
  const values: unknown[] = [asOf, MAX_COUNTED_ROWS + 1 + MAX_CANCELLED_ROWS, MAX_CANCELLED_ROWS + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const text = deliveredText(planList(filter, asOf.getTime(), bind), filter, "$2", "$3", bind);
  if (text === null) return null;
  const [row] = await sql<{ n: number; cancelled: number }>(text, values);
  if (row === undefined || row.cancelled > MAX_CANCELLED_ROWS) return null;
  // However many there are beyond the limit of all, those that are counted less the cancelled ones are beyond the limit of the list.
  const count = row.n - row.cancelled;
  return { count: Math.min(count, MAX_COUNTED_ROWS), atLeast: count > MAX_COUNTED_ROWS };
}

/** The texts of the filters read; the edge has refused those that mean nothing. */
function readFilter(filter: DeliveryFilter): Omit<ListFilter, "ids" | "tenantIds"> {
  const { state, reason, type, range } = filter;
  const read = <T>(text: string | undefined, how: (text: string) => T | null) =>
    text === undefined ? null : how(text);
  const fields = {
    destinationId: read(filter.destination, (text) => fromPublicId("dst", text)),
    state: state ?? null,
    reason: reason ?? null,
    code: read(filter.code, readCode),
    type: type ?? null,
    class: filter.class ?? null,
    attempts: read(filter.attempts, readAttempts),
    ageMs: read(filter.age, readAge),
    fromMs: read(filter.from, readMoment),
    toMs: read(filter.to, readMoment),
    range: range ?? null,
    oldestFirst: filter.sort === "due",
  };
  return { ...fields, after: read(filter.cursor, (text) => readAfter(text, orderOf(fields))) };
}

/** Where the list goes on. @throws SluiceError `bad_cursor` when another list made it, or this one in another order */
function readAfter(text: string, order: ListOrder): Position {
  const read = order === "accepted" ? readCursor : readTimedCursor;
  return read(listName(order), text);
}

/** Of its cursors: each order has another key. */
function listName(order: ListOrder): string {
  return `deliveries ${order}`;
}

/**
 * The tenants whose rows are looked at: the one that is named, or the one of the named destination, or those of the scope.
 * @returns null for all, undefined when there is none
 */
async function tenantsOf(
  sql: Reader,
  { tenant, destination }: DeliveryFilter,
  scope: TenantScope,
): Promise<readonly string[] | null | undefined> {
  if (tenant === undefined && destination === undefined) return scope;
  const byId = tenant !== undefined && TENANT_ID_SHAPE.test(tenant);
  const [named] = await sql<{ tenant_id: string | null; destination_tenant_id: string | null }>(
    `SELECT (SELECT t.id FROM sluice.tenant t WHERE t.id = $1::uuid OR t.slug = $2) AS tenant_id,
            (SELECT x.tenant_id FROM sluice.destination x WHERE x.id = $3::uuid) AS destination_tenant_id`,
    [
      byId ? fromPublicId("ten", tenant) : null,
      byId ? null : (tenant ?? null),
      destination === undefined ? null : fromPublicId("dst", destination),
    ],
  );
  const asked = tenant === undefined ? named?.destination_tenant_id : named?.tenant_id;
  if (asked === null || asked === undefined) return undefined;
  if (destination !== undefined && named?.destination_tenant_id !== asked) return undefined;
  return scope === null || scope.includes(asked) ? [asked] : undefined;
}

/**
 * The destinations that the asked reason holds, of the tenants that are looked at. They are few among thousands as a rule, and the
 * rows of each are read along the claim's index; looking through all due rows for them would read far more than is shown.
 * @returns undefined when no such reason is asked for, or there are too many
 */
async function heldPlaces(
  sql: Reader,
  asOf: Date,
  { reason, destinationId }: Pick<ListFilter, "reason" | "destinationId">,
  tenantIds: TenantScope,
): Promise<Place[] | undefined> {
  if (reason === null || !(reason in HELD_PLACES)) return undefined;
  const rows = await sql<{ tenant_id: string; destination_id: string }>(
    `SELECT x.tenant_id, x.id AS destination_id
       FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
      WHERE $1::timestamptz IS NOT NULL AND ${HELD_PLACES[reason as keyof typeof HELD_PLACES]}
        AND ($2::uuid[] IS NULL OR x.tenant_id = ANY ($2)) AND ($3::uuid IS NULL OR x.id = $3) LIMIT $4`,
    [asOf, tenantIds, destinationId, MAX_PLACES + 1],
  );
  if (rows.length > MAX_PLACES) return undefined;
  return rows.map((row) => ({ tenantId: row.tenant_id, destinationId: row.destination_id }));
}

/** Ids that a search text names, or null when nothing is searched for. */
async function searchedIds(sql: Reader, q: string | undefined): Promise<string[] | null> {
  if (q === undefined) return null;
  if (PUBLIC_ID_SHAPE.test(q)) return [fromPublicId("dlv", q)];
  const rows = await sql<{ delivery_id: string }>(
    "SELECT delivery_id FROM sluice.delivery_key WHERE idempotency_key = $1 LIMIT $2",
    [q, MAX_DELIVERIES_OF_A_KEY],
  );
  return rows.map((row) => row.delivery_id);
}

interface PageRow extends NameRow, BlockerRow {
  id: string;
  event_type: string;
  service_class: ServiceClass;
  attempts: number;
  failures: number;
  policy_override: unknown;
  last_outcome: string | null;
  last_status: number | null;
  created_at: Date;
  due_at: Date;
  /** With its microseconds, which a Date would lose. */
  due_key: string;
  state: DeliveryState;
  lane: Lane | null;
  reason: string | null;
  finished_at: Date | null;
  replay_batch_id: string | null;
}

function toRow(row: PageRow, asOf: Date, policies: Policies): DeliveryRow {
  const due = row.due_at.getTime() <= asOf.getTime();
  const policy = policies(row.service_class, row.policy_override);
  return {
    id: toPublicId("dlv", row.id),
    tenant: tenantName(row),
    destination: destinationName(row),
    eventType: row.event_type,
    serviceClass: row.service_class,
    state: row.state,
    lane: row.lane,
    reason: row.reason,
    attempts: row.attempts,
    failures: row.failures,
    maxFailures: policy === null ? null : maxFailuresOf(policy),
    lastOutcome: row.last_outcome,
    lastStatus: row.last_status,
    createdAt: row.created_at.toISOString(),
    dueAt: row.due_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    replayId: row.replay_batch_id === null ? null : toPublicId("rpl", row.replay_batch_id),
    held: due ? blockersOf(row, asOf) : [],
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
