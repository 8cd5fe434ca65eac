/** The reads by which a worker finds lanes and the next moment, over the simulated tables. */
import {
  type FirstPage,
  MAX_RECENT_ROWS,
  MAX_WALK_LANES,
  type RecentLanes,
  WALK_START,
  type WalkPage,
  type WalkPosition,
} from "#db/queue/discover.ts";
import type { LaneHead } from "#db/queue/types.ts";
import { LANES, type Lane, SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import type { Us } from "#sim/scheduler.ts";
import { byDue } from "./claim-rows.ts";
import type { Database, DeliveryRow, Tables } from "./tables.ts";
import { fromMs, toFloatMs } from "./time.ts";

/** Lanes of the rows that became due in (since, now]. */
export function findRecent({ tables, nowUs: clock }: Database, sinceMs: number): RecentLanes {
  const nowUs = clock();
  const sinceUs = fromMs(sinceMs);
  const heads = new Map<string, LaneHead>();
  let cutUs = Number.POSITIVE_INFINITY;
  const due = waitingRows(tables).filter((row) => row.dueUs > sinceUs && row.dueUs <= nowUs);
  for (const lane of LANES) {
    for (const serviceClass of SERVICE_CLASSES) {
      const rows = due.filter((row) => row.lane === lane && row.serviceClass === serviceClass).sort(byDue);
      for (const row of rows.slice(0, MAX_RECENT_ROWS)) {
        const key = keyOf(row);
        if (!heads.has(key)) heads.set(key, headOf(row));
      }
      cutUs = Math.min(cutUs, rows[MAX_RECENT_ROWS - 1]?.dueUs ?? cutUs);
    }
  }
  return {
    nowMs: toFloatMs(nowUs),
    heads: [...heads.values()],
    readUpToMs: toFloatMs(Math.min(cutUs, nowUs)),
  };
}

/** One page of the walk over all lanes of a kind, in the order of (tenant, destination). */
export function walkPage(
  { tables, nowUs: clock }: Database,
  lane: Lane,
  serviceClass: ServiceClass,
  from: WalkPosition,
): WalkPage {
  const nowUs = clock();
  const lanes = new Map<string, DeliveryRow>();
  const start = from.tenantId + from.destinationId;
  for (const row of waitingRows(tables)) {
    if (row.lane !== lane || row.serviceClass !== serviceClass) continue;
    const key = row.tenantId + row.destinationId;
    if (key <= start) continue;
    const known = lanes.get(key);
    if (known === undefined || row.dueUs < known.dueUs) lanes.set(key, row);
  }
  const page = [...lanes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_WALK_LANES);
  const last = page.at(-1)?.[1];
  const full = page.length >= MAX_WALK_LANES && last !== undefined;
  return {
    heads: page.filter(([, row]) => row.dueUs <= nowUs).map(([, row]) => headOf(row)),
    lanes: page.length,
    next: full ? { tenantId: last.tenantId, destinationId: last.destinationId } : null,
  };
}

/** The first page of every kind. */
export function walkAll(database: Database): FirstPage[] {
  return LANES.flatMap((lane) =>
    SERVICE_CLASSES.map((serviceClass) => ({
      lane,
      serviceClass,
      ...walkPage(database, lane, serviceClass, WALK_START),
    })),
  );
}

/** The first moment after now at which the clock alone makes something claimable. */
export function findNextDue({ tables, nowUs: clock }: Database): { nowMs: number; nextMs: number | null } {
  const nowUs = clock();
  let next = Number.POSITIVE_INFINITY;
  const offer = (us: Us | null) => {
    if (us !== null && us > nowUs) next = Math.min(next, us);
  };
  const waiting = waitingRows(tables);
  for (const row of waiting) offer(row.dueUs);
  for (const moment of openings(tables, waiting, nowUs)) offer(moment);
  for (const tenant of tables.tenants.values()) offer(tenant.pauseUntilUs);
  for (const destination of tables.destinations.values()) offer(destination.pauseUntilUs);
  return { nowMs: toFloatMs(nowUs), nextMs: next === Number.POSITIVE_INFINITY ? null : toFloatMs(next) };
}

/** When gates open, and when open breakers may ask, where something waits for that. */
function openings(tables: Tables, waiting: readonly DeliveryRow[], nowUs: Us): Us[] {
  const moments: Us[] = [];
  for (const [destinationId, state] of tables.states) {
    const destination = tables.destinations.get(destinationId);
    if (destination === undefined) continue;
    for (const openUs of [state.holdUntilUs, state.breaker === "open" ? state.breakerUntilUs : null]) {
      if (openUs === null || openUs <= nowUs) continue;
      const waits = waiting.some(
        (row) =>
          row.destinationId === destinationId && row.tenantId === destination.tenantId && row.dueUs <= openUs,
      );
      if (waits) moments.push(openUs);
    }
  }
  return moments;
}

function waitingRows(tables: Tables): DeliveryRow[] {
  const rows: DeliveryRow[] = [];
  for (const row of tables.deliveries.values()) if (row.state !== "leased") rows.push(row);
  return rows;
}

function headOf({ lane, serviceClass, tenantId, destinationId, dueUs }: DeliveryRow): LaneHead {
  return { lane, serviceClass, tenantId, destinationId, dueMs: toFloatMs(dueUs) };
}

function keyOf({ lane, serviceClass, tenantId, destinationId }: DeliveryRow): string {
  return `${lane}${serviceClass}${tenantId}${destinationId}`;
}
