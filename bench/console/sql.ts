/**
 * The present of a large region: tenants, destinations in all states, live deliveries, dead letters of some dozens of
 * causes, the audit, and the samples that its workers would have left. Only in an empty database.
 */
import type { Pool, PoolClient } from "pg";
import { noteFailedSample, sampleQueueAge } from "#db/queue/sample-queue-age.ts";
import { sumSeries } from "#db/queue/sum-series.ts";
import { sealSecret } from "#db/secrets.ts";
import type { Region } from "#domain/region.ts";
import { BENCH_KEYRING, BENCH_SECRET } from "../lib/sql.ts";

/** Where the destinations would be; nothing is sent there. */
const NOWHERE = "https://merchant.example/webhooks/";
/** Days of samples. */
const SAMPLE_DAYS = 7;
/** Tenants that had something to wait for in each minute of the past. */
const WAITING_TENANTS = 100;
const AUDIT_ROWS = 20_000;
export const CAUSES = 48;
const DEAD_PER_CAUSE = 100;

export interface Places {
  readonly tenantIds: readonly string[];
  readonly destinationIds: readonly string[];
}

/** @throws Error when somebody's tenants are there already */
export async function refuseUsed(pool: Pool): Promise<void> {
  const { rows } = await pool.query("SELECT 1 FROM sluice.tenant LIMIT 1");
  if (rows.length > 0) throw new Error("the database has tenants already: seed an empty one");
}

/** Tenants, destinations and what workers remember of them; some paused, disabled, failing, behind a gate or a breaker. */
export async function makePlaces(pool: Pool, tenants: number, destinations: number): Promise<Places> {
  await pool.query(
    `INSERT INTO sluice.tenant (id, region, slug, name, concurrency_limit, paused_at, pause_until, pause_reason, paused_by)
     SELECT md5('tenant' || g)::uuid, rc.region, 'bench-' || lpad(g::text, 5, '0'), 'Merchant ' || g, CASE WHEN g % 10 = 0 THEN 50 END,
            p.at, p.at + interval '8 hours', CASE WHEN p.at IS NOT NULL THEN 'their endpoint is being moved' END, 'user:bench@example.test'
       FROM generate_series(1, $1::integer) g CROSS JOIN sluice.region_control rc
      CROSS JOIN LATERAL (SELECT CASE WHEN g % 200 = 7 THEN clock_timestamp() - interval '1 hour' END AS at) p`,
    [tenants],
  );
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, concurrency_limit, rate_per_second, rate_burst, secret_current,
                                     disabled_at, disabled_reason, disabled_by)
     SELECT md5('destination' || g)::uuid, rc.region, md5('tenant' || 1 + (g - 1) % $2::integer)::uuid, 'Endpoint ' || g, $3 || g,
            CASE WHEN g % 7 = 0 THEN 5 END, CASE WHEN g % 4 = 0 THEN 20 END, 5, $4,
            CASE WHEN g % 500 = 9 THEN clock_timestamp() - interval '2 days' END,
            CASE WHEN g % 500 = 9 THEN '200 failures in a row' END, CASE WHEN g % 500 = 9 THEN 'system' END
       FROM generate_series(1, $1::integer) g CROSS JOIN sluice.region_control rc`,
    [destinations, tenants, NOWHERE, sealSecret(BENCH_KEYRING, BENCH_SECRET)],
  );
  await pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, hold_until, hold_set_at, hold_why, hold_status, hold_retry_after, probing,
                                           adaptive_limit, adaptive_why, adaptive_changed_at, breaker, breaker_until, breaker_opened_at,
                                           breaker_why, failures_since_success, failing_since, last_success_at)
     SELECT md5('destination' || g)::uuid, rc.region, CASE WHEN g % 100 = 1 THEN clock_timestamp() + interval '1 hour' END,
            CASE WHEN g % 100 = 1 THEN clock_timestamp() END, CASE WHEN g % 100 = 1 THEN 'retry_after' END, CASE WHEN g % 100 = 1 THEN 429 END,
            CASE WHEN g % 100 = 1 THEN '3600' END, false, CASE WHEN g % 50 = 3 THEN 2 END, CASE WHEN g % 50 = 3 THEN 'timeout' END,
            CASE WHEN g % 50 = 3 THEN clock_timestamp() END, CASE WHEN g % 200 = 5 THEN 'open' ELSE 'closed' END,
            CASE WHEN g % 200 = 5 THEN clock_timestamp() + interval '1 hour' END,
            CASE WHEN g % 200 = 5 THEN clock_timestamp() - interval '3 hours' END, CASE WHEN g % 200 = 5 THEN 'no answer' END,
            CASE WHEN g % 25 = 5 THEN 12 ELSE 0 END, CASE WHEN g % 25 = 5 THEN clock_timestamp() - interval '3 hours' END,
            clock_timestamp() - interval '1 hour'
       FROM generate_series(1, $1::integer) g CROSS JOIN sluice.region_control rc WHERE g % 5 <> 2`,
    [destinations],
  );
  const ids = async (what: string, count: number) => {
    const { rows } = await pool.query<{ ids: string[] }>(
      "SELECT array_agg(md5($1::text || g)::uuid ORDER BY g)::text[] AS ids FROM generate_series(1, $2::integer) g",
      [what, count],
    );
    return rows[0]?.ids ?? [];
  };
  return {
    tenantIds: await ids("tenant", tenants),
    destinationIds: await ids("destination", destinations),
  };
}

