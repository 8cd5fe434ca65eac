/** Release, the reconciler's two passes, and what they leave behind, over the simulated tables. */
import { type ExpiredLeases, MAX_RECONCILE_ROWS } from "#db/queue/reconcile.ts";
import { LANES, MAX_LOST_LEASES, SERVICE_CLASSES } from "#domain/delivery.ts";
import { byDue } from "./claim-rows.ts";
import { endRow } from "./end-row.ts";
import type { Database, DeliveryRow } from "./tables.ts";

const NO_LEASE = { leaseToken: null, leaseUntilUs: null, leasedAtUs: null, leasedBy: null };

/** Nothing of these was sent: they take their former state. */
export function releaseRows({ tables }: Database, ids: readonly string[], token: string): number {
  let released = 0;
  for (const id of new Set(ids)) {
    const row = tables.deliveries.get(id);
    if (row === undefined || row.leaseToken !== token) continue;
    Object.assign(row, NO_LEASE, { state: row.attempts === 0 && row.lane === "first" ? "ready" : "delayed" });
    released += 1;
  }
  return released;
}

/** Expired leases wait again, in the same lane; the third lost in a row ends the delivery as worker_lost. */
export function expireLeases(database: Database): ExpiredLeases {
  const { tables } = database;
  const nowUs = database.nowUs();
  const lost = [...tables.deliveries.values()]
    .filter((row) => row.state === "leased" && (row.leaseUntilUs as number) < nowUs)
    .sort((a, b) => (a.leaseUntilUs as number) - (b.leaseUntilUs as number))
    .slice(0, MAX_RECONCILE_ROWS);
  let dead = 0;
  for (const row of lost) {
    const dies = row.lostLeases + 1 >= MAX_LOST_LEASES;
    tables.attempts.push({
      deliveryId: row.id,
      kind: "lease_expired",
      number: row.attempts + 1,
      leaseToken: row.leaseToken as string,
      lane: row.lane,
      outcome: "lease_expired",
      decision: dies ? "dead" : "delayed",
      reason: dies ? "worker_lost" : null,
      status: null,
      nextDueUs: dies ? null : row.dueUs,
      recordedUs: nowUs,
    });
    const changes = {
      attempts: row.attempts + 1,
      lostLeases: row.lostLeases + 1,
      lastOutcome: "lease_expired",
      lastStatus: null,
    };
    if (dies) {
      dead += 1;
      tables.deliveries.delete(row.id);
      tables.ended.set(row.id, endRow(row, "dead", "worker_lost", changes));
    } else {
      Object.assign(row, NO_LEASE, { state: "delayed" }, changes);
    }
  }
  return { returned: lost.length - dead, dead };
}

/** Waiting rows of deleted destinations and tenants are cancelled, a chunk at a time. */
export function cancelRows({ tables }: Database): number {
  const doomed: DeliveryRow[] = [];
  for (const destination of tables.destinations.values()) {
    const tenant = tables.tenants.get(destination.tenantId);
    if (destination.deletedAtUs === null && (tenant?.deletedAtUs ?? null) === null) continue;
    for (const row of tables.deliveries.values()) {
      if (row.state !== "leased" && row.destinationId === destination.id) doomed.push(row);
    }
  }
  const chunk = doomed.sort(byLane).slice(0, MAX_RECONCILE_ROWS);
  for (const row of chunk) {
    tables.deliveries.delete(row.id);
    tables.ended.set(row.id, endRow(row, "cancelled", "destination_deleted"));
  }
  return chunk.length;
}

function byLane(a: DeliveryRow, b: DeliveryRow): number {
  return (
    LANES.indexOf(a.lane) - LANES.indexOf(b.lane) ||
    SERVICE_CLASSES.indexOf(a.serviceClass) - SERVICE_CLASSES.indexOf(b.serviceClass) ||
    byDue(a, b)
  );
}
