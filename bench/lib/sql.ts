/** Fills a bench database with tenants, destinations and deliveries, and asks it the few things that a run must know. */
import { createHash, randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { createKeyring, sealSecret } from "#db/secrets.ts";
import { uuidV7 } from "#domain/ids.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
export const BENCH_KEYRING = createKeyring({ keys: { bench: KEY }, current: "bench" });
export const BENCH_SECRET = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const CHUNK_ROWS = 5_000;
/** Limits that do not bind. */
const WIDE_TENANT = 100_000;
const WIDE_DESTINATION = 100;

export interface BenchTenant {
  readonly tenantId: string;
  readonly destinationIds: readonly string[];
}

export interface DestinationSpec {
  /** Path and query at the receiver; the name in it is the destination's there. */
  readonly path: string;
  readonly concurrency?: number;
  readonly ratePerSecond?: number;
  readonly rateBurst?: number;
}

export interface TenantSpec {
  readonly destinations: readonly DestinationSpec[];
  readonly weight?: number;
  readonly concurrency?: number;
}

export interface FillOptions {
  readonly serviceClass?: "urgent" | "routine";
  /** Milliseconds from now until the n-th is due; 0 for all when absent. */
  readonly dueInMs?: (index: number) => number;
}

/** One tenant whose caps do not bind; each destination has its own path at the receiver: /ok/d1, /ok/d2... */
export function makeBenchTenant(pool: Pool, receiverUrl: string, destinations: number): Promise<BenchTenant> {
  const specs = Array.from({ length: destinations }, (_, index) => ({ path: `/ok/d${index + 1}` }));
  return makeTenant(pool, receiverUrl, { destinations: specs });
}

/** A tenant with its destinations; without a limit of its own a row gets one that does not bind. */
export async function makeTenant(pool: Pool, receiverUrl: string, spec: TenantSpec): Promise<BenchTenant> {
  const nowMs = Date.now();
  const tenantId = uuidV7(nowMs, randomBytes);
  const destinationIds = spec.destinations.map(() => uuidV7(nowMs, randomBytes));
  await pool.query(
    `INSERT INTO sluice.tenant (id, region, slug, name, weight, concurrency_limit)
     SELECT $1, region, $2, 'bench', $3, $4 FROM sluice.region_control`,
    [tenantId, `bench-${tenantId}`, spec.weight ?? 1, spec.concurrency ?? WIDE_TENANT],
  );
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, concurrency_limit, rate_per_second, rate_burst, secret_current)
     SELECT i.id, rc.region, $2, 'bench ' || i.ord, $3 || i.path, i.concurrency, i.rate, i.burst, $4
       FROM unnest($1::uuid[], $5::text[], $6::integer[], $7::numeric[], $8::integer[])
              WITH ORDINALITY AS i(id, path, concurrency, rate, burst, ord), sluice.region_control rc`,
    [
      destinationIds,
      tenantId,
      receiverUrl,
      sealSecret(BENCH_KEYRING, BENCH_SECRET),
      spec.destinations.map(({ path }) => path),
      spec.destinations.map(({ concurrency }) => concurrency ?? WIDE_DESTINATION),
      spec.destinations.map(({ ratePerSecond }) => ratePerSecond ?? null),
      spec.destinations.map(({ rateBurst }) => rateBurst ?? 1),
    ],
  );
  await pool.query("ANALYZE sluice.tenant, sluice.destination");
  return { tenantId, destinationIds };
}

/** Inserts deliveries round robin over the destinations. Returns their ids. */
export async function fillDeliveries(
  pool: Pool | PoolClient,
  tenant: BenchTenant,
  count: number,
  body: Buffer,
  options: FillOptions = {},
): Promise<string[]> {
  const hash = createHash("sha256").update(body).digest();
  const all: string[] = [];
  for (let from = 0; from < count; from += CHUNK_ROWS) {
    const size = Math.min(CHUNK_ROWS, count - from);
    const nowMs = Date.now();
    const ids = Array.from({ length: size }, () => uuidV7(nowMs, randomBytes)).sort();
    const destinations = ids.map(
      (_, index) => tenant.destinationIds[(from + index) % tenant.destinationIds.length],
    );
    const dueInMs = ids.map((_, index) => options.dueInMs?.(from + index) ?? 0);
    await pool.query(
      `WITH i AS MATERIALIZED (
         SELECT u.*, clock_timestamp() + u.due_in_ms * interval '1 millisecond' AS due_at
           FROM unnest($1::uuid[], $2::uuid[], $7::float8[]) AS u(id, destination_id, due_in_ms)),
       p AS (INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
             SELECT i.id, rc.region, $3, 'application/json', $4 FROM i, sluice.region_control rc),
       k AS (INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
             SELECT 'bench-' || i.id, i.destination_id, rc.region, i.id, $5 FROM i, sluice.region_control rc)
       INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
                                    service_class, first_due_at, due_at)
       SELECT i.id, rc.region, $6, i.destination_id, i.id, $4, 'bench.event', 'bench-' || i.id, $8::sluice.service_class, i.due_at, i.due_at
         FROM i, sluice.region_control rc`,
      [
        ids,
        destinations,
        body,
        body.length,
        hash,
        tenant.tenantId,
        dueInMs,
        options.serviceClass ?? "routine",
      ],
    );
    all.push(...ids);
  }
  return all;
}

/** Stops or allows claims of the region, so that a run begins at a known moment. */
export async function setDraining(pool: Pool, draining: boolean): Promise<void> {
  await pool.query("UPDATE sluice.region_control SET draining = $1, drain_reason = 'bench'", [draining]);
  await pool.query("SELECT sluice.barrier()");
  await pool.query("NOTIFY sluice_wake");
}

/**
 * Writes deliveries, due now, in a transaction that is left open: nobody sees them until the function that comes back
 * commits it and tells the workers. So a run begins at a known moment, with everything in place.
 */
export async function holdDeliveries(
  pool: Pool,
  tenant: BenchTenant,
  count: number,
  body: Buffer,
): Promise<() => Promise<void>> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await fillDeliveries(client, tenant, count, body);
    await client.query("ANALYZE sluice.delivery, sluice.payload");
  } catch (error) {
    client.release(true);
    throw error;
  }
  return async () => {
    try {
      await client.query("COMMIT");
      await client.query("NOTIFY sluice_wake");
    } finally {
      client.release();
    }
  };
}

/** Tells the workers that there is something, as the outbox does after a commit. */
export async function hint(pool: Pool): Promise<void> {
  await pool.query("NOTIFY sluice_wake");
}

/** Whether a delivery is due now or leased. What waits for later does not count. */
export async function anyDue(pool: Pool): Promise<boolean> {
  const result = await pool.query<{ due: boolean }>(
    // In the order of an index each: without one a million rows that wait for later are read with every look.
    `SELECT (SELECT d.lease_until FROM sluice.delivery d WHERE d.state = 'leased' ORDER BY d.lease_until LIMIT 1) IS NOT NULL
         OR EXISTS (SELECT 1 FROM (VALUES ('first'::sluice.lane), ('retry'), ('replay')) AS l(lane)
                      CROSS JOIN (VALUES ('urgent'::sluice.service_class), ('routine')) AS c(class)
                      CROSS JOIN LATERAL (SELECT 1 FROM sluice.delivery d WHERE d.state <> 'leased' AND d.lane = l.lane
                        AND d.service_class = c.class AND d.due_at <= clock_timestamp() ORDER BY d.due_at LIMIT 1) w) AS due`,
  );
  return result.rows[0]?.due ?? true;
}

/** Live deliveries of a tenant, waiting ones that are due now among them. */
export async function countLive(pool: Pool, tenantId: string): Promise<{ live: number; due: number }> {
  const result = await pool.query<{ live: number; due: number }>(
    `SELECT count(*)::integer AS live, count(*) FILTER (WHERE state <> 'leased' AND due_at <= clock_timestamp())::integer AS due
       FROM sluice.delivery WHERE tenant_id = $1`,
    [tenantId],
  );
  return result.rows[0] ?? { live: 0, due: 0 };
}

/** Empties the tables of the run before. */
export async function clearRun(pool: Pool): Promise<void> {
  await pool.query(
    `TRUNCATE sluice.delivery, sluice.payload, sluice.delivery_key, sluice.attempt, sluice.delivery_archive,
              sluice.destination_state, sluice.destination_rate`,
  );
}

/** Statistics of the hot table after a big change. */
export async function analyze(pool: Pool): Promise<void> {
  await pool.query("ANALYZE sluice.delivery");
}

/** So that none falls into the next run, and each run pays for its first touch of a page alike. */
export async function checkpoint(pool: Pool): Promise<void> {
  await pool.query("CHECKPOINT");
}

/** Bytes of write-ahead log that the server has written up to now. */
export async function walBytes(pool: Pool): Promise<number> {
  const result = await pool.query<{ bytes: string }>(
    "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text AS bytes",
  );
  return Number(result.rows[0]?.bytes ?? Number.NaN);
}

/** Whether a session of a worker is still open here. */
export async function anyWorkerSession(pool: Pool): Promise<boolean> {
  const result = await pool.query<{ open: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name LIKE 'sluice-worker%') AS open`,
  );
  return result.rows[0]?.open ?? true;
}
