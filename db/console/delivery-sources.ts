/**
 * From the filters of the delivery list to the rows that are looked at: which of the three tables take part, on what
 * conditions, along which index, and over which time. A filter that no index of the archive serves is bounded to a window
 * of one day; a list must never walk the whole archive, and never be wider than what was asked.
 */
import {
  CANCEL_REASONS,
  DEAD_REASONS,
  type DeliveryState,
  LANES,
  SERVICE_CLASSES,
} from "#domain/delivery.ts";
import {
  type CodeFilter,
  type FilterReason,
  HELD_FILTERS,
  type HeldFilter,
  RANGES_MS,
  type RangeName,
  WINDOW_MS,
} from "#domain/delivery-filter.ts";
import { uuidV7Floor } from "#domain/ids.ts";
import type { Position } from "./cursor.ts";

/** The filters with their texts already read; names are ids here. */
export interface ListFilter {
  /** Null: every tenant of the region. */
  tenantIds: readonly string[] | null;
  destinationId: string | null;
  state: DeliveryState | null;
  reason: FilterReason | null;
  code: CodeFilter | null;
  type: string | null;
  class: (typeof SERVICE_CLASSES)[number] | null;
  /** At least so many attempts. */
  attempts: number | null;
  /** Accepted at least so long ago. */
  ageMs: number | null;
  fromMs: number | null;
  toMs: number | null;
  range: RangeName | null;
  /** Deliveries that a search text names; null when nothing is searched for. */
  ids: readonly string[] | null;
  /** The destinations that a reason of HELD_PLACES means, when they are few; absent: the rows are looked through. */
  places?: readonly Place[] | undefined;
  /** Waiting deliveries only: oldest due first. */
  oldestFirst: boolean;
  after: Position | null;
}

/** A destination with its tenant, as UUIDs. */
export interface Place {
  readonly tenantId: string;
  readonly destinationId: string;
}

/** Of when the rows were accepted. `byDefault`: nobody asked for it, a filter needs it. */
export interface Window {
  fromMs: number | null;
  toMs: number | null;
  byDefault: boolean;
}

/** `accepted`: newest first, by id. `due`: by due time, newest first or oldest first. */
export type ListOrder = "accepted" | "due" | "oldest_due";

type Table = "live" | "dead" | "archived";

/** One part of the list. Its terms hold; its rows come in the list's order. */
interface Source {
  table: Table;
  terms: string[];
}

export interface ListPlan {
  sources: Source[];
  order: ListOrder;
  window: Window;
}

export type Bind = (value: unknown) => string;

const TABLES: Readonly<Record<Table, string>> = {
  live: "sluice.delivery",
  dead: "sluice.dead_letter",
  archived: "sluice.delivery_archive",
};

const SHARED_COLUMNS = `b.id, b.tenant_id, b.destination_id, b.event_type, b.service_class, b.attempts, b.failures,
  b.last_outcome, b.last_status, b.created_at, b.due_at, b.replay_batch_id`;

/** The three tables with the columns that each names in its own way. */
const COLUMNS: Readonly<Record<Table, string>> = {
  live: `${SHARED_COLUMNS}, b.state::text AS state, b.lane::text AS lane, NULL::text AS reason, NULL::timestamptz AS finished_at`,
  dead: `${SHARED_COLUMNS}, 'dead' AS state, NULL AS lane, b.reason, b.died_at AS finished_at`,
  archived: `${SHARED_COLUMNS}, b.state, NULL AS lane, b.reason, b.finished_at`,
};

const ORDERS: Readonly<Record<ListOrder, string>> = {
  accepted: "id DESC",
  due: "due_at DESC, id DESC",
  oldest_due: "due_at, id",
};

/** How rows named `d` are sorted at the end. */
export function orderBy(order: ListOrder, alias: "b" | "u" | "d"): string {
  return ORDERS[order].replaceAll(/(due_at|id)/g, `${alias}.$1`);
}

/** Waiting rows alone are sorted by their due time. */
export function orderOf(filter: Pick<ListFilter, "state" | "reason" | "oldestFirst">): ListOrder {
  const waitingOnly = filter.state === "ready" || filter.state === "delayed" || heldOf(filter) !== null;
  return waitingOnly ? (filter.oldestFirst ? "oldest_due" : "due") : "accepted";
}

/** Which rows the filters mean. No source: nothing can match. */
export function planList(filter: ListFilter, nowMs: number, bind: Bind): ListPlan {
  const tables = tablesOf(filter);
  const order = orderOf(filter);
  const window = windowOf(filter, tables, nowMs);
  const shared = [...timeTerms(window, bind), ...sharedTerms(filter, bind)];
  const sources = tables.flatMap((table) => sourcesOf(table, filter, order, shared, bind));
  return { sources, order, window };
}

