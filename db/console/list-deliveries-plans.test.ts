/**
 * What each filter of the delivery list reads of the archive and of the attempts, counted by the database itself: never
 * the whole, but a few rows along an index, or the rows of one day.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAge, readAttempts, readCode } from "#domain/delivery-filter.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { type ListFilter, pageText, planList } from "./delivery-sources.ts";
import { ATTEMPTS } from "./read-attempts.ts";

const DAYS = 6;
const ROWS_PER_DAY = 8_000;
const TENANTS = 200;
const LIMIT = 51;
/** Rows that a page along an index may read: a page of each partition and source, and what a filter skips on its way. */
const FEW_ROWS = LIMIT * (DAYS + 8) + 400;
/** So few that a partition is rightly walked: near midnight the first or the last one holds minutes of a day. */
const SMALL_ROWS = 1_000;
/** A window of one day touches two partitions. */
const ONE_DAY_ROWS = 2 * ROWS_PER_DAY + FEW_ROWS;

let database: TestDatabase;
let tenantId: string;
let destinationId: string;

/** A UUIDv7 of a moment, from a number. */
const idAt = (moment: string, n: string) =>
  `(left(sluice.uuid_floor(${moment})::text, 13) || '-7' || substr(md5((${n})::text), 1, 3) || '-8' || substr(md5((${n})::text), 4, 3)
    || '-' || substr(md5((${n})::text), 7, 12))::uuid`;
const TENANT_OF = "('00000000-0000-7000-8000-' || lpad((n % $1)::text, 12, '0'))::uuid";

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  for (let day = DAYS; day >= 2; day -= 1) {
    for (const parent of ["delivery_archive", "attempt"]) {
      const bound = (at: string) => (parent === "attempt" ? `${at}::text` : `sluice.uuid_floor(${at})::text`);
      const start = `((clock_timestamp() AT TIME ZONE 'UTC')::date - ${day})::timestamp AT TIME ZONE 'UTC'`;
      const end = `((clock_timestamp() AT TIME ZONE 'UTC')::date - ${day - 1})::timestamp AT TIME ZONE 'UTC'`;
      await pool.query(
        `DO $$ BEGIN EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I FOR VALUES FROM (%L) TO (%L)',
           '${parent}_past_${day}', '${parent}', ${bound(start)}, ${bound(end)}); END $$`,
      );
    }
  }
  const at = `clock_timestamp() - interval '5 seconds' - (n::float8 / $2) * interval '1 day'`;
  await pool.query(
    `INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
            service_class, created_at, first_due_at, due_at, state, reason, attempts, failures, throttles, cycle, last_outcome, last_status)
     SELECT ${idAt("made.at", "n")}, 'us', ${TENANT_OF}, ${TENANT_OF}, gen_random_uuid(), 7, 'hold.released', 'k-' || n, 'routine',
            made.at, made.at, made.at, CASE WHEN n % 4000 = 0 THEN 'cancelled' ELSE 'delivered' END,
            CASE WHEN n % 4000 = 0 THEN 'staff_cancel' END, CASE WHEN n % 50 = 0 THEN 4 ELSE 1 END, 0, 0, 1,
            CASE WHEN n % 4000 = 0 THEN 'rate_limited' ELSE 'delivered' END, CASE WHEN n % 4000 = 0 THEN 429 ELSE 200 END
       FROM generate_series(1, $2::integer * $3::integer) n CROSS JOIN LATERAL (SELECT ${at} AS at) made`,
    [TENANTS, ROWS_PER_DAY, DAYS],
  );
  await pool.query(
    `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
            due_at, started_at, duration_ms, outcome, decision, status)
     SELECT ${idAt("made.at", "n + 1000000")}, 'us', ${idAt("made.at", "n")}, ${TENANT_OF}, ${TENANT_OF}, 'routine', 'first', 1, 'http', 1,
            gen_random_uuid(), made.at, made.at, 5, 'delivered', 'delivered', 200
       FROM generate_series(1, $2::integer * $3::integer) n CROSS JOIN LATERAL (SELECT ${at} AS at) made`,
    [TENANTS, ROWS_PER_DAY, DAYS],
  );
  await pool.query("VACUUM ANALYZE sluice.delivery_archive");
  await pool.query("VACUUM ANALYZE sluice.attempt");
  const { rows } = await pool.query<{ tenant_id: string; destination_id: string }>(
    "SELECT tenant_id, destination_id FROM sluice.delivery_archive LIMIT 1",
  );
  tenantId = rows[0]?.tenant_id ?? "";
  destinationId = rows[0]?.destination_id ?? "";
});

afterAll(() => database.drop());

const NOTHING: ListFilter = {
  tenantIds: null,
  destinationId: null,
  state: null,
  reason: null,
  code: null,
  type: null,
  class: null,
  attempts: null,
  ageMs: null,
  fromMs: null,
  toMs: null,
  range: null,
  ids: null,
  oldestFirst: false,
  after: null,
};

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
}

