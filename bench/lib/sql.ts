/** Fills a bench database: one tenant, many destinations, deliveries that are due at once or wait. */
import { createHash, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { createKeyring, sealSecret } from "#db/secrets.ts";
import { uuidV7 } from "#domain/ids.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
export const BENCH_KEYRING = createKeyring({ keys: { bench: KEY }, current: "bench" });
export const BENCH_SECRET = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const CHUNK_ROWS = 5_000;

export interface BenchTenant {
  readonly tenantId: string;
  readonly destinationIds: readonly string[];
}

/** One tenant whose caps do not bind; each destination has its own path at the receiver. */
export async function makeBenchTenant(
  pool: Pool,
  receiverUrl: string,
  destinations: number,
): Promise<BenchTenant> {
  const nowMs = Date.now();
  const tenantId = uuidV7(nowMs, randomBytes);
  const destinationIds = Array.from({ length: destinations }, () => uuidV7(nowMs, randomBytes));
  await pool.query(
    `INSERT INTO sluice.tenant (id, region, slug, name, concurrency_limit)
     SELECT $1, region, $2, 'bench', 100000 FROM sluice.region_control`,
    [tenantId, `bench-${tenantId.slice(-8)}`],
  );
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, concurrency_limit, secret_current)
     SELECT i.id, rc.region, $2, 'bench ' || i.ord, $3 || '/ok/d' || i.ord, 100, $4
       FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord), sluice.region_control rc`,
    [destinationIds, tenantId, receiverUrl, sealSecret(BENCH_KEYRING, BENCH_SECRET)],
  );
  return { tenantId, destinationIds };
}

/** Inserts deliveries round robin over the destinations, all due now. */
export async function fillDeliveries(
  pool: Pool,
  tenant: BenchTenant,
  count: number,
  body: Buffer,
): Promise<void> {
  const hash = createHash("sha256").update(body).digest();
  for (let from = 0; from < count; from += CHUNK_ROWS) {
    const size = Math.min(CHUNK_ROWS, count - from);
    const nowMs = Date.now();
    const ids = Array.from({ length: size }, () => uuidV7(nowMs, randomBytes)).sort();
    const destinations = ids.map(
      (_, index) => tenant.destinationIds[(from + index) % tenant.destinationIds.length],
    );
    await pool.query(
      `WITH i AS MATERIALIZED (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS u(id, destination_id)),
       p AS (INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
             SELECT i.id, rc.region, $3, 'application/json', $4 FROM i, sluice.region_control rc),
       k AS (INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
             SELECT 'bench-' || i.id, i.destination_id, rc.region, i.id, $5 FROM i, sluice.region_control rc)
       INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class)
       SELECT i.id, rc.region, $6, i.destination_id, i.id, $4, 'bench.event', 'bench-' || i.id, 'routine' FROM i, sluice.region_control rc`,
      [ids, destinations, body, body.length, hash, tenant.tenantId],
    );
  }
}

/** Stops or allows claims of the region, so that a run begins at a known moment. */
export async function setDraining(pool: Pool, draining: boolean): Promise<void> {
  await pool.query("UPDATE sluice.region_control SET draining = $1, drain_reason = 'bench'", [draining]);
  await pool.query("SELECT sluice.barrier()");
  await pool.query("NOTIFY sluice_wake");
}

export async function anyLeft(pool: Pool): Promise<boolean> {
  const result = await pool.query<{ left: boolean }>("SELECT EXISTS (SELECT 1 FROM sluice.delivery) AS left");
  return result.rows[0]?.left ?? true;
}

/** Empties the tables of the run before, so that rounds are alike. */
export async function clearRun(pool: Pool): Promise<void> {
  await pool.query(
    "TRUNCATE sluice.delivery, sluice.payload, sluice.delivery_key, sluice.attempt, sluice.delivery_archive",
  );
  await pool.query("CHECKPOINT");
}