/** The tables that can hold a match. */
function tablesOf({ state, reason, code }: ListFilter): Table[] {
  const byState: Record<DeliveryState, Table> = {
    ready: "live",
    leased: "live",
    delayed: "live",
    dead: "dead",
    delivered: "archived",
    cancelled: "archived",
  };
  let tables: Table[] = state === null ? ["live", "dead", "archived"] : [byState[state]];
  if (reason !== null) tables = tables.filter((table) => table === tableOfReason(reason));
  // Every delivered one ended with a 2xx, and nothing else did.
  if (code !== null && state === "delivered" && !isSuccess(code)) return [];
  if (code !== null && isSuccess(code)) tables = tables.filter((table) => table === "archived");
  return tables;
}

function tableOfReason(reason: FilterReason): Table {
  if ((DEAD_REASONS as readonly string[]).includes(reason)) return "dead";
  return (CANCEL_REASONS as readonly string[]).includes(reason) ? "archived" : "live";
}

function isSuccess(code: CodeFilter): boolean {
  return code.kind === "status" && code.low >= 200 && code.high <= 299;
}

function heldOf({ reason }: Pick<ListFilter, "reason">): HeldFilter | null {
  return (HELD_FILTERS as readonly string[]).includes(reason ?? "") ? (reason as HeldFilter) : null;
}

/** True when only cancelled rows of the archive can match: those have a small index of their own. */
function cancelledOnly({ state, reason, code }: ListFilter): boolean {
  return state === "cancelled" || reason !== null || (code !== null && !isSuccess(code));
}

/** Acceptance times that are asked for, cut to one day where the archive has no index for what is asked. */
function windowOf(filter: ListFilter, tables: readonly Table[], nowMs: number): Window {
  const rangeFromMs = filter.range === null ? null : nowMs - RANGES_MS[filter.range];
  const fromMs = filter.fromMs ?? rangeFromMs;
  const bounds = [filter.toMs, filter.ageMs === null ? null : nowMs - filter.ageMs].filter(
    (ms) => ms !== null,
  );
  const toMs = bounds.length === 0 ? null : Math.min(...bounds);
  const narrowCode =
    filter.code?.kind === "status" && filter.code.low === filter.code.high && isSuccess(filter.code);
  const unindexed =
    filter.type !== null || filter.class !== null || (filter.attempts ?? 0) > 1 || narrowCode === true;
  const needed = unindexed && filter.ids === null && tables.includes("archived") && !cancelledOnly(filter);
  if (!needed || fromMs !== null) return { fromMs, toMs, byDefault: false };
  return { fromMs: (toMs ?? nowMs) - WINDOW_MS, toMs, byDefault: true };
}

function timeTerms({ fromMs, toMs }: Window, bind: Bind): string[] {
  const terms: string[] = [];
  if (fromMs !== null) terms.push(`b.id >= ${bind(uuidV7Floor(Math.max(0, fromMs)))}::uuid`);
  if (toMs !== null) terms.push(`b.id < ${bind(uuidV7Floor(Math.max(0, toMs)))}::uuid`);
  return terms;
}

/** Conditions that read the same in all three tables. */
function sharedTerms(filter: ListFilter, bind: Bind): string[] {
  const terms: string[] = [];
  if (filter.ids !== null) terms.push(`b.id = ANY (${bind(filter.ids)}::uuid[])`);
  if (filter.destinationId !== null) terms.push(`b.destination_id = ${bind(filter.destinationId)}::uuid`);
  if (filter.type !== null) terms.push(`b.event_type = ${bind(filter.type)}`);
  if (filter.attempts !== null) terms.push(`b.attempts >= ${bind(filter.attempts)}::integer`);
  if (filter.code?.kind === "outcome") terms.push(`b.last_outcome = ${bind(filter.code.outcome)}`);
  if (filter.code?.kind === "status") {
    terms.push(
      `b.last_status BETWEEN ${bind(filter.code.low)}::smallint AND ${bind(filter.code.high)}::smallint`,
    );
  }
  return terms;
}

