/**
 * Finds lanes that have due rows, without locking and without counting. What it returns may be stale the moment it
 * is read: the claim decides. It must never read more than its limits, however many rows wait.
 */
import { LANES, type Lane, SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import type { LaneHead, Queryable } from "./types.ts";

/** Most rows that one look at the due times reads, for each lane and class. */
export const MAX_RECENT_ROWS = 512;
/** Most lanes that one page of a walk returns, for each lane and class. */
export const MAX_WALK_LANES = 2_000;

/** Every lane with every class, as a FROM item `k(lane, service_class)`: the waiting index begins with the two. */
export const LANES_AND_CLASSES = `(VALUES ('first'::sluice.lane, 'urgent'::sluice.service_class), ('first', 'routine'), ('retry', 'urgent'),
  ('retry', 'routine'), ('replay', 'urgent'), ('replay', 'routine')) AS k(lane, service_class)`;

interface HeadRow {
  lane: Lane;
  service_class: ServiceClass;
  tenant_id: string;
  destination_id: string;
  due_ms: number;
}

export interface RecentLanes {
  readonly nowMs: number;
  /** Lanes of the rows that became due after `sinceMs`; dueMs is the oldest of those. */
  readonly heads: LaneHead[];
  /** Everything that became due up to here was read; equal to nowMs unless a limit was met. */
  readonly readUpToMs: number;
}

// The rows that became due in (since, now], oldest first, for each lane and class. The subquery's now is one value for
// the whole statement, so it may be used in the index condition.
const RECENT = `
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
  row AS MATERIALIZED (
    SELECT k.lane, k.service_class, r.tenant_id, r.destination_id, r.due_at, r.nth
      FROM ${LANES_AND_CLASSES}
     CROSS JOIN LATERAL (
       SELECT d.tenant_id, d.destination_id, d.due_at, row_number() OVER (ORDER BY d.due_at) AS nth
         FROM sluice.delivery d
        WHERE d.state <> 'leased' AND d.lane = k.lane AND d.service_class = k.service_class
          AND d.due_at > to_timestamp($1::float8 / 1000) AND d.due_at <= (SELECT now FROM clock)
        ORDER BY d.due_at LIMIT $2) r)
  SELECT lane, service_class, tenant_id, destination_id, (extract(epoch FROM min(due_at)) * 1000)::float8 AS due_ms,
         (SELECT (extract(epoch FROM now) * 1000)::float8 FROM clock) AS now_ms,
         (SELECT (extract(epoch FROM min(m.due_at)) * 1000)::float8 FROM row m WHERE m.nth = $2) AS cut_ms
    FROM row GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, (SELECT (extract(epoch FROM now) * 1000)::float8 FROM clock), NULL`;

/** Lanes of rows whose due time fell into (sinceMs, now]. Cheap when little became due: one short index range each. */
export async function recentLanes(
  pool: Queryable,
  sinceMs: number,
  limit = MAX_RECENT_ROWS,
): Promise<RecentLanes> {
  const result = await pool.query<HeadRow & { lane: Lane | null; now_ms: number; cut_ms: number | null }>({
    name: "sluice-recent-lanes",
    text: RECENT,
    values: [sinceMs, limit],
  });
  const nowMs = result.rows[0]?.now_ms ?? sinceMs;
  const cuts = result.rows.map((row) => row.cut_ms).filter((cut) => cut !== null);
  return {
    nowMs,
    heads: result.rows.filter((row) => row.lane !== null).map(toHead),
    readUpToMs: cuts.length === 0 ? nowMs : Math.min(...cuts),
  };
}

export interface WalkPosition {
  readonly tenantId: string;
  readonly destinationId: string;
}

/** Where a walk begins: below every id. */
export const WALK_START: WalkPosition = {
  tenantId: "00000000-0000-0000-0000-000000000000",
  destinationId: "00000000-0000-0000-0000-000000000000",
};

export interface WalkPage {
  /** Lanes whose oldest row is due. */
  readonly heads: LaneHead[];
  /** Lanes seen, due or not. */
  readonly lanes: number;
  /** Where the next page begins, or null at the end. */
  readonly next: WalkPosition | null;
}

// A loose index scan: one index descent for each lane, 10-15 us, whatever its depth. Of the lanes that are not due only the last one is
// answered, for the count and for where the next page begins: with a million planned deliveries they would be all that is read.
const walkFrom = (lane: string, serviceClass: string, tenant: string, destination: string, limit: string) => `
  WITH RECURSIVE walk AS (
    (SELECT d.tenant_id, d.destination_id, d.due_at, 1 AS nth FROM sluice.delivery d
      WHERE d.state <> 'leased' AND d.lane = ${lane} AND d.service_class = ${serviceClass}
        AND (d.tenant_id, d.destination_id) > (${tenant}::uuid, ${destination}::uuid)
      ORDER BY d.tenant_id, d.destination_id, d.due_at LIMIT 1)
    UNION ALL
    SELECT n.tenant_id, n.destination_id, n.due_at, w.nth + 1 FROM walk w CROSS JOIN LATERAL (
      SELECT d.tenant_id, d.destination_id, d.due_at FROM sluice.delivery d
       WHERE d.state <> 'leased' AND d.lane = ${lane} AND d.service_class = ${serviceClass}
         AND (d.tenant_id, d.destination_id) > (w.tenant_id, w.destination_id)
       ORDER BY d.tenant_id, d.destination_id, d.due_at LIMIT 1) n
     WHERE w.nth < ${limit})
  SELECT tenant_id, destination_id, (extract(epoch FROM due_at) * 1000)::float8 AS due_ms, due, nth
    FROM (SELECT w.*, w.due_at <= clock_timestamp() AS due FROM walk w OFFSET 0) w
   WHERE due OR nth = (SELECT max(m.nth) FROM walk m) ORDER BY nth`;

const WALK = walkFrom("$1::sluice.lane", "$2::sluice.service_class", "$3", "$4", "$5");

/** One page of the walk over all lanes of a lane kind and class, in the order of (tenant, destination). */
export async function walkLanes(
  pool: Queryable,
  lane: Lane,
  serviceClass: ServiceClass,
  from: WalkPosition,
  limit = MAX_WALK_LANES,
): Promise<WalkPage> {
  const result = await pool.query<WalkRow>({
    name: "sluice-walk-lanes",
    text: WALK,
    values: [lane, serviceClass, from.tenantId, from.destinationId, limit],
  });
  return toPage(result.rows, lane, serviceClass, limit);
}

/** The first page of one lane kind and class. */
export interface FirstPage extends WalkPage {
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
}

const WALK_ALL = `
  SELECT k.lane, k.service_class, w.* FROM ${LANES_AND_CLASSES} CROSS JOIN LATERAL (${walkFrom("k.lane", "k.service_class", "$1", "$2", "$3")}) w`;

/** The first pages of the walks over all lane kinds and classes, in one statement: an idle region has nothing behind them. */
export async function walkAllLanes(pool: Queryable, limit = MAX_WALK_LANES): Promise<FirstPage[]> {
  const { rows } = await pool.query<WalkRow & Pick<HeadRow, "lane" | "service_class">>({
    name: "sluice-walk-all-lanes",
    text: WALK_ALL,
    values: [WALK_START.tenantId, WALK_START.destinationId, limit],
  });
  return LANES.flatMap((lane) =>
    SERVICE_CLASSES.map((serviceClass) => {
      const own = rows.filter((row) => row.lane === lane && row.service_class === serviceClass);
      return { lane, serviceClass, ...toPage(own, lane, serviceClass, limit) };
    }),
  );
}

type WalkRow = Omit<HeadRow, "lane" | "service_class"> & { readonly due: boolean; readonly nth: number };

function toPage(rows: readonly WalkRow[], lane: Lane, serviceClass: ServiceClass, limit: number): WalkPage {
  const last = rows.at(-1);
  const lanes = last?.nth ?? 0;
  const full = lanes >= limit && last !== undefined;
  return {
    heads: rows.filter((row) => row.due).map((row) => toHead({ ...row, lane, service_class: serviceClass })),
    lanes,
    next: full ? { tenantId: last.tenant_id, destinationId: last.destination_id } : null,
  };
}

function toHead(row: HeadRow): LaneHead {
  return {
    lane: row.lane,
    serviceClass: row.service_class,
    tenantId: row.tenant_id,
    destinationId: row.destination_id,
    dueMs: row.due_ms,
  };
}

// Whether something waits for this moment of a destination's state. The inner ORDER BY asks for the waiting index: by due
// time alone a gate with nothing behind it would read the rows of all others.
const nextOpening = (moment: string, isShut: string) => `
  (SELECT ${moment} FROM sluice.destination_state s JOIN sluice.destination x ON x.id = s.destination_id
    WHERE ${isShut} AND ${moment} > (SELECT now FROM clock)
      AND EXISTS (SELECT 1 FROM ${LANES_AND_CLASSES}
        CROSS JOIN LATERAL (SELECT 1 FROM sluice.delivery d
          WHERE d.state <> 'leased' AND d.lane = k.lane AND d.service_class = k.service_class
            AND d.tenant_id = x.tenant_id AND d.destination_id = x.id AND d.due_at <= ${moment}
          ORDER BY d.due_at, d.id LIMIT 1) w)
    ORDER BY ${moment} LIMIT 1)`;

// The first moment after now at which something becomes claimable by the clock alone: a due time, the opening of a gate or
// the question that an open breaker may ask, where something waits for it, the end of a pause.
const NEXT_DUE = `
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
  SELECT (SELECT (extract(epoch FROM now) * 1000)::float8 FROM clock) AS now_ms,
         (extract(epoch FROM least(
           (SELECT min(r.due_at) FROM ${LANES_AND_CLASSES}
             CROSS JOIN LATERAL (SELECT d.due_at FROM sluice.delivery d
               WHERE d.state <> 'leased' AND d.lane = k.lane AND d.service_class = k.service_class
                 AND d.due_at > (SELECT now FROM clock) ORDER BY d.due_at LIMIT 1) r),
           ${nextOpening("s.hold_until", "true")},
           ${nextOpening("s.breaker_until", "s.breaker = 'open'")},
           (SELECT min(t.pause_until) FROM sluice.tenant t WHERE t.paused_at IS NOT NULL AND t.pause_until > (SELECT now FROM clock)),
           (SELECT min(x.pause_until) FROM sluice.destination x WHERE x.paused_at IS NOT NULL AND x.pause_until > (SELECT now FROM clock))
         )) * 1000)::float8 AS next_ms`;

/** Database time now, and the next moment at which the clock alone makes something claimable (null: none). */
export async function nextDue(pool: Queryable): Promise<{ nowMs: number; nextMs: number | null }> {
  const result = await pool.query<{ now_ms: number; next_ms: number | null }>({
    name: "sluice-next-due",
    text: NEXT_DUE,
  });
  const row = result.rows[0];
  if (row === undefined) throw new Error("the next due time was not answered");
  return { nowMs: row.now_ms, nextMs: row.next_ms };
}