/** $1 the least and $2 the largest number, $3 how many there are of them, $4 tenants, $5 destinations, $6 a prefix. */
const LIVE_NUMBERS = `
  (SELECT g.i, $6::text || g.i AS name, clock_timestamp() - interval '1 second' * (7200.0 * (1 - g.i::float8 / $3::float8)) AS at,
          (g.i * 7919) % cardinality($5::uuid[]) AS place
     FROM generate_series($1::bigint, $2::bigint) AS g(i)) n`;
const LIVE_ID = `(lpad(to_hex(floor(extract(epoch FROM n.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n.name), 1, 3)
  || '8' || substr(md5(n.name), 4, 15))::uuid`;
const LIVE_PLACE = "($4::uuid[])[1 + n.place % cardinality($4::uuid[])], ($5::uuid[])[1 + n.place]";

/** Of ten live rows five are ready for later, one is overdue, four wait for a retry; some hundreds are leased. */
const LIVE = `
INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                             created_at, first_due_at, due_at, state, lane, attempts, failures, first_attempt_at, first_failure_at, last_outcome,
                             last_status, lease_token, lease_until, leased_at, leased_by)
SELECT ${LIVE_ID}, rc.region, ${LIVE_PLACE}, ${LIVE_ID}, 64, 'bench.event_' || n.i % 12, n.name, c.class, n.at, n.at, d.due_at,
       s.state::sluice.delivery_state, (CASE WHEN s.retry THEN 'retry' ELSE 'first' END)::sluice.lane, CASE WHEN s.retry THEN 1 + n.i % 4 ELSE 0 END,
       CASE WHEN s.retry THEN 1 + n.i % 4 ELSE 0 END, CASE WHEN s.retry THEN n.at END, CASE WHEN s.retry THEN n.at END,
       CASE WHEN s.retry THEN 'server_error' END, CASE WHEN s.retry THEN 503 END,
       CASE WHEN s.state = 'leased' THEN ${LIVE_ID} END, CASE WHEN s.state = 'leased' THEN clock_timestamp() + interval '1 day' END,
       CASE WHEN s.state = 'leased' THEN clock_timestamp() END, CASE WHEN s.state = 'leased' THEN ${LIVE_ID} END
  FROM ${LIVE_NUMBERS} CROSS JOIN sluice.region_control rc
 CROSS JOIN LATERAL (SELECT (CASE WHEN (n.i / 10) % 5 = 0 THEN 'urgent' ELSE 'routine' END)::sluice.service_class AS class) c
 CROSS JOIN LATERAL (SELECT CASE WHEN n.i % 400 = 1 THEN 'leased' WHEN n.i % 10 > 5 THEN 'delayed' ELSE 'ready' END AS state, n.i % 10 > 5 AS retry) s
 CROSS JOIN LATERAL (SELECT CASE WHEN n.i % 10 = 0 OR n.i % 20 = 6 THEN clock_timestamp() - interval '1 second' * (n.i % 600)
                                 ELSE clock_timestamp() + interval '1 second' * (3600 + n.i % 86400) END AS due_at) d`;

