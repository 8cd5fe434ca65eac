/** What retention makes ahead, removes and keeps. On a real server. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { awayFromMidnight } from "#tests/support/midnight.ts";
import {
  countRows,
  leaseRows,
  makePlace,
  openTransaction,
  outcomeOf,
  type Place,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { finish } from "./finish.ts";
import { applyRetention, DEFAULT_RETENTION, MAX_CHUNK_ROWS } from "./retention.ts";

const DAY_MS = 86_400_000;
const PARENTS = ["attempt", "payload", "delivery_archive"] as const;
type Parent = (typeof PARENTS)[number];

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});

beforeEach(async () => {
  await awayFromMidnight();
  await database.pool.query(
    "TRUNCATE sluice.delivery, sluice.dead_letter, sluice.delivery_key, sluice.payload, sluice.attempt, sluice.delivery_archive",
  );
  const old = await database.pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ '^(attempt|payload|delivery_archive)_20[0-9]{6}$' AND to_date(right(relname, 8), 'YYYYMMDD') < now() - interval '3 days'",
  );
  for (const { name } of old.rows) await database.pool.query(`DROP TABLE sluice.${name}`);
});

afterAll(() => database.drop());

function dayOf(daysAgo: number): { name: string; lowMs: number } {
  const lowMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - daysAgo * DAY_MS;
  return { name: new Date(lowMs).toISOString().slice(0, 10).replaceAll("-", ""), lowMs };
}

/** Bounds as sluice.ensure_partitions makes them: a moment for attempts, the smallest UUID of a moment for the others. */
function boundOf(parent: Parent, ms: number): string {
  if (parent === "attempt") return new Date(ms).toISOString();
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The partition of a day that lies back, as that day's retention had made it. Returns its name. */
async function oldPartition(parent: Parent, daysAgo: number): Promise<string> {
  const { name, lowMs } = dayOf(daysAgo);
  const [low, high] = [boundOf(parent, lowMs), boundOf(parent, lowMs + DAY_MS)];
  await database.pool.query(
    `CREATE TABLE sluice.${parent}_${name} PARTITION OF sluice.${parent} FOR VALUES FROM ('${low}') TO ('${high}')`,
  );
  return `${parent}_${name}`;
}

async function exists(name: string): Promise<boolean> {
  const result = await database.pool.query<{ there: boolean }>(
    "SELECT to_regclass('sluice.' || $1) IS NOT NULL AS there",
    [name],
  );
  return result.rows[0]?.there === true;
}

/** A waiting delivery whose payload was made `daysAgo`, noon. */
async function oldDelivery(daysAgo: number): Promise<string> {
  const payloadId = uuidV7(dayOf(daysAgo).lowMs + DAY_MS / 2, randomBytes);
  await database.pool.query(
    "INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ($1, 'us', 'x', 'text/plain', 1)",
    [payloadId],
  );
  const [id] = await makeDeliveries(database.pool, place);
  await database.pool.query("DELETE FROM sluice.delivery WHERE id = $1", [id]);
  await database.pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class)
     VALUES ($1, 'us', $2, $3, $4, 1, 'test.event', $1::uuid::text, 'routine')`,
    [id, place.tenantId, place.destinationId, payloadId],
  );
  return String(id);
}

describe("partitions ahead", () => {
  it("are there for yesterday to seven days from now, with a default below them, and are made when missing", async () => {
    const wanted = PARENTS.flatMap((parent) => [
      `${parent}_default`,
      ...Array.from({ length: 9 }, (_, index) => `${parent}_${dayOf(1 - index).name}`),
    ]);
    for (const name of wanted) expect(await exists(name), name).toBe(true);
    expect((await applyRetention(database.pool)).created).toEqual([]);
    const lost = PARENTS.map((parent) => `${parent}_${dayOf(-7).name}`);
    for (const name of lost) await database.pool.query(`DROP TABLE sluice.${name}`);
    expect((await applyRetention(database.pool)).created.sort()).toEqual([...lost].sort());
  });

  it("are made once by several processes at the same time, without an error", async () => {
    for (const parent of PARENTS) await database.pool.query(`DROP TABLE sluice.${parent}_${dayOf(-7).name}`);
    const old = [await oldPartition("attempt", 40), await oldPartition("delivery_archive", 41)];
    const results = await Promise.all(Array.from({ length: 4 }, () => applyRetention(database.pool)));
    expect(results.flatMap(({ created }) => created)).toHaveLength(PARENTS.length);
    for (const name of old) expect(await exists(name), name).toBe(false);
  });

  it("take a row of each day where it belongs; a row outside all days is reported", async () => {
    await makeDeliveries(database.pool, place);
    expect(await countRows(database.pool, `payload_${dayOf(0).name}`)).toBe(1);
    expect((await applyRetention(database.pool)).alarms).toEqual([]);
    const far = uuidV7(Date.now() + 30 * DAY_MS, randomBytes);
    await database.pool.query(
      "INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ($1, 'us', 'x', 'a/b', 1)",
      [far],
    );
    expect((await applyRetention(database.pool)).alarms).toEqual([
      expect.stringMatching(/^payload_default holds 1 rows of days far from now/),
    ]);
  });
});

describe("partitions past their time", () => {
  it("of attempts and of the archive go by age alone; the day at the limit stays", async () => {
    const [attempts, archive] = [
      await oldPartition("attempt", 31),
      await oldPartition("delivery_archive", 31),
    ];
    const kept = [await oldPartition("attempt", 30), await oldPartition("delivery_archive", 30)];
    expect(await applyRetention(database.pool)).toMatchObject({ dropped: [attempts, archive], kept: [] });
    for (const name of kept) expect(await exists(name), name).toBe(true);
    const shorter = { ...DEFAULT_RETENTION, attempt: 7, archive: 29 };
    expect((await applyRetention(database.pool, shorter)).dropped).toEqual(kept);
  });

  it("ID-13 of payloads stay as long as a live or dead delivery has a payload of that day", async () => {
    const day = await oldPartition("payload", 40);
    const neighbour = await oldPartition("payload", 39);
    const id = await oldDelivery(40);
    expect(await applyRetention(database.pool)).toMatchObject({ dropped: [neighbour], kept: [day] });

    const token = await leaseRows(database.pool, [id]);
    const dead = { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" } as const;
    expect((await finish(database.pool, [outcomeOf(id, token, dead)])).size).toBe(1);
    expect(await applyRetention(database.pool)).toMatchObject({ dropped: [], kept: [day] });

    await database.pool.query("DELETE FROM sluice.dead_letter WHERE id = $1", [id]);
    expect(await applyRetention(database.pool)).toMatchObject({ dropped: [day], kept: [] });
  });

  it("that somebody reads are passed over after short waits, and come next time; writers go on meanwhile", async () => {
    const [busy, free] = [await oldPartition("attempt", 40), await oldPartition("attempt", 41)];
    const reader = await openTransaction(database.pool);
    await reader.client.query(`SELECT 1 FROM sluice.${busy}`);
    const [id] = await makeDeliveries(database.pool, place);
    const token = await leaseRows(database.pool, [String(id)]);
    const running = applyRetention(database.pool);
    await waitUntilBlocked(database.pool, "DROP TABLE");
    expect((await finish(database.pool, [outcomeOf(String(id), token)])).size).toBe(1);
    const result = await running;
    await reader.commit();
    expect(result).toMatchObject({ dropped: [free], kept: [busy] });
    expect((await applyRetention(database.pool)).dropped).toEqual([busy]);
  });
});

async function oldKey(deliveryId: string, daysAgo: number): Promise<string> {
  const key = `old-${randomUUID()}`;
  await database.pool.query(
    `INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256, created_at)
     VALUES ($1, $2, 'us', $3, decode(repeat('ab', 32), 'hex'), now() - $4::integer * interval '1 day')`,
    [key, place.destinationId, deliveryId, daysAgo],
  );
  return key;
}

describe("ID-11 ID-13 keys", () => {
  it("outlive their delivery for 90 days, and go then only if it is neither live nor dead", async () => {
    const [live] = await makeDeliveries(database.pool, place);
    const [dead] = await makeDeliveries(database.pool, place);
    const token = await leaseRows(database.pool, [String(dead)]);
    const died = { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" } as const;
    await finish(database.pool, [outcomeOf(String(dead), token, died)]);
    const stay = [
      await oldKey(String(live), 400),
      await oldKey(String(dead), 400),
      await oldKey(randomUUID(), 89),
    ];
    const go = await oldKey(randomUUID(), 91);
    expect((await applyRetention(database.pool)).removedRows).toBe(1);
    const left = await database.pool.query<{ key: string }>(
      "SELECT idempotency_key AS key FROM sluice.delivery_key WHERE idempotency_key LIKE 'old-%'",
    );
    expect(left.rows.map(({ key }) => key).sort()).toEqual([...stay].sort());
    expect(left.rows.map(({ key }) => key)).not.toContain(go);
  });
});

describe("samples, roll-ups and stored answers", () => {
  it("are removed past their time, all of them in one pass and in chunks", async () => {
    await database.pool.query(
      `INSERT INTO sluice.sample_run (at, scope, region, ok)
       SELECT now() - interval '8 days' - n * interval '5 seconds', 'class', 'us', true FROM generate_series(1, $1::integer) n`,
      [MAX_CHUNK_ROWS + 10],
    );
    await database.pool.query(
      `INSERT INTO sluice.sample_run (at, scope, region, ok) VALUES (now() - interval '6 days', 'class', 'us', true)`,
    );
    await database.pool.query(
      `INSERT INTO sluice.queue_sample SELECT now() - d * interval '1 day', 'class', NULL, 'urgent', 'us', 0,0,0,0,0,0,0,0,0,0 FROM unnest(ARRAY[6, 8]) d`,
    );
    await database.pool.query(
      `INSERT INTO sluice.attempt_rollup SELECT date_trunc('minute', now()) - d * interval '1 day', $1, $2, 'urgent', 'gone', 'dead', 'us', 1,1,1,1,1
         FROM unnest(ARRAY[29, 31]) d`,
      [place.tenantId, place.destinationId],
    );
    await database.pool.query(
      `INSERT INTO sluice.api_idempotency (idempotency_key, actor, region, request_sha256, created_at)
       SELECT 'k' || h, 'ann', 'us', decode(repeat('ab', 32), 'hex'), now() - h * interval '1 hour' FROM unnest(ARRAY[23, 25]) h`,
    );
    expect((await applyRetention(database.pool)).removedRows).toBe(MAX_CHUNK_ROWS + 10 + 3);
    for (const table of ["sample_run", "queue_sample", "attempt_rollup", "api_idempotency"]) {
      expect(await countRows(database.pool, table), table).toBe(1);
    }
    expect((await applyRetention(database.pool)).removedRows).toBe(0);
  });
});
