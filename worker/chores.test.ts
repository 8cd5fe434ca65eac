/** What the chores of a process say when something is wrong that no delivery shows yet. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { choresOf } from "./chores.ts";
import { ALL_ON } from "./config.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function retain(): Promise<readonly Record<string, unknown>[]> {
  const captured = captureLog();
  const chores = choresOf(database.pool, "us", randomUUID(), ALL_ON, captured.log);
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
  });
});