const LIVE_ATTEMPTS = `
INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token, due_at,
                            started_at, duration_ms, outcome, decision, status, recorded_at)
SELECT d.id, d.region, d.id, d.tenant_id, d.destination_id, d.service_class, 'first', 1, 'http', 1, d.id, d.created_at, d.created_at, 30,
       'server_error', 'delayed', 503, d.created_at + interval '1 second'
  FROM sluice.delivery d WHERE d.attempts > 0`;

/** Each cause is one destination's; half of them have answers that a body of ours caused, half are down. */
const DEAD = `
INSERT INTO sluice.dead_letter (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                created_at, first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms,
                                lost_leases, cycle, first_attempt_at, first_failure_at, last_failure_at, last_outcome, last_status, last_detail,
                                died_at, will_not_replay_at, will_not_replay_reason)
SELECT ${LIVE_ID}, rc.region, ($4::uuid[])[1 + k.place % cardinality($4::uuid[])], ($5::uuid[])[1 + k.place], ${LIVE_ID}, 64,
       'bench.event_' || n.i % 12, n.name, 'routine', k.died, k.died, k.died, k.reason, k.reason || ':' || k.status || ':' || substr(md5(k.cause::text), 1, 16),
       3, 3, 1, 0, 0, 0, 1, k.died, k.died, k.died, CASE WHEN k.status = 503 THEN 'server_error' ELSE 'rejected' END, k.status,
       'field amount_' || k.cause || ' is not known', k.died, k.aside, CASE WHEN k.aside IS NOT NULL THEN 'sent by hand' END
  FROM ${LIVE_NUMBERS} CROSS JOIN sluice.region_control rc
 CROSS JOIN LATERAL (SELECT n.i % ${CAUSES} AS cause) q
 CROSS JOIN LATERAL (
   SELECT q.cause, (q.cause * 97) % cardinality($5::uuid[]) AS place, CASE WHEN q.cause % 2 = 0 THEN 'rejected' ELSE 'attempts_exhausted' END AS reason,
          CASE WHEN q.cause % 2 = 0 THEN 422 ELSE 503 END AS status,
          clock_timestamp() - interval '1 second' * (604800.0 * n.i / $3::float8) AS died,
          CASE WHEN n.i % 10 = 0 THEN clock_timestamp() - interval '1 second' * (604800.0 * n.i / $3::float8) + interval '1 minute' END AS aside) k`;

const AUDIT = `
INSERT INTO sluice.operator_action (id, region, at, actor, actor_role, action, target_kind, target_id, tenant_id, reason, before, after, result,
                                    correlation_id)
SELECT gen_random_uuid(), rc.region, clock_timestamp() - interval '1 second' * (2592000.0 * g / $1::float8), 'user:person' || g % 20 || '@example.test',
       'operator', CASE g % 4 WHEN 0 THEN 'tenant.pause' WHEN 1 THEN 'tenant.resume' WHEN 2 THEN 'destination.limits' ELSE 'destination.open_gate' END,
       CASE WHEN g % 4 < 2 THEN 'tenant' ELSE 'destination' END,
       CASE WHEN g % 4 < 2 THEN 'ten_' || md5('tenant' || 1 + g % $2::integer) ELSE 'dst_' || md5('destination' || 1 + g % $2::integer) END,
       md5('tenant' || 1 + g % $2::integer)::uuid, 'a change of the bench', '{}', '{}', CASE WHEN g % 50 = 0 THEN 'denied' ELSE 'done' END, 'bench-' || g
  FROM generate_series(1, $1::integer) g CROSS JOIN sluice.region_control rc`;

const PAYLOADS = (table: string) => `
INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
SELECT d.payload_id, d.region, convert_to(rpad('{"bench":"', 62, 'x') || '"}', 'UTF8'), 'application/json', 64 FROM sluice.${table} d`;
const KEYS = (table: string) => `
INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
SELECT d.idempotency_key, d.destination_id, d.region, d.id, sha256('bench') FROM sluice.${table} d`;