function sourcesOf(
  table: Table,
  filter: ListFilter,
  order: ListOrder,
  shared: readonly string[],
  bind: Bind,
): Source[] {
  const classTerm =
    filter.class === null ? [] : [`b.service_class = ${bind(filter.class)}::sluice.service_class`];
  if (table === "dead") {
    const reason = filter.reason === null ? [] : [`b.reason = ${bind(filter.reason)}`];
    return [{ table, terms: [...shared, ...classTerm, ...reason] }];
  }
  if (table === "archived") {
    const terms = [...shared, ...classTerm];
    if (filter.reason !== null) terms.push(`b.reason = ${bind(filter.reason)}`);
    if (cancelledOnly(filter)) terms.push("b.state = 'cancelled'");
    else if (filter.state === "delivered") terms.push(DELIVERED);
    return [{ table, terms }];
  }
  return liveSources(filter, order, shared, classTerm, bind);
}

/**
 * The live table is the hot one and gets no index for the console: waiting rows are read along the claim's own indexes,
 * which begin with lane and class, leased ones along the small index of leases.
 */
function liveSources(
  filter: ListFilter,
  order: ListOrder,
  shared: readonly string[],
  classTerm: readonly string[],
  bind: Bind,
): Source[] {
  const state = filter.state === null ? [] : [`b.state = '${filter.state}'`];
  if (order !== "accepted") {
    const held = heldTerms(filter);
    const lanes = filter.state === "ready" ? (["first"] as const) : LANES;
    const classes = filter.class === null ? SERVICE_CLASSES : [filter.class];
    return lanes.flatMap((lane) =>
      classes.map((one) => ({
        table: "live" as const,
        terms: [
          "b.state <> 'leased'",
          ...state,
          `b.lane = '${lane}'`,
          `b.service_class = '${one}'`,
          ...held,
          ...shared,
        ],
      })),
    );
  }
  const leased = { table: "live" as const, terms: ["b.state = 'leased'", ...classTerm, ...shared] };
  if (filter.state === "leased") return [leased];
  if (filter.tenantIds === null || filter.ids !== null) {
    return [{ table: "live", terms: [...state, ...classTerm, ...shared] }];
  }
  const classes = filter.class === null ? SERVICE_CLASSES : [filter.class];
  const lead = [
    "b.state <> 'leased'",
    `b.lane = ANY (${bind(LANES)}::sluice.lane[])`,
    `b.service_class = ANY (${bind(classes)}::sluice.service_class[])`,
  ];
  return [{ table: "live", terms: [...lead, ...shared] }, leased];
}

/** The rows that somebody's decision or a gate holds: due, and nothing else about them matters. $1 is the moment of the answer. */
function heldTerms(filter: ListFilter): string[] {
  const held = heldOf(filter);
  if (held === null) return [];
  return filter.places === undefined
    ? ["b.due_at <= $1::timestamptz", HELD_TERMS[held]]
    : ["b.due_at <= $1::timestamptz"];
}

/** The destinations that hold their work, by the reason: for x (destination), t (its tenant), s (its state). $1 as above. */
export const HELD_PLACES = {
  tenant_paused: "t.paused_at IS NOT NULL AND t.pause_until > $1",
  destination_paused: "x.paused_at IS NOT NULL AND x.pause_until > $1",
  destination_disabled: "(x.disabled_at IS NOT NULL OR x.deleted_at IS NOT NULL)",
  gate: "s.hold_until > $1",
} as const satisfies Readonly<Record<Exclude<HeldFilter, "region_draining">, string>>;

const HELD_TERMS: Readonly<Record<HeldFilter, string>> = {
  region_draining: "(SELECT rc.draining FROM sluice.region_control rc)",
  tenant_paused: `b.tenant_id IN (SELECT t.id FROM sluice.tenant t WHERE ${HELD_PLACES.tenant_paused})`,
  destination_paused: `b.destination_id IN (SELECT x.id FROM sluice.destination x WHERE ${HELD_PLACES.destination_paused})`,
  destination_disabled: `b.destination_id IN (SELECT x.id FROM sluice.destination x WHERE ${HELD_PLACES.destination_disabled})`,
  gate: `b.destination_id IN (SELECT s.destination_id FROM sluice.destination_state s WHERE ${HELD_PLACES.gate})`,
};

/** The rows of a page: each source brings at most `limit` of its own, in order. */
export function pageText(plan: ListPlan, filter: ListFilter, limit: string, bind: Bind): string {
  const after = filter.after === null ? [] : [afterTerm(plan.order, filter.after, bind)];
  const keys = keysOfTables(plan, filter, bind);
  const parts = plan.sources.map(({ table, terms }) =>
    partText(
      COLUMNS[table],
      TABLES[table],
      [...terms, ...after],
      keys(table),
      `ORDER BY ${orderBy(plan.order, "b")}`,
      limit,
    ),
  );
  return `SELECT * FROM (${parts.join(" UNION ALL ")}) u ORDER BY ${orderBy(plan.order, "u")} LIMIT ${limit}`;
}

