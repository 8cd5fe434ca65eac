/**
 * The Postgres side of the comparison: a real database whose clock, uuids and hash the test sets, rows written with
 * plain SQL, and dumps of the tables. It must never run a statement under test: those go through the shipped store.
 */
import type { Pool } from "pg";
import { withQueueSession } from "#db/queue/session.ts";
import type { DeliveryRow, DestinationTableRow, Pausable, TenantRow } from "#sim/store/tables.ts";

/** Session options under which the functions below stand before Postgres's own. */
export function withTwinSession(connectionString: string): string {
  const url = new URL(withQueueSession(connectionString));
  url.searchParams.set("options", `${url.searchParams.get("options")} -c search_path=twin,pg_catalog`);
  return url.href;
}

/** Postgres's clock and chance, taken over: the statements call them by their bare names. */
const TWIN = `
  CREATE SCHEMA twin;
  CREATE FUNCTION twin.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT timestamptz 'epoch' + current_setting('twin.now_us')::bigint * interval '1 microsecond' $$;
  CREATE FUNCTION twin.statement_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT twin.clock_timestamp()';
  CREATE FUNCTION twin.hashtext(text) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT ('x' || substr(md5($1), 1, 8))::bit(32)::integer $$`;

export async function installTwin(pool: Pool): Promise<void> {
  await pool.query(TWIN);
}

/** From now on, in this session. */
export async function setMoment(pool: Pool, nowUs: number): Promise<void> {
  await pool.query({
    name: "twin-moment",
    text: "SELECT set_config('twin.now_us', $1, false)",
    values: [String(nowUs)],
  });
}

const at = (parameter: string) => `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

export async function clearTables(pool: Pool): Promise<void> {
  await pool.query(`TRUNCATE sluice.tenant, sluice.destination, sluice.destination_state, sluice.destination_rate, sluice.delivery,
    sluice.delivery_archive, sluice.dead_letter, sluice.dead_letter_group, sluice.payload, sluice.replay_batch, sluice.replay_item, sluice.replay_lane, sluice.replay_event, sluice.replay_freeze, sluice.replay_notice,
    sluice.worker_process, graphile_worker._private_jobs`);
  await pool.query("DROP TRIGGER IF EXISTS attempt_append_only ON sluice.attempt");
  await pool.query("TRUNCATE sluice.attempt");
  await pool.query(
    "UPDATE sluice.region_control SET draining = false, drain_reason = NULL, claim_owner = 'sluice'",
  );
}

export async function insertTenant(pool: Pool, row: TenantRow): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.tenant (id, region, slug, name, weight, concurrency_limit)
     SELECT $1, region, 't-' || $1::uuid, 't', $2, $3 FROM sluice.region_control`,
    [row.id, row.weight, row.concurrencyLimit],
  );
}

export async function insertDestination(pool: Pool, row: DestinationTableRow): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, concurrency_limit, rate_per_second, rate_burst, secret_current)
     SELECT $1, region, $2, 'd', $3, $4, $5, $6, $7 FROM sluice.region_control`,
    [
      row.id,
      row.tenantId,
      row.url,
      row.concurrencyLimit,
      row.ratePerSecond,
      row.rateBurst,
      row.secretCurrent,
    ],
  );
}

export async function insertBatch(pool: Pool, id: string): Promise<void> {
  // As with its states below: it is there from the beginning, without the steps that lead to it.
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL session_replication_role = replica");
    await client.query(
      `INSERT INTO sluice.replay_batch (id, region, name, state, reason, frozen_sha256, requested_by, approved_by)
       SELECT $1, region, 'b', 'running', 'r', decode(repeat('00', 32), 'hex'), 'a', 'b' FROM sluice.region_control`,
      [id],
    );
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

export async function insertDelivery(pool: Pool, row: DeliveryRow, body: Buffer): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
     SELECT $1, region, $2, 'application/json', $3 FROM sluice.region_control`,
    [row.payloadId, body, body.length],
  );
  await pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                  first_due_at, due_at, state, lane, cycle, replay_batch_id)
     SELECT $1, region, $2, $3, $4, $5, $6, $7, $8, ${at("$9")}, ${at("$9")}, $10, $11, $12, $13 FROM sluice.region_control`,
    [
      row.id,
      row.tenantId,
      row.destinationId,
      row.payloadId,
      row.payloadBytes,
      row.eventType,
      row.idempotencyKey,
      row.serviceClass,
      row.dueUs,
      row.state,
      row.lane,
      row.cycle,
      row.replayBatchId,
    ],
  );
}

export async function insertWorker(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.worker_process (id, region, host, pid, version, slots) SELECT $1, region, 'h', 1, '0', 1 FROM sluice.region_control`,
    [id],
  );
}

/** Writes a tenant's or destination's controls and limits as they stand in the simulated row. */
export async function writeTenant(pool: Pool, row: TenantRow): Promise<void> {
  await pool.query(
    `UPDATE sluice.tenant SET weight = $2, concurrency_limit = $3, claim_owner = $4, deleted_at = ${at("$5")}, ${PAUSE(6)} WHERE id = $1`,
    [row.id, row.weight, row.concurrencyLimit, row.claimOwner, row.deletedAtUs, ...pauseValues(row)],
  );
}

