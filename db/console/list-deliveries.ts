/**
 * One page of a region's deliveries, live, dead and archived together, newest first.
 * The order is that of the ids (UUIDv7: creation time), because every one of the three tables has it as an index.
 * Reads envelopes only, never a body.
 */
import type { DeliveryState, Lane, ServiceClass } from "#domain/delivery.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { BLOCKER_COLUMNS, BLOCKER_JOINS, type Blocker, type BlockerRow, blockersOf } from "./blockers.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

/** The most rows of one page. */
export const MAX_PAGE_ROWS = 100;
/** One key can stand for a delivery at each of several destinations. */
const MAX_DELIVERIES_OF_A_KEY = 100;
const PUBLIC_ID_SHAPE = /^dlv_[0-9a-f]{32}$/;
const TENANT_ID_SHAPE = /^ten_[0-9a-f]{32}$/;

export interface DeliveryFilter {
  region: Region;
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...` */
  destination?: string | undefined;
  state?: DeliveryState | undefined;
  class?: ServiceClass | undefined;
  /** A delivery id or an idempotency key, exact. */
  q?: string | undefined;
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
  lastOutcome: string | null;
  lastStatus: number | null;
  createdAt: string;
  dueAt: string;
  finishedAt: string | null;
  /** Named only for a waiting delivery that is due: what holds it. */
  held: Blocker[];
}

export interface DeliveryPage {
  rows: DeliveryRow[];
  /** Cursor of the next page, null on the last one. */
  next: string | null;
}

/**
 * Reads one page of what the scope covers.
 * @throws SluiceError `not_found` for a region outside the scope, `bad_cursor`, `bad_id`; `invalid_query` is the edge's.
 */
export async function listDeliveries(
  access: AccessScope,
  filter: DeliveryFilter,
): Promise<RegionAnswer<DeliveryPage>> {
  const tenantIds = tenantsIn(access, filter.region);
  const where = conditionsOf(filter);
  return readRegion(filter.region, async (sql, asOf) => {
    const ids = await searchedIds(sql, filter.q);
    const { text, values } = pageStatement(filter, where, asOf, ids, tenantIds);
    const found = await sql<PageRow>(text, values);
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map((row) => toRow(row, asOf)),
      next: found.length > filter.limit && last ? writeCursor({ id: last.id }) : null,
    };
  });
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

type Conditions = { column: string; cast: string; value: string }[];

function conditionsOf(filter: DeliveryFilter): {
  before: string | null;
  conditions: Conditions;
  slug: string | null;
} {
  const conditions: Conditions = [];
  let slug: string | null = null;
  if (filter.tenant !== undefined) {
    if (TENANT_ID_SHAPE.test(filter.tenant)) {
      conditions.push({ column: "tenant_id", cast: "uuid", value: fromPublicId("ten", filter.tenant) });
    } else slug = filter.tenant;
  }
  if (filter.destination !== undefined) {
    conditions.push({
      column: "destination_id",
      cast: "uuid",
      value: fromPublicId("dst", filter.destination),
    });
  }
  if (filter.class !== undefined) {
    conditions.push({ column: "service_class", cast: "sluice.service_class", value: filter.class });
  }
  return { before: filter.cursor === undefined ? null : readCursor(filter.cursor).id, conditions, slug };
}

const SHARED_COLUMNS = `b.id, b.tenant_id, b.destination_id, b.event_type, b.service_class, b.attempts,
  b.last_outcome, b.last_status, b.created_at, b.due_at, b.replay_batch_id`;

/** The three tables that hold deliveries, each with the columns that it names in its own way. */
const BRANCHES = {
  live: `SELECT ${SHARED_COLUMNS}, b.state::text AS state, b.lane::text AS lane, NULL::text AS reason,
           NULL::timestamptz AS finished_at FROM sluice.delivery b`,
  dead: `SELECT ${SHARED_COLUMNS}, 'dead' AS state, NULL AS lane, b.reason, b.died_at AS finished_at FROM sluice.dead_letter b`,
  archived: `SELECT ${SHARED_COLUMNS}, b.state, NULL AS lane, b.reason, b.finished_at FROM sluice.delivery_archive b`,
} as const;

function pageStatement(
  filter: DeliveryFilter,
  where: ReturnType<typeof conditionsOf>,
  asOf: Date,
  ids: string[] | null,
  tenantIds: TenantScope,
): { text: string; values: unknown[] } {
  const values: unknown[] = [asOf, filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = where.conditions.map(({ column, cast, value }) => `b.${column} = ${bind(value)}::${cast}`);
  if (tenantIds !== null) terms.push(`b.tenant_id = ANY (${bind(tenantIds)}::uuid[])`);
  if (where.slug !== null)
    terms.push(`b.tenant_id = (SELECT id FROM sluice.tenant WHERE slug = ${bind(where.slug)})`);
  if (where.before !== null) terms.push(`b.id < ${bind(where.before)}::uuid`);
  if (ids !== null) terms.push(`b.id = ANY (${bind(ids)}::uuid[])`);
  const branches = branchesFor(filter.state).map(({ branch, state }) => {
    const all = state === null ? terms : [...terms, stateTerm(branch, bind(state))];
    const condition = all.length > 0 ? ` WHERE ${all.join(" AND ")}` : "";
    return `SELECT * FROM (${BRANCHES[branch]}${condition} ORDER BY b.id DESC LIMIT $2) ${branch}`;
  });
  const text = `
    WITH d AS MATERIALIZED (SELECT * FROM (${branches.join(" UNION ALL ")}) u ORDER BY id DESC LIMIT $2)
    SELECT d.*, ${NAME_COLUMNS}, ${BLOCKER_COLUMNS} FROM d ${BLOCKER_JOINS} ORDER BY d.id DESC LIMIT $2`;
  return { text, values };
}

function branchesFor(
  state: DeliveryState | undefined,
): { branch: keyof typeof BRANCHES; state: string | null }[] {
  switch (state) {
    case undefined:
      return [
        { branch: "live", state: null },
        { branch: "dead", state: null },
        { branch: "archived", state: null },
      ];
    case "dead":
      return [{ branch: "dead", state: null }];
    case "delivered":
    case "cancelled":
      return [{ branch: "archived", state }];
    default:
      return [{ branch: "live", state }];
  }
}

function stateTerm(branch: keyof typeof BRANCHES, parameter: string): string {
  return branch === "live" ? `b.state = ${parameter}::sluice.delivery_state` : `b.state = ${parameter}`;
}

interface PageRow extends NameRow, BlockerRow {
  id: string;
  event_type: string;
  service_class: ServiceClass;
  attempts: number;
  last_outcome: string | null;
  last_status: number | null;
  created_at: Date;
  due_at: Date;
  state: DeliveryState;
  lane: Lane | null;
  reason: string | null;
  finished_at: Date | null;
}

function toRow(row: PageRow, asOf: Date): DeliveryRow {
  const due = row.due_at.getTime() <= asOf.getTime();
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
    lastOutcome: row.last_outcome,
    lastStatus: row.last_status,
    createdAt: row.created_at.toISOString(),
    dueAt: row.due_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    held: due ? blockersOf(row, asOf) : [],
  };
}
