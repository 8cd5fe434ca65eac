/**
 * DEFAULT partitions: missing, full, and home of what is older than its days. Retention mends what it can, says what it
 * cannot, and never loses a live row or a body that is still needed. On a real server.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { awayFromMidnight } from "#tests/support/midnight.ts";
import { countRows, leaseRows, makePlace, outcomeOf, type Place } from "#tests/support/queue-rows/sql.ts";
import { finish } from "./finish.ts";
import { readPartitionHealth } from "./partition-health.ts";
import { MAX_DROPS, MAX_MOVED_ROWS, PARENTS } from "./partitions.ts";
import { applyRetention } from "./retention.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});
beforeEach(async () => {
  await awayFromMidnight();
  await database.pool.query(
    "TRUNCATE sluice.delivery, sluice.dead_letter, sluice.payload, sluice.attempt, sluice.delivery_archive",
  );
  await applyRetention(database.pool);
  expect((await readPartitionHealth(database.pool)).alarms).toEqual([]);
});
afterAll(() => database.drop());

/** Midnight of a day, UTC. */
const dayMs = (daysFromNow: number) => (Math.floor(Date.now() / DAY_MS) + daysFromNow) * DAY_MS;
const dayName = (daysFromNow: number) =>
  new Date(dayMs(daysFromNow)).toISOString().slice(0, 10).replaceAll("-", "");
const idOf = (daysFromNow: number) => uuidV7(dayMs(daysFromNow) + DAY_MS / 2, randomBytes);

async function dropTables(...names: string[]): Promise<void> {
  for (const name of names) await database.pool.query(`DROP TABLE sluice.${name}`);
}

async function putPayload(id: string): Promise<void> {
  await database.pool.query(
    "INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ($1, 'us', 'kept', 'text/plain', 4)",
    [id],
  );
}

/** A live delivery and its body, both with ids of that day. */
async function putDelivery(daysFromNow: number): Promise<string> {
  const id = idOf(daysFromNow);
  await putPayload(id);
  await database.pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class)
     VALUES ($1, 'us', $2, $3, $1, 4, 'test.event', $1::uuid::text, 'routine')`,
    [id, place.tenantId, place.destinationId],
  );
  return id;
}

/** In which partition a row of the table lies. */
async function homeOf(table: string, id: string): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ home: string }>(
    `SELECT tableoid::regclass::text AS home FROM sluice.${table} WHERE id = $1`,
    [id],
  );
  return rows[0]?.home.replace("sluice.", "");
}

describe("a missing DEFAULT partition", () => {
  it("is named by the alarm, and made again", async () => {
    await dropTables("delivery_archive_default", "attempt_default");
    expect((await readPartitionHealth(database.pool)).alarms).toEqual([
      "attempt_default is missing: rows outside all days are refused",
      "delivery_archive_default is missing: rows outside all days are refused",
    ]);
    const result = await applyRetention(database.pool);
    expect([...result.defaultMissing].sort()).toEqual(["attempt_default", "delivery_archive_default"]);
    expect(await applyRetention(database.pool)).toMatchObject({ defaultMissing: [], alarms: [] });
  });
});

describe("a full DEFAULT partition", () => {
  it("keeps its day from being made; retention moves the rows home, byte for byte, and makes the day", async () => {
    const days = [6, 7].map((day) => `payload_${dayName(day)}`);
    await dropTables(...days, `attempt_${dayName(7)}`);
    const ids = [idOf(6), idOf(7)];
    for (const id of ids) await putPayload(id);
    await database.pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                   due_at, started_at, duration_ms, outcome, decision)
       VALUES ($1, 'us', $1, $2, $3, 'routine', 'first', 1, 'http', 1, $1, $4, $4, 5, 'delivered', 'delivered')`,
      [ids[0], place.tenantId, place.destinationId, new Date(dayMs(7) + 1_000)],
    );
    expect(await homeOf("payload", String(ids[0]))).toBe("payload_default");
    expect((await readPartitionHealth(database.pool)).alarms).toEqual([
      expect.stringMatching(/^payload_default holds 2 rows, and days that cannot be made/),
      expect.stringMatching(/^attempt_default holds 1 rows, and days that cannot be made/),
    ]);
    const result = await applyRetention(database.pool);
    expect(result).toMatchObject({
      tidied: ["payload_default", "attempt_default"],
      tooFull: [],
      defaultMissing: [],
      alarms: [],
    });
    expect([...result.created].sort()).toEqual([`attempt_${dayName(7)}`, ...days]);
    expect(await homeOf("payload", String(ids[0]))).toBe(days[0]);
    expect(await homeOf("payload", String(ids[1]))).toBe(days[1]);
    expect(await homeOf("attempt", String(ids[0]))).toBe(`attempt_${dayName(7)}`);
    expect(await countRows(database.pool, "payload WHERE body = 'kept' AND size_bytes = 4")).toBe(2);
    // Once is enough, and attempts are as unchangeable as before.
    expect(await applyRetention(database.pool)).toMatchObject({ tidied: [], created: [] });
    await expect(database.pool.query("DELETE FROM sluice.attempt")).rejects.toMatchObject({ code: "23001" });
  });

  it("with more than may be moved while writers wait is said; other days and old partitions go on", async () => {
    await dropTables(`payload_${dayName(7)}`, `attempt_${dayName(7)}`);
    await database.pool.query(
      `INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
       SELECT overlay(overlay(gen_random_uuid()::text placing left($1, 13) from 1) placing '7' from 15)::uuid, 'us', 'x', 'text/plain', 1
         FROM generate_series(1, $2::integer)`,
      [idOf(7), MAX_MOVED_ROWS + 1],
    );
    const result = await applyRetention(database.pool);
    expect(result).toMatchObject({
      tidied: [],
      tooFull: ["payload_default"],
      created: [`attempt_${dayName(7)}`],
    });
    expect(result.alarms).toEqual([
      expect.stringMatching(/^payload_default holds 10000 rows or more, and days that cannot be made/),
    ]);
    expect(await countRows(database.pool, "payload")).toBe(MAX_MOVED_ROWS + 1);
  });

  it("by several processes at once is emptied once", async () => {
    await dropTables(`payload_${dayName(7)}`);
    await putPayload(idOf(7));
    const results = await Promise.all(Array.from({ length: 3 }, () => applyRetention(database.pool)));
    expect(results.flatMap(({ tidied }) => tidied)).toEqual(["payload_default"]);
    expect(results.every(({ tooFull }) => tooFull.length === 0)).toBe(true);
    expect(await countRows(database.pool, `payload_${dayName(7)}`)).toBe(1);
  });
});