export async function writeDestination(pool: Pool, row: DestinationTableRow): Promise<void> {
  await pool.query(
    `UPDATE sluice.destination SET version = $2, concurrency_limit = $3, rate_per_second = $4, rate_burst = $5,
            disabled_at = ${at("$6")}, disabled_reason = CASE WHEN $6::bigint IS NULL THEN NULL ELSE 'r' END, deleted_at = ${at("$7")}, ${PAUSE(8)}
      WHERE id = $1`,
    [
      row.id,
      row.version,
      row.concurrencyLimit,
      row.ratePerSecond,
      row.rateBurst,
      row.disabledAtUs,
      row.deletedAtUs,
      ...pauseValues(row),
    ],
  );
}

const PAUSE = (first: number) => `paused_at = ${at(`$${first}`)}, pause_until = ${at(`$${first + 1}`)},
  pause_reason = CASE WHEN $${first}::bigint IS NULL THEN NULL ELSE 'r' END, resumed_at = ${at(`$${first + 2}`)}, resume_share = $${first + 3}`;

function pauseValues({ pausedAtUs, pauseUntilUs, resumedAtUs, resumeShare }: Pausable): (number | null)[] {
  return [pausedAtUs, pauseUntilUs, resumedAtUs, resumeShare];
}

export async function writeRegion(pool: Pool, draining: boolean, claimOwner: string): Promise<void> {
  await pool.query(
    "UPDATE sluice.region_control SET draining = $1, drain_reason = CASE WHEN $1 THEN 'r' END, claim_owner = $2",
    [draining, claimOwner],
  );
}

export async function writeBatch(pool: Pool, id: string, state: string): Promise<void> {
  // The script moves it to any state at any time: not the steps of a batch but what a claim makes of its state is compared.
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL session_replication_role = replica");
    await client.query("UPDATE sluice.replay_batch SET state = $2 WHERE id = $1", [id, state]);
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

export async function openGate(pool: Pool, destinationId: string): Promise<void> {
  await pool.query(
    "UPDATE sluice.destination_state SET hold_until = twin.clock_timestamp() WHERE destination_id = $1",
    [destinationId],
  );
}

export async function pinLimit(pool: Pool, destinationId: string, limit: number | null): Promise<void> {
  await pool.query(
    "UPDATE sluice.destination_state SET adaptive_pinned = $2::integer IS NOT NULL, adaptive_limit = $2 WHERE destination_id = $1",
    [destinationId, limit],
  );
}

export async function erasePayload(pool: Pool, id: string): Promise<void> {
  await pool.query(
    "UPDATE sluice.payload SET body = NULL, erased_at = pg_catalog.clock_timestamp() WHERE id = $1",
    [id],
  );
}

export async function deleteJobs(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM graphile_worker._private_jobs");
}

const us = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::float8`;

/** Everything that the statements under test write, by table, with times in microseconds. */
export async function dump(pool: Pool): Promise<Record<string, Record<string, unknown>[]>> {
  const read = async (text: string) => (await pool.query<Record<string, unknown>>(text)).rows;
  return {
    deliveries:
      await read(`SELECT id, ${us("due_at")} AS due, state::text, lane::text, attempts, failures, rejections, throttles,
        throttled_ms::float8 AS throttled, lost_leases AS lost, cycle, last_outcome AS outcome, last_status AS status, lease_token AS token,
        ${us("lease_until")} AS until, ${us("leased_at")} AS leased, leased_by AS by FROM sluice.delivery ORDER BY id`),
    ended:
      await read(`SELECT id, state AS end, reason, attempts, failures, throttles, cycle, last_outcome AS outcome, last_status AS status
        FROM sluice.delivery_archive UNION ALL
        SELECT id, 'dead', reason, attempts, failures, throttles, cycle, last_outcome, last_status FROM sluice.dead_letter ORDER BY 1`),
    attempts:
      await read(`SELECT delivery_id AS id, kind, number, lease_token AS token, lane::text, outcome, decision, reason, status,
        ${us("next_due_at")} AS next FROM sluice.attempt ORDER BY delivery_id, number, kind, lease_token, recorded_at`),
    states:
      await read(`SELECT destination_id AS id, ${us("hold_until")} AS hold, hold_why AS why, hold_status AS status, hold_delivery_id AS delivery,
        probing, consecutive_gates AS gates, adaptive_limit AS adaptive, adaptive_safe_limit AS safe, adaptive_why,
        ${us("adaptive_changed_at")} AS changed, ${us("adaptive_lowered_at")} AS lowered, breaker, ${us("breaker_until")} AS breaker_until,
        breaker_opens AS opens, down_in_row AS down, ${us("down_since")} AS down_since, failures_since_success AS failing,
        ${us("failing_since")} AS failing_since, ${us("last_success_at")} AS success FROM sluice.destination_state ORDER BY 1`),
    rates: await read(
      `SELECT destination_id AS id, ${us("rate_tat")} AS tat, rate_owner AS owner, ${us("ramp_tat")} AS ramp FROM sluice.destination_rate ORDER BY 1`,
    ),
    disabled: await read(
      `SELECT id, version, ${us("disabled_at")} AS disabled FROM sluice.destination ORDER BY 1`,
    ),
    jobs: await read(`SELECT ${us("run_at")} AS run FROM graphile_worker.jobs`),
  };
}
