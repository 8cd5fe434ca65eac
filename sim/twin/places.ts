/** The tenants, destinations, workers and the replay batch of a script, on both sides. */
import { insertBatch, insertDestination, insertTenant, insertWorker } from "./sql.ts";
import type { Twin } from "./twin.ts";

export interface Places {
  readonly workers: readonly string[];
  readonly batchId: string;
}

export async function furnish(twin: Twin): Promise<Places> {
  const { random, tables, pool } = twin;
  const free = {
    pausedAtUs: null,
    pauseUntilUs: null,
    resumedAtUs: null,
    resumeShare: null,
    deletedAtUs: null,
    limitsChangedAtUs: 0,
  };
  for (let t = random.int(1, 3); t > 0; t--) {
    const tenant = {
      id: twin.uuid(),
      weight: random.int(1, 5),
      concurrencyLimit: random.pick([null, 1, 3, 9]),
      claimOwner: "sluice",
      ...free,
    };
    tables.tenants.set(tenant.id, tenant);
    await insertTenant(pool, tenant);
    for (let d = random.int(1, 2); d > 0; d--) {
      const rated = random.chance(0.5);
      const destination = {
        id: twin.uuid(),
        tenantId: tenant.id,
        url: "https://d.example.com/hook",
        version: 1,
        concurrencyLimit: random.pick([null, 1, 2, 7, 33]),
        ratePerSecond: rated ? random.pick([0.1, 1, 3, 7.5, 33.333, 1_000]) : null,
        rateBurst: rated ? random.pick([1, 2, 10]) : 1,
        disabledAtUs: null,
        secretCurrent: Buffer.from("sealed"),
        policyOverride: null,
        ...free,
      };
      tables.destinations.set(destination.id, destination);
      await insertDestination(pool, destination);
    }
  }
  const workers = [twin.uuid(), twin.uuid()];
  for (const id of workers) {
    tables.workers.add(id);
    await insertWorker(pool, id);
  }
  const batchId = twin.uuid();
  tables.batches.set(batchId, "running");
  await insertBatch(pool, batchId);
  return { workers, batchId };
}
