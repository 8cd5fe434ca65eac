/** What the chores of a process say when something is wrong that no delivery shows yet. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { openTransaction } from "#tests/support/queue-rows/sql.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { Alarms, ClaimTimes } from "./alarms.ts";
import { choresOf, SLOW_CLAIM_MS, watchTable } from "./chores.ts";
import { ALL_ON } from "./config.ts";

const alarms = new Alarms();

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function retain(): Promise<readonly Record<string, unknown>[]> {
  const captured = captureLog();
  const parts = { log: captured.log, alarms, claimTimes: new ClaimTimes() };
  const chores = choresOf(database.pool, "us", randomUUID(), ALL_ON, parts);
  await chores.find(({ name }) => name === "retention")?.work();
  return captured.lines();
}

describe("retention", () => {
  it("raises an alarm for a DEFAULT partition that was missing, once, and is quiet when all is well", async () => {
    await database.pool.query("DROP TABLE sluice.payload_default");
    expect(await retain()).toContainEqual(
      expect.objectContaining({
        level: 50,
        event: "default_partition_missing",
        partitions: ["payload_default"],
      }),
    );
    expect(await retain()).toEqual([]);
  });

  it("raises an alarm for rows that fit no day", async () => {
    await database.pool.query(
      "INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ('ffffffff-0000-7000-8000-000000000000', 'us', 'x', 'a/b', 1)",
    );
    expect(await retain()).toContainEqual(
      expect.objectContaining({
        level: 50,
        event: "partitions_wrong",
        alarms: [expect.stringMatching(/^payload_default holds 1 rows of days far from now/)],
      }),
    );
    expect(alarms.list()).toEqual([
      { name: "partitions", text: expect.stringMatching(/^payload_default holds/) },
    ]);
  });
});

describe("field fault 116: a look at what keeps dead rows", () => {
  it("names an old snapshot for as long as it is held, on the health page and in the log", async () => {
    const captured = captureLog();
    const standing = new Alarms();
    const look = () => watchTable(database.pool, captured.log, standing, new ClaimTimes(), 0);
    await look();
    expect(standing.list()).toEqual([]);
    const { client, rollback } = await openTransaction(database.pool);
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await client.query("SELECT 1");
    await look();
    expect(standing.list()).toEqual([
      {
        name: "xmin_horizon",
        text: expect.stringMatching(/^session pid \d+ .*idle in transaction: open for \d+ s$/),
      },
    ]);
    expect(captured.lines()).toContainEqual(
      expect.objectContaining({ level: 50, event: "xmin_horizon_old" }),
    );
    await rollback();
    await look();
    expect(standing.list()).toEqual([]);
  });

  it("says that claims have become slow, and stops saying so when they are not any more", async () => {
    const captured = captureLog();
    const standing = new Alarms();
    const times = new ClaimTimes();
    for (let n = 0; n < 100; n++) times.add(n < 90 ? 2 : SLOW_CLAIM_MS * 2);
    await watchTable(database.pool, captured.log, standing, times);
    expect(standing.list()).toEqual([
      { name: "slow_claims", text: "one claim in twenty takes 1000 ms and more" },
    ]);
    expect(captured.lines()).toContainEqual(
      expect.objectContaining({ level: 50, event: "slow_claims", p95Ms: 1_000 }),
    );
    for (let n = 0; n < 100; n++) times.add(2);
    await watchTable(database.pool, captured.log, standing, times);
    expect(standing.list()).toEqual([]);
  });
});