/** Live rows, dead letters with their groups, bodies, keys and the audit. The client may skip triggers. */
export async function loadPresent(client: PoolClient, live: number, places: Places): Promise<void> {
  const dead = CAUSES * DEAD_PER_CAUSE;
  const chunkRows = 50_000;
  for (let from = 1; from <= live; from += chunkRows) {
    const to = Math.min(live, from + chunkRows - 1);
    await client.query(LIVE, [from, to, live, places.tenantIds, places.destinationIds, "live-"]);
  }
  await client.query(LIVE_ATTEMPTS);
  await client.query(DEAD, [1, dead, dead, places.tenantIds, places.destinationIds, "dead-"]);
  await client.query(`INSERT INTO sluice.dead_letter_group (fingerprint, region, state)
    SELECT DISTINCT d.fingerprint, d.region, CASE WHEN d.fingerprint < 'b' THEN 'acknowledged' ELSE 'new' END FROM sluice.dead_letter d`);
  for (const table of ["delivery", "dead_letter"]) {
    await client.query(PAYLOADS(table));
    await client.query(KEYS(table));
  }
  await client.query(AUDIT, [AUDIT_ROWS, Math.min(places.tenantIds.length, places.destinationIds.length)]);
}

/** A week of samples: classes every 5 s, tenants that waited every minute. */
export async function loadSamples(client: PoolClient, places: Places): Promise<void> {
  await client.query(`
    INSERT INTO sluice.sample_run (at, scope, region, ok)
    SELECT t.at, s.scope, rc.region, true FROM (VALUES ('class', interval '5 s'), ('tenant', interval '60 s')) AS s(scope, every)
     CROSS JOIN LATERAL generate_series(date_bin(s.every, clock_timestamp() - interval '${SAMPLE_DAYS} days', 'epoch'),
                                        clock_timestamp() - interval '90 s', s.every) AS t(at)
     CROSS JOIN sluice.region_control rc`);
  const columns =
    "at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms, gated_count, ready, delayed, in_flight, dead";
  const numbers = "n, n % 90, n / 2, 0, 0, n % 7, n % 400, n % 300, n % 9, n % 50";
  const n = "CROSS JOIN LATERAL (SELECT (extract(epoch FROM r.at)::bigint / 5 * 31) % 20000 AS n) v";
  await client.query(`
    INSERT INTO sluice.queue_sample (${columns})
    SELECT r.at, 'class', NULL, k, r.region, ${numbers} FROM sluice.sample_run r CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) k ${n}
     WHERE r.scope = 'class'`);
  // The client skips triggers, and with them the one that keeps the steps of five minutes.
  await client.query(`
    INSERT INTO sluice.queue_sample_5m (at, service_class, region, samples, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms,
                                        in_flight, dead)
    SELECT date_bin('5 minutes', s.at, 'epoch'), s.service_class, s.region, count(*), max(s.first_attempt_age_ms), max(s.due_count),
           max(s.due_age_ms), max(s.held_count), max(s.held_age_ms), max(s.in_flight), (array_agg(s.dead ORDER BY s.at DESC))[1]
      FROM sluice.queue_sample s WHERE s.scope = 'class' GROUP BY 1, 2, 3`);
  await client.query(
    `INSERT INTO sluice.queue_sample (${columns})
     SELECT r.at, 'tenant', ($1::uuid[])[1 + (g + extract(epoch FROM r.at)::bigint / 3600) % cardinality($1::uuid[])], 'routine', r.region, ${numbers}
       FROM sluice.sample_run r CROSS JOIN generate_series(1, least($2::integer, cardinality($1::uuid[]))) g ${n} WHERE r.scope = 'tenant'`,
    [places.tenantIds, WAITING_TENANTS],
  );
}

