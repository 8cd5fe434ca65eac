/** Field fault 116: who keeps dead rows from being removed is named, and who does not is left alone. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withDatabase } from "#db/admin.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { openTransaction } from "#tests/support/queue-rows/sql.ts";
import { describeHolder, readHorizonHolders } from "./xmin-horizon.ts";

const MINUTE_MS = 60_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const holders = (maxAgeMs = 0) => readHorizonHolders(database.pool, maxAgeMs);

describe("the holders of an old snapshot", () => {
  it("are none in a database in which nobody holds a transaction open", async () => {
    expect(await holders()).toEqual([]);
  });

  it("are sessions with a snapshot, such as a report at REPEATABLE READ", async () => {
    const { client, rollback } = await openTransaction(database.pool);
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await client.query("SELECT 1");
    const found = await holders();
    expect(found).toEqual([
      {
        kind: "session",
        who: expect.stringMatching(/^pid \d+ .*idle in transaction$/),
        ageMs: expect.any(Number),
        // Other databases of the server count too.
        ageXids: expect.any(Number),
      },
    ]);
    // Nothing but a young one: most sessions have a snapshot at some moment.
    expect(await holders(MINUTE_MS)).toEqual([]);
    await rollback();
    expect(await holders()).toEqual([]);
  });

  it("are sessions that have written and wait, although they have no snapshot at the moment", async () => {
    const { client, rollback } = await openTransaction(database.pool);
    await client.query("SELECT pg_current_xact_id()");
    expect(await holders()).toHaveLength(1);
    await rollback();
  });

  it("are not sessions of another database of the server, nor idle ones", async () => {
    const other = new pg.Client({ connectionString: withDatabase(database.connectionString, "postgres") });
    await other.connect();
    try {
      await other.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await other.query("SELECT pg_current_xact_id()");
      expect(await holders()).toEqual([]);
    } finally {
      await other.end();
    }
  });

  it("are said in one sentence each, without any statement's text", () => {
    expect(
      describeHolder({ kind: "session", who: "pid 7 psql idle in transaction", ageMs: 612_300, ageXids: 5 }),
    ).toBe("session pid 7 psql idle in transaction: open for 612 s");
    expect(describeHolder({ kind: "replication slot", who: "copy", ageMs: null, ageXids: 2_000_000 })).toBe(
      "replication slot copy: 2000000 transactions behind",
    );
  });
});
