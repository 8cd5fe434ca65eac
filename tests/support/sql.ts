/**
 * Rows for tests: tenants, destinations, deliveries, made with SQL in bulk. Real tests of the outbox use the outbox;
 * this is for tests that need a table in a given state.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { createKeyring, sealSecret } from "#db/secrets.ts";
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import { uuidV7 } from "#domain/ids.ts";

/** The keyring and the signing secret that every factory destination has. */
export const TEST_SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString("base64")}`;
export const TEST_SIGNING_SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
export const TEST_KEYRING = createKeyring({
  keys: { test: Buffer.alloc(32, 7).toString("base64") },
  current: "test",
});

export interface TenantOptions {
  readonly concurrencyLimit?: number | null;
  readonly weight?: number;
}

export async function makeTenant(pool: Pool, options: TenantOptions = {}): Promise<string> {
  const id = uuidV7(Date.now(), randomBytes);
  await pool.query(
    `INSERT INTO sluice.tenant (id, region, slug, name, weight, concurrency_limit)
     SELECT $1, region, $2, $2, $3, $4 FROM sluice.region_control`,
    [id, `t-${randomUUID()}`, options.weight ?? 1, options.concurrencyLimit ?? null],
  );
  return id;
}

export interface DestinationOptions {
  readonly url?: string;
  readonly concurrencyLimit?: number | null;
  readonly ratePerSecond?: number | null;
  readonly rateBurst?: number;
  readonly policyOverride?: unknown;
  readonly secret?: string;
  readonly previousSecret?: string;
}

export async function makeDestination(
  pool: Pool,
  tenantId: string,
  options: DestinationOptions = {},
): Promise<string> {
  const id = uuidV7(Date.now(), randomBytes);
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, concurrency_limit, rate_per_second, rate_burst, policy_override,
                                     secret_current, secret_previous, secret_previous_until)
     SELECT $1, region, $2, $3, $4, $5, $6, $7, $8, $9, $10,
            CASE WHEN $10::bytea IS NULL THEN NULL ELSE clock_timestamp() + interval '1 hour' END FROM sluice.region_control`,
    [
      id,
      tenantId,
      `d-${id.slice(-6)}`,
      options.url ?? "http://127.0.0.1:9/none",
      options.concurrencyLimit ?? null,
      options.ratePerSecond ?? null,
      options.rateBurst ?? 1,
      options.policyOverride === undefined ? null : JSON.stringify(options.policyOverride),
      sealSecret(TEST_KEYRING, options.secret ?? TEST_SIGNING_SECRET),
      options.previousSecret === undefined ? null : sealSecret(TEST_KEYRING, options.previousSecret),
    ],
  );
  return id;
}

export interface DeliveryOptions {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly count?: number;
  readonly serviceClass?: ServiceClass;
  /** From now; negative is in the past. */
  readonly dueInMs?: number;
  /** Not "replay": such a row needs a batch. */
  readonly lane?: Exclude<Lane, "replay">;
  readonly body?: Buffer;
  readonly lostLeases?: number;
}

/**
 * Inserts deliveries with their payloads and keys. Rows of the retry lane come as after one failed attempt.
 * Returns the ids in the order of their due times (a microsecond apart).
 */
export async function makeDeliveries(pool: Pool, options: DeliveryOptions): Promise<string[]> {
  const count = options.count ?? 1;
  const body = options.body ?? Buffer.from('{"n":1}');
  const nowMs = Date.now();
  const ids = Array.from({ length: count }, () => uuidV7(nowMs, randomBytes)).sort();
  const lane = options.lane ?? "first";
  const waited = lane === "retry" || (options.lostLeases ?? 0) > 0;
  await pool.query(
    `WITH i AS MATERIALIZED (SELECT id, ord FROM unnest($1::uuid[]) WITH ORDINALITY AS u(id, ord)),
     p AS (INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
           SELECT i.id, rc.region, $2, 'application/json', $3 FROM i, sluice.region_control rc),
     k AS (INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
           SELECT 'key-' || i.id, $4, rc.region, i.id, $5 FROM i, sluice.region_control rc)
     INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                  first_due_at, due_at)
     SELECT i.id, rc.region, $6, $4, i.id, $3, 'test.event', 'key-' || i.id, $7,
            clock_timestamp() + $8::float8 * interval '1 millisecond' + i.ord * interval '1 microsecond',
            clock_timestamp() + $8::float8 * interval '1 millisecond' + i.ord * interval '1 microsecond'
       FROM i, sluice.region_control rc`,
    [
      ids,
      body,
      body.length,
      options.destinationId,
      createHash("sha256").update(body).digest(),
      options.tenantId,
      options.serviceClass ?? "routine",
      options.dueInMs ?? 0,
    ],
  );
  if (waited) await makeWaited(pool, ids, lane, options.lostLeases ?? 0);
  return ids;
}

/** The allowed way to a delayed row goes through a lease, so that is the way it is made. */
async function makeWaited(pool: Pool, ids: readonly string[], lane: Lane, lostLeases: number): Promise<void> {
  await pool.query(
    `UPDATE sluice.delivery SET state = 'leased', lease_token = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 minute',
            leased_at = clock_timestamp(), leased_by = gen_random_uuid() WHERE id = ANY($1::uuid[])`,
    [ids],
  );
  await pool.query(
    `UPDATE sluice.delivery SET state = 'delayed', attempts = 1, lane = $2::sluice.lane, lost_leases = $3,
            failures = CASE WHEN $2 = 'retry' THEN 1 ELSE 0 END,
            lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL WHERE id = ANY($1::uuid[])`,
    [ids, lane, lostLeases],
  );
}
