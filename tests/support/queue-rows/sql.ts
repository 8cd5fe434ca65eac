/**
 * What the tests of db/queue share: rows in states that factories.ts does not make, and looks at what a statement did.
 * It must never call the statement under test: every row here is made with plain SQL.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { ClientBase, Pool, QueryResult } from "pg";
import { onTestFinished } from "vitest";
import type { ClaimEntry, ClaimRequest } from "#db/queue/claim.ts";
import type { FinishRow } from "#db/queue/finish.ts";
import type { LaneKey, Queryable } from "#db/queue/types.ts";
import { uuidV7 } from "#domain/ids.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";

export const HOUR_MS = 3_600_000;
const FREE_CAP = 10_000;

/** A tenant with one destination, and the key of its routine lane of first attempts. */
export interface Place extends LaneKey {
  readonly lane: "first";
  readonly serviceClass: "routine";
}

/** Limits default to 10,000, so that only what a test sets limits anything. */
export async function makePlace(
  pool: Pool,
  limits: {
    tenantCap?: number;
    destinationCap?: number;
    ratePerSecond?: number;
    rateBurst?: number;
    tenantId?: string;
  } = {},
): Promise<Place> {
  const tenantId =
    limits.tenantId ?? (await makeTenant(pool, { concurrencyLimit: limits.tenantCap ?? FREE_CAP }));
  const destinationId = await makeDestination(pool, tenantId, {
    concurrencyLimit: limits.destinationCap ?? FREE_CAP,
    ratePerSecond: limits.ratePerSecond ?? null,
    rateBurst: limits.rateBurst ?? 1,
  });
  return { lane: "first", serviceClass: "routine", tenantId, destinationId };
}

/** A claim of this product by a fresh process, with a lease of 30 s. */
export function request(entries: readonly ClaimEntry[], changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    owner: "sluice",
    workerId: randomUUID(),
    leaseMs: 30_000,
    maxBytes: 2 ** 25,
    entries,
    token: randomUUID(),
    ...changes,
  };
}

/** What a worker records after a 2xx; a test changes what it is about. */
export function outcomeOf(id: string, token: string, changes: Partial<FinishRow> = {}): FinishRow {
  return {
    id,
    lease_token: token,
    attempt_id: uuidV7(Date.now(), randomBytes),
    worker_id: randomUUID(),
    started_ms: Date.now(),
    duration_ms: 12,
    outcome: "delivered",
    decision: "delivered",
    status: 204,
    sent: true,
    opens_gate: true,
    ...changes,
  };
}

/** Milliseconds since the epoch by the database's clock, with fractions. */
export async function databaseNowMs(pool: Queryable): Promise<number> {
  const result = await pool.query<{ ms: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms",
  );
  return result.rows[0]?.ms ?? Number.NaN;
}

/** Puts rows under a lease without a claim. Returns the token. */
export async function leaseRows(
  pool: Queryable,
  ids: readonly string[],
  lease: { untilInMs?: number; leasedAgoMs?: number; workerId?: string; token?: string } = {},
): Promise<string> {
  const token = lease.token ?? randomUUID();
  await pool.query(
    `UPDATE sluice.delivery SET state = 'leased', lease_token = $2, leased_by = $3,
            lease_until = clock_timestamp() + $4::float8 * interval '1 millisecond',
            leased_at = clock_timestamp() - $5::float8 * interval '1 millisecond' WHERE id = ANY($1::uuid[])`,
    [ids, token, lease.workerId ?? randomUUID(), lease.untilInMs ?? 30_000, lease.leasedAgoMs ?? 1_000],
  );
  return token;
}

/** Many waiting rows fast: no payload, no key. Due `dueInMs` from now and a millisecond apart. Returns nothing. */
export async function fillRows(
  pool: Queryable,
  place: LaneKey,
  count: number,
  dueInMs: number,
): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
                                  service_class, due_at)
     SELECT gen_random_uuid(), rc.region, $1, $2, gen_random_uuid(), 7, 'test.event', 'fill-' || n, $3,
            clock_timestamp() + $5::float8 * interval '1 millisecond' + n * interval '1 millisecond'
       FROM sluice.region_control rc, generate_series(1, $4::integer) n`,
    [place.tenantId, place.destinationId, place.serviceClass, count, dueInMs],
  );
}

const TO_RUNNING = ["in_review", "approved", "canary", "canary_hold", "running"];
/** How a batch comes to the states that are not on its way to the run. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  draft: [],
  paused: [...TO_RUNNING, "paused"],
  stopping: [...TO_RUNNING, "stopping"],
  stopped: [...TO_RUNNING, "stopping", "stopped"],
  completed: [...TO_RUNNING, "completed"],
  failed: [...TO_RUNNING, "failed"],
  rejected: ["in_review", "rejected"],
  expired: ["in_review", "expired"],
  cancelled: ["in_review", "cancelled"],
};

/** A replay batch in a state, by the steps that lead there. From its review on it has a second person. */
export async function makeBatch(pool: Queryable, state: string): Promise<string> {
  const id = uuidV7(Date.now(), randomBytes);
  await pool.query(
    `INSERT INTO sluice.replay_batch (id, region, name, reason, requested_by, frozen_sha256)
     SELECT $1, region, 'test batch', 'a test', 'ann', decode(repeat('ab', 32), 'hex') FROM sluice.region_control`,
    [id],
  );
  const way = WAYS[state] ?? TO_RUNNING.slice(0, TO_RUNNING.indexOf(state) + 1);
  if (state !== "draft" && way.length === 0) throw new Error(`no way to the state ${state}`);
  const steps = way.map((to) => {
    const more = to === "paused" ? ", paused_from = state" : "";
    const step = `UPDATE sluice.replay_batch SET state = '${to}', version = version + 1${more} WHERE id = '${id}';`;
    return to === "in_review"
      ? `${step} UPDATE sluice.replay_batch SET approved_by = 'bob' WHERE id = '${id}';`
      : step;
  });
  // One round trip: the id and the states are our own.
  if (steps.length > 0) await pool.query(steps.join(" "));
  return id;
}

/** Rows as a replay releases them: delayed, lane replay, second cycle. */
export async function makeReplayRows(
  pool: Queryable,
  place: LaneKey,
  batchId: string,
  row: { count?: number; attempts?: number } = {},
): Promise<string[]> {
  const result = await pool.query<{ id: string }>(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
                                  service_class, state, lane, attempts, cycle, replay_batch_id)
     SELECT gen_random_uuid(), rc.region, $1, $2, gen_random_uuid(), 7, 'test.event', 'replay-' || n, $3,
            'delayed', 'replay', $5, 2, $6
       FROM sluice.region_control rc, generate_series(1, $4::integer) n RETURNING id`,
    [place.tenantId, place.destinationId, place.serviceClass, row.count ?? 1, row.attempts ?? 3, batchId],
  );
  return result.rows.map(({ id }) => id);
}