/** Rows that were looked at in partitions of a table, and whether one of them was walked from end to end. */
async function readsOf(
  text: string,
  values: unknown[],
  table: string,
): Promise<{ rows: number; walked: string[] }> {
  const result = await database.pool.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  const root = result.rows[0]?.["QUERY PLAN"][0]?.Plan;
  if (root === undefined) throw new Error("no plan");
  const reads = { rows: 0, walked: [] as string[] };
  const visit = (node: PlanNode): void => {
    const relation = node["Relation Name"] ?? "";
    if (relation.startsWith(table)) {
      const each =
        node["Actual Rows"] +
        (node["Rows Removed by Filter"] ?? 0) +
        (node["Rows Removed by Index Recheck"] ?? 0);
      const walks = node["Node Type"] === "Seq Scan" && each > 0;
      if (walks && each < SMALL_ROWS) return;
      reads.rows += each * node["Actual Loops"];
      if (walks) reads.walked.push(relation);
    }
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(root);
  return reads;
}

async function archiveReads(filter: Partial<ListFilter>) {
  const values: unknown[] = [new Date(), LIMIT];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const whole = { ...NOTHING, ...filter };
  const plan = planList(whole, Date.now(), bind);
  if (plan.sources.length === 0) return { rows: 0, walked: [] };
  const text = `SELECT * FROM (${pageText(plan, whole, "$2", bind)}) page WHERE $1::timestamptz IS NOT NULL`;
  return readsOf(text, values, "delivery_archive");
}

const INDEXED: [string, () => Partial<ListFilter>][] = [
  ["no filter", () => ({})],
  ["a later page", () => ({ after: { id: "01a22d00-0000-7000-8000-000000000000" } })],
  ["tenant", () => ({ tenantIds: [tenantId] })],
  [
    "a scope of ten tenants",
    () => ({ tenantIds: [tenantId, ...Array.from({ length: 9 }, () => randomUUID())] }),
  ],
  ["destination", () => ({ tenantIds: [tenantId], destinationId })],
  ["a tenant without deliveries", () => ({ tenantIds: [randomUUID()] })],
  ["state delivered", () => ({ state: "delivered" })],
  ["state cancelled", () => ({ state: "cancelled" })],
  ["reason of a cancelled one", () => ({ reason: "staff_cancel" })],
  ["reason of a dead one", () => ({ reason: "rejected" })],
  ["held by a pause", () => ({ reason: "tenant_paused" })],
  ["last result 429", () => ({ code: readCode("429") })],
  ["last result 5xx", () => ({ code: readCode("5xx") })],
  ["last result timeout", () => ({ code: readCode("timeout") })],
  ["age", () => ({ ageMs: readAge("24h..") })],
  ["range of an hour", () => ({ range: "1h" })],
  ["range of seven days", () => ({ range: "7d" })],
  ["from and to", () => ({ fromMs: Date.now() - 50 * 3_600_000, toMs: Date.now() - 49 * 3_600_000 })],
  ["an id that is not there", () => ({ ids: [randomUUID()] })],
];

const WINDOWED: [string, () => Partial<ListFilter>][] = [
  ["an event type that does not occur", () => ({ type: "no.such.type" })],
  ["a class that does not occur", () => ({ class: "urgent" })],
  ["attempts that do not occur", () => ({ attempts: readAttempts("9..") })],
  ["a success that does not occur", () => ({ code: readCode("204") })],
  ["an event type and an age", () => ({ type: "no.such.type", ageMs: readAge("48h..") })],
  ["an event type of a week that does not occur", () => ({ type: "no.such.type", range: "7d" })],
];

describe("what the list reads of the archive", () => {
  test.each(INDEXED)("%s: a few rows along an index", async (_name, filter) => {
    const { rows, walked } = await archiveReads(filter());
    expect(walked).toEqual([]);
    expect(rows).toBeLessThanOrEqual(FEW_ROWS);
  });

  test.each(WINDOWED)("%s: at most the rows of one day", async (_name, filter) => {
    const { rows, walked } = await archiveReads(filter());
    expect(rows).toBeLessThanOrEqual(ONE_DAY_ROWS);
    expect(walked.length).toBeLessThanOrEqual(2);
  });

  test("what occurs often ends as soon as the page is full", async () => {
    const { rows } = await archiveReads({ type: "hold.released" });
    expect(rows).toBeLessThanOrEqual(FEW_ROWS);
  });
});

/** Asked for both, the planner expects a handful of rows of a busy destination, and sorts a hundred thousand. */
test("the ended rows of one destination are asked for by it alone, the waiting ones by their tenant too", () => {
  const whole = { ...NOTHING, tenantIds: [tenantId], destinationId };
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const text = pageText(planList(whole, Date.now(), bind), whole, "$2", bind);
  const parts = new Map(
    text
      .split("UNION ALL")
      .map((part) => [/FROM sluice\.(\w+) b WHERE/.exec(part)?.[1], part.includes("k.tenant_id")] as const),
  );
  expect(Object.fromEntries(parts)).toEqual({ delivery: true, dead_letter: false, delivery_archive: false });
});

test("the attempts of one delivery are found by its id, partition by partition", async () => {
  const { rows: found } = await database.pool.query<{ delivery_id: string; started_at: Date }>(
    "SELECT delivery_id, started_at FROM sluice.attempt ORDER BY started_at LIMIT 1",
  );
  const { rows, walked } = await readsOf(
    ATTEMPTS,
    [found[0]?.delivery_id, found[0]?.started_at, 201],
    "attempt",
  );
  expect(walked).toEqual([]);
  expect(rows).toBeLessThanOrEqual(1);
});
