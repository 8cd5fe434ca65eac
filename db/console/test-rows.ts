/**
 * Rows for the tests of the console's reads: tenants, destinations and deliveries in any state, with chosen ages.
 * Only tests import this. Ages are given in seconds and told by the database's clock.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { ServiceClass } from "#domain/delivery.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";

export interface TestDelivery {
  id: string;
  key: string;
}

export interface DeliveryFields {
  tenantId: string;
  destinationId: string;
  /** Positive: due in the future. */
  dueInSeconds: number;
  state?: "ready" | "leased" | "delayed";
  serviceClass?: ServiceClass;
  key?: string;
  body?: string;
}

/** A UUIDv7 of this moment or of one before. */
export function newId(ageMs = 0): string {
  return uuidV7(Date.now() - ageMs, (count) => randomBytes(count));
}

/** A tenant with the given slug; returns its UUID. */
export async function addTenant(pool: Pool, region: Region, slug: string): Promise<string> {
  const id = newId();
  await pool.query("INSERT INTO sluice.tenant (id, region, slug, name) VALUES ($1, $2, $3, $3)", [
    id,
    region,
    slug,
  ]);
  return id;
}

/** A destination; `url` and `secret` may carry markers that must never be read. */
export async function addDestination(
  pool: Pool,
  region: Region,
  tenantId: string,
  { url = "https://hooks.example.com/in", secret = "sealed" } = {},
): Promise<string> {
  const id = newId();
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, secret_current)
     VALUES ($1, $2, $3, 'Ledger', $4, $5)`,
    [id, region, tenantId, url, Buffer.from(secret)],
  );
  return id;
}

/** A live delivery with its payload and key. */
export async function addDelivery(pool: Pool, region: Region, fields: DeliveryFields): Promise<TestDelivery> {
  const {
    tenantId,
    destinationId,
    dueInSeconds,
    state = "ready",
    serviceClass = "routine",
    body = "{}",
  } = fields;
  const id = newId();
  const payloadId = newId();
  const key = fields.key ?? id;
  await pool.query(
    `INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ($1, $2, $3, 'application/json', $4)`,
    [payloadId, region, Buffer.from(body), Buffer.byteLength(body)],
  );
  await pool.query(
    `INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
     VALUES ($1, $2, $3, $4, $5)`,
    [key, destinationId, region, id, createHash("sha256").update(body).digest()],
  );
  await pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type,
                                  idempotency_key, service_class, first_due_at, due_at)
     SELECT $1, $2, $3, $4, $5, $6, 'hold.released', $7, $8, due, due
       FROM (SELECT clock_timestamp() + $9 * interval '1 second' AS due) t`,
    [
      id,
      region,
      tenantId,
      destinationId,
      payloadId,
      Buffer.byteLength(body),
      key,
      serviceClass,
      dueInSeconds,
    ],
  );
  if (state !== "ready") await lease(pool, id);
  if (state === "delayed") await delay(pool, id);
  return { id, key };
}

async function lease(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE sluice.delivery SET state = 'leased', lease_token = gen_random_uuid(), leased_by = gen_random_uuid(),
            leased_at = clock_timestamp(), lease_until = clock_timestamp() + interval '30 seconds' WHERE id = $1`,
    [id],
  );
}

async function delay(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE sluice.delivery SET state = 'delayed', lane = 'retry', attempts = 1, throttles = 1, last_outcome = 'rate_limited',
            last_status = 429, lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL WHERE id = $1`,
    [id],
  );
}

/** Ends a live delivery: archived as delivered, or dead as rejected. */
export async function endDelivery(pool: Pool, id: string, end: "delivered" | "dead"): Promise<void> {
  const shared = `region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                  created_at, first_due_at, due_at`;
  const source = `WITH gone AS (DELETE FROM sluice.delivery WHERE id = $1 RETURNING *)`;
  await pool.query(
    end === "delivered"
      ? `${source} INSERT INTO sluice.delivery_archive (id, ${shared}, state, attempts, failures, throttles, cycle, last_outcome,
                     last_status) SELECT id, ${shared}, 'delivered', 1, 0, 0, 1, 'delivered', 200 FROM gone`
      : `${source} INSERT INTO sluice.dead_letter (id, ${shared}, reason, fingerprint, attempts, failures, rejections, throttles,
                     throttled_ms, lost_leases, cycle, last_failure_at, last_outcome, last_status)
                   SELECT id, ${shared}, 'rejected', 'test', 1, 1, 1, 0, 0, 0, 1, clock_timestamp(), 'rejected', 422 FROM gone`,
    [id],
  );
}

/** A running worker that reported just now. */
export async function addWorker(pool: Pool, region: Region, { silentSeconds = 0 } = {}): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.worker_process (id, region, host, pid, version, slots, heartbeat_at)
     VALUES (gen_random_uuid(), $1, 'host', 1, 'test', 16, clock_timestamp() - $2 * interval '1 second')`,
    [region, silentSeconds],
  );
}

/** A successful sampling with the given ages, some seconds ago. */
export async function addSample(
  pool: Pool,
  region: Region,
  sample: { secondsAgo: number; firstAttemptMs: number; dueMs: number },
): Promise<void> {
  const at = new Date(Date.now() - sample.secondsAgo * 1_000);
  await pool.query("INSERT INTO sluice.sample_run (at, scope, region, ok) VALUES ($1, 'class', $2, true)", [
    at,
    region,
  ]);
  await pool.query(
    `INSERT INTO sluice.queue_sample (at, scope, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count,
                                      held_age_ms, gated_count, ready, delayed, in_flight, dead)
     VALUES ($1, 'class', 'routine', $2, $3, 1, $4, 0, 0, 0, 0, 0, 0, 0)`,
    [at, region, sample.firstAttemptMs, sample.dueMs],
  );
}