/** All columns of a table's row, or undefined. Times come as Date. */
export async function readRow(
  pool: Queryable,
  table: "delivery" | "delivery_archive" | "dead_letter" | "delivery_all",
  id: string,
): Promise<Record<string, unknown> | undefined> {
  const result = await pool.query<Record<string, unknown>>(`SELECT * FROM sluice.${table} WHERE id = $1`, [
    id,
  ]);
  return result.rows[0];
}

/** A time of a row that was read, in whole milliseconds. */
export function timeOf(row: Record<string, unknown> | undefined, column: string): number {
  const value = row?.[column];
  if (!(value instanceof Date)) throw new Error(`the row has no time in ${column}`);
  return value.getTime();
}

/** The attempt rows of a delivery, oldest first. */
export async function readAttempts(pool: Queryable, deliveryId: string): Promise<Record<string, unknown>[]> {
  const result = await pool.query<Record<string, unknown>>(
    "SELECT * FROM sluice.attempt WHERE delivery_id = $1 ORDER BY number, recorded_at",
    [deliveryId],
  );
  return result.rows;
}

/** Rows of a table, all of them counted. */
export async function countRows(pool: Queryable, from: string, values: unknown[] = []): Promise<number> {
  const result = await pool.query<{ n: number }>(`SELECT count(*)::integer AS n FROM sluice.${from}`, values);
  return result.rows[0]?.n ?? Number.NaN;
}

/** A connection of the pool whose transaction a test holds open. A test that fails gives it back too. */
export async function openTransaction(
  pool: Pool,
): Promise<{ client: ClientBase; commit(): Promise<void>; rollback(): Promise<void> }> {
  const client = await pool.connect();
  let open = true;
  const end = async (text: string) => {
    if (!open) return;
    open = false;
    await client.query(text);
    client.release();
  };
  onTestFinished(() => end("ROLLBACK"));
  await client.query("BEGIN");
  return { client, commit: () => end("COMMIT"), rollback: () => end("ROLLBACK") };
}

/** Waits until a session of this database waits for a lock while it runs a statement that contains the text. */
export async function waitUntilBlocked(pool: Queryable, text: string): Promise<void> {
  await waitFor(
    async () => {
      const result: QueryResult<{ n: number }> = await pool.query(
        `SELECT count(*)::integer AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()`,
        [text],
      );
      return (result.rows[0]?.n ?? 0) > 0;
    },
    { what: `a session blocked in ${text}` },
  );
}

export interface TableReads {
  readonly seqScans: number;
  /** Rows that sequential scans returned. */
  readonly seqRows: number;
  /** Live rows that index scans fetched. */
  readonly indexRows: number;
}

/**
 * What a piece of work reads of a table, from the session's own counters (exact and at once). The work runs in a
 * transaction of the client, which is committed.
 */
export async function readsOf(
  client: ClientBase,
  table: "delivery" | "destination",
  work: () => Promise<unknown>,
): Promise<TableReads> {
  await client.query("BEGIN");
  const before = await pendingReads(client, table);
  await work();
  const after = await pendingReads(client, table);
  await client.query("COMMIT");
  return {
    seqScans: after.seqScans - before.seqScans,
    seqRows: after.seqRows - before.seqRows,
    indexRows: after.indexRows - before.indexRows,
  };
}

/** Counters that this session has not reported yet; those of earlier transactions may be among them. */
async function pendingReads(client: ClientBase, table: string): Promise<TableReads> {
  const result = await client.query<TableReads>(
    `SELECT seq_scan::integer AS "seqScans", seq_tup_read::integer AS "seqRows", idx_tup_fetch::integer AS "indexRows"
       FROM pg_stat_xact_user_tables WHERE relid = ('sluice.' || $1)::regclass`,
    [table],
  );
  const reads = result.rows[0];
  if (reads === undefined) throw new Error(`no counters of ${table}`);
  return reads;
}