describe("what is older than its days", () => {
  it("a delivery that is delivered at last lands in the archive's DEFAULT partition and is kept from its end on", async () => {
    const id = await putDelivery(-45);
    const token = await leaseRows(database.pool, [id]);
    await finish(database.pool, [outcomeOf(id, token)]);
    expect(await homeOf("delivery_archive", id)).toBe("delivery_archive_default");
    const result = await applyRetention(database.pool);
    // Its body has no day either and nobody needs it any more.
    expect(result).toMatchObject({ tidied: ["payload_default"], alarms: [] });
    expect((await readPartitionHealth(database.pool)).notes).toEqual([
      "delivery_archive_default holds 1 rows of older days",
    ]);
    expect(await countRows(database.pool, "delivery_archive WHERE id = $1", [id])).toBe(1);
    expect(await countRows(database.pool, "payload WHERE id = $1", [id])).toBe(0);

    await database.pool.query(
      `INSERT INTO sluice.delivery_archive
         (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at, first_due_at,
          due_at, state, attempts, failures, throttles, cycle, finished_at)
       SELECT $2, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at,
              first_due_at, due_at, state, attempts, failures, throttles, cycle, now() - interval '31 days'
         FROM sluice.delivery_archive WHERE id = $1`,
      [id, idOf(-80)],
    );
    expect((await applyRetention(database.pool)).tidied).toEqual(["delivery_archive_default"]);
    expect(await countRows(database.pool, "delivery_archive")).toBe(1);
  });

  it("ID-13 a body outside all days stays as long as a live or dead delivery needs it", async () => {
    const live = await putDelivery(-60);
    const dead = await putDelivery(-61);
    const token = await leaseRows(database.pool, [dead]);
    await finish(database.pool, [
      outcomeOf(dead, token, { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" }),
    ]);
    await putPayload(idOf(-62));
    expect((await applyRetention(database.pool)).tidied).toEqual(["payload_default"]);
    const { rows } = await database.pool.query<{ id: string }>("SELECT id FROM sluice.payload ORDER BY id");
    expect(rows.map(({ id }) => id)).toEqual([dead, live]);
    expect((await applyRetention(database.pool)).tidied).toEqual([]);
  });

  it("days that dead letters keep do not stand in the way of the days behind them", async () => {
    const oldest = 40 + MAX_DROPS;
    for (let day = oldest; day >= 40; day--) {
      const [low, high] = [dayMs(-day), dayMs(1 - day)].map((ms) => {
        const hex = ms.toString(16).padStart(12, "0");
        return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
      });
      await database.pool.query(
        `CREATE TABLE sluice.payload_${dayName(-day)} PARTITION OF sluice.payload FOR VALUES FROM ('${low}') TO ('${high}')`,
      );
      if (day > 40) await putDelivery(-day);
    }
    const result = await applyRetention(database.pool);
    expect(result.dropped).toEqual([`payload_${dayName(-40)}`]);
    expect(result.kept).toHaveLength(MAX_DROPS);
    await database.pool.query("DELETE FROM sluice.delivery");
    expect((await applyRetention(database.pool)).dropped).toHaveLength(MAX_DROPS);
  });
});

describe("the days around now", () => {
  it("are named when they are missing", async () => {
    const missing = PARENTS.map((parent) => `${parent}_${dayName(1)}`);
    await dropTables(...missing);
    expect(await readPartitionHealth(database.pool)).toMatchObject({
      missingDays: [...missing].sort(),
      alarms: [expect.stringMatching(/^missing: attempt_\d{8}, delivery_archive_\d{8}, payload_\d{8}$/)],
    });
    expect(await applyRetention(database.pool)).toMatchObject({ alarms: [] });
  });
});