/** How many rows match, counted to `limit`. */
export function countText(plan: ListPlan, filter: ListFilter, limit: string, bind: Bind): string {
  const keys = keysOfTables(plan, filter, bind);
  const parts = plan.sources.map(({ table, terms }) =>
    partText("b.id", TABLES[table], terms, keys(table), "", limit),
  );
  // $1 stands in the statement whether a source needs it or not: a parameter without a use has no type (nor do unused keys).
  return `SELECT count(*)::integer AS n FROM (SELECT 1 FROM (${parts.join(" UNION ALL ")}) u LIMIT ${limit}) c
           WHERE $1::timestamptz IS NOT NULL`;
}

const DELIVERED = "b.state = 'delivered'";
const BOUND_OF_ID = /^b\.id (?:<|>=) /;

/**
 * The delivered rows of tenants, counted without reading them: all archived rows of the tenants (to `limit`) and the cancelled ones
 * among them (to `cancelledLimit`), both from indexes; every archived row is one or the other. One row: `n`, `cancelled`.
 * @returns null when the filters ask for anything beside tenants and acceptance time
 */
export function deliveredText(
  plan: ListPlan,
  filter: ListFilter,
  limit: string,
  cancelledLimit: string,
  bind: Bind,
): string | null {
  const [source, ...others] = plan.sources;
  if (source === undefined || others.length > 0 || !source.terms.includes(DELIVERED)) return null;
  const terms = source.terms.filter((term) => term !== DELIVERED);
  if (filter.tenantIds === null || !terms.every((term) => BOUND_OF_ID.test(term))) return null;
  const keys = keysOf(filter, bind);
  const table = TABLES[source.table];
  const counted = (more: string[], most: string) =>
    `(SELECT count(*)::integer FROM (SELECT 1 FROM ${partText("b.id", table, [...terms, ...more], keys, "", most)} u LIMIT ${most}) c)`;
  return `SELECT ${counted([], limit)} AS n, ${counted(["b.state = 'cancelled'"], cancelledLimit)} AS cancelled
           WHERE $1::timestamptz IS NOT NULL`;
}

/** What each part is read for one after the other, so that each is read along an index that begins with it. */
interface Keys {
  readonly rows: string;
  readonly terms: readonly string[];
}

/**
 * The keys of each table. The ended rows of one destination are all its tenant's, which was found by it: they are read along the index of
 * destinations alone. Asked for both, the planner takes the two for independent, expects a handful of rows, and sorts a hundred thousand.
 */
function keysOfTables(plan: ListPlan, filter: ListFilter, bind: Bind): (table: Table) => Keys | null {
  const alone = filter.destinationId !== null && filter.places === undefined;
  const keyed = (table: Table) => table === "live" || !alone;
  const keys = plan.sources.some(({ table }) => keyed(table)) ? keysOf(filter, bind) : null;
  return (table) => (keyed(table) ? keys : null);
}

/** Tenant by tenant where tenants are given, destination by destination where those are. */
function keysOf({ places, tenantIds }: ListFilter, bind: Bind): Keys | null {
  if (places !== undefined) {
    const tenants = bind(places.map((place) => place.tenantId));
    const destinations = bind(places.map((place) => place.destinationId));
    return {
      rows: `unnest(${tenants}::uuid[], ${destinations}::uuid[]) k(tenant_id, destination_id)`,
      terms: ["b.tenant_id = k.tenant_id", "b.destination_id = k.destination_id"],
    };
  }
  if (tenantIds === null) return null;
  return { rows: `unnest(${bind(tenantIds)}::uuid[]) k(tenant_id)`, terms: ["b.tenant_id = k.tenant_id"] };
}

function partText(
  columns: string,
  table: string,
  terms: readonly string[],
  keys: Keys | null,
  order: string,
  limit: string,
): string {
  const all = keys === null ? terms : [...keys.terms, ...terms];
  const where = all.length === 0 ? "" : ` WHERE ${all.join(" AND ")}`;
  const part = `SELECT ${columns} FROM ${table} b${where} ${order} LIMIT ${limit}`;
  if (keys === null) return `(${part})`;
  return `(SELECT p.* FROM ${keys.rows} CROSS JOIN LATERAL (${part}) p)`;
}

function afterTerm(order: ListOrder, after: Position, bind: Bind): string {
  if (order === "accepted" || after.at === undefined) return `b.id < ${bind(after.id)}::uuid`;
  const compare = order === "due" ? "<" : ">";
  return `(b.due_at, b.id) ${compare} (${bind(after.at)}::timestamptz, ${bind(after.id)}::uuid)`;
}