/** A worker that says it is there. Nothing is claimed: what is measured must not become less while it is measured. */
export async function beat(pool: Pool, region: Region): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.worker_process (id, region, host, pid, version, slots, in_flight, heartbeat_at)
     VALUES (md5('worker')::uuid, $1, 'bench', 1, 'bench', 512, 500, clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = EXCLUDED.heartbeat_at`,
    [region],
  );
}

/** The sampling of a worker. A failed one is noted, as there. */
export async function sampleAll(pool: Pool, region: Region): Promise<void> {
  for (const scope of ["class", "tenant"] as const) {
    await sampleQueueAge(pool, scope).catch((error: unknown) =>
      noteFailedSample(pool, region, scope, String(error)),
    );
  }
}

/** Runs that sum all that is kept, some hours each, and some more for what came late. */
const MAX_SUM_RUNS = 100;

/** What workers have summed up after some minutes: the roll-up of a database that was filled at once is behind, as after an upgrade. */
export async function sumAll(pool: Pool): Promise<void> {
  for (let run = 0; run < MAX_SUM_RUNS; run++) {
    if ((await sumSeries(pool)) === 0) return;
  }
  throw new Error(`the sums were not up to date after ${MAX_SUM_RUNS} runs`);
}

/** What a run asks for by id: some of each kind, spread over the whole. Public ids, but for the slugs. */
export interface Known {
  readonly tenants: readonly string[];
  readonly slugs: readonly string[];
  readonly destinations: readonly string[];
  /** The tenants and destinations with the most attempts of late. */
  readonly busyTenants: readonly string[];
  readonly busyDestinations: readonly string[];
  readonly live: readonly string[];
  readonly dead: readonly string[];
  readonly archived: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly string[];
}

const KNOWN_IDS = 40;
/** Newest minutes by which it is told who is busy. */
const BUSY_ROWS = 20_000;

/** @throws Error when the database was not seeded by this bench */
export async function readKnown(pool: Pool): Promise<Known> {
  const list = async (text: string): Promise<string[]> => {
    const { rows } = await pool.query<{ id: string }>(`${text} LIMIT ${KNOWN_IDS}`);
    if (rows.length === 0)
      throw new Error("the database was not seeded: run `npm run bench -- console --seed-only`");
    return rows.map(({ id }) => id);
  };
  const bare = (prefix: string, column = "id") => `'${prefix}_' || replace(${column}::text, '-', '') AS id`;
  const busiest = (prefix: string, column: string, where: string) =>
    `SELECT ${bare(prefix, column)} FROM (
       SELECT ${column}, requests FROM sluice.series_minute WHERE ${where} ORDER BY minute DESC LIMIT ${BUSY_ROWS}) m
      GROUP BY ${column} ORDER BY sum(requests) DESC, ${column}`;
  return {
    tenants: await list(`SELECT ${bare("ten")} FROM sluice.tenant ORDER BY md5(slug)`),
    slugs: await list("SELECT slug AS id FROM sluice.tenant ORDER BY md5(slug)"),
    destinations: await list(`SELECT ${bare("dst")} FROM sluice.destination ORDER BY md5(name)`),
    busyTenants: await list(busiest("ten", "tenant_id", "destination_id IS NULL AND tenant_id IS NOT NULL")),
    busyDestinations: await list(busiest("dst", "destination_id", "destination_id IS NOT NULL")),
    live: await list(`SELECT ${bare("dlv")} FROM sluice.delivery TABLESAMPLE SYSTEM (5)`),
    dead: await list(`SELECT ${bare("dlv")} FROM sluice.dead_letter ORDER BY md5(id::text)`),
    archived: await list(
      `SELECT ${bare("dlv")} FROM sluice.delivery_archive WHERE id >= sluice.uuid_floor(clock_timestamp() - interval '9 days')`,
    ),
    groups: await list(`SELECT ${bare("dlg")} FROM sluice.dead_letter_group ORDER BY md5(fingerprint)`),
    keys: await list("SELECT idempotency_key AS id FROM sluice.delivery_key"),
  };
}

/** Rows that stand there, by the tables themselves. */
export async function countSeeded(pool: Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<string, number>>(
    `SELECT (SELECT count(*) FROM sluice.tenant)::integer AS tenants, (SELECT count(*) FROM sluice.destination)::integer AS destinations,
            (SELECT count(*) FROM sluice.delivery)::integer AS live, (SELECT count(*) FROM sluice.dead_letter)::integer AS dead,
            (SELECT count(*) FROM sluice.delivery_archive)::integer AS archived, (SELECT count(*) FROM sluice.attempt)::integer AS attempts,
            (SELECT count(*) FROM sluice.series_minute)::integer AS "seriesMinutes"`,
  );
  return rows[0] ?? {};
}
