/** How many unexpired leases each destination and tenant has, counted once for a claim. */
import type { Us } from "#sim/scheduler.ts";
import { rampOf } from "./resume-ramp.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

interface Count {
  n: number;
  /** Of them, due before the resume of a ramp that still runs. */
  old: number;
}

export interface Leases {
  of(tenantId: string, destinationId: string): Readonly<Count>;
  ofTenant(tenantId: string): Readonly<Count>;
  /** Rows with a lost lease that the asking process holds. */
  readonly suspects: number;
}

const NONE: Readonly<Count> = { n: 0, old: 0 };

export function countLeases(tables: Tables, nowUs: Us, workerId: string): Leases {
  const own = new Map<string, Count>();
  const tenants = new Map<string, Count>();
  let suspects = 0;
  for (const row of tables.deliveries.values()) {
    if (row.state !== "leased" || (row.leaseUntilUs as Us) <= nowUs) continue;
    const old = isOld(tables, row, nowUs) ? 1 : 0;
    add(own, row.tenantId + row.destinationId, old);
    add(tenants, row.tenantId, old);
    if (row.leasedBy === workerId && row.lostLeases > 0) suspects += 1;
  }
  return {
    of: (tenantId, destinationId) => own.get(tenantId + destinationId) ?? NONE,
    ofTenant: (tenantId) => tenants.get(tenantId) ?? NONE,
    suspects,
  };
}

function isOld(tables: Tables, row: DeliveryRow, nowUs: Us): boolean {
  const tenant = tables.tenants.get(row.tenantId);
  const destination = tables.destinations.get(row.destinationId);
  if (!tenant || destination?.tenantId !== row.tenantId) return false;
  const ramp = rampOf(tenant, destination, nowUs);
  return ramp !== null && row.dueUs < ramp.lineUs;
}

function add(counts: Map<string, Count>, key: string, old: number): void {
  const count = counts.get(key);
  if (count === undefined) counts.set(key, { n: 1, old });
  else {
    count.n += 1;
    count.old += old;
  }
}
