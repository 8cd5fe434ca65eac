/** Promises of the pool, on a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { startProxy } from "#tests/support/worker-proxy.ts";
import { createPool, parseInt8, sessionOptions } from "./pool.ts";
import { transact } from "./transact.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

function pool(overrides: Partial<Parameters<typeof createPool>[0]> = {}) {
  return createPool({
    connectionString: database.connectionString,
    max: 2,
    applicationName: "pool-test",
    ...overrides,
  });
}

describe("createPool", () => {
  it("gives sessions in UTC, also when the database says otherwise", async () => {
    await database.pool.query(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''America/New_York''', current_database()); END $$",
    );
    const own = pool();
    const { rows } = await own.query("SHOW timezone");
    expect(rows).toEqual([{ TimeZone: "UTC" }]);
    await own.end();
  });

  it("keeps the options that the URL carries", async () => {
    const url = new URL(database.connectionString);
    url.searchParams.set("options", "-c work_mem=7MB -c timezone=Asia/Kolkata");
    const own = pool({ connectionString: url.href });
    const { rows } = await own.query(
      "SELECT current_setting('work_mem') AS memory, current_setting('timezone') AS zone",
    );
    expect(rows).toEqual([{ memory: "7MB", zone: "UTC" }]);
    await own.end();
  });

  it("refuses a session that is not in UTC", async () => {
    const own = pool();
    // What a pooler in front of Postgres does: it drops the start-up option.
    own.options.options = "-c timezone=Europe/Berlin";
    await expect(own.query("SELECT 1")).rejects.toMatchObject({ code: "database_time_zone" });
    await own.end();
  });

  it("gives counts as numbers, and what does not fit as text", async () => {
    const { rows } = await database.pool.query("SELECT count(*) AS count, 9007199254740993::int8 AS big");
    expect(rows).toEqual([{ count: 1, big: "9007199254740993" }]);
    expect(JSON.stringify(rows)).toBe('[{"count":1,"big":"9007199254740993"}]');
  });

  it("survives the end of its connections, idle and in use, and goes on", async () => {
    const errors: Error[] = [];
    const own = pool({ onError: (error) => errors.push(error) });
    const inUse = await own.connect();
    await (await own.connect()).release();
    const { rows } = await inUse.query("SELECT pg_backend_pid() AS pid");
    await database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pool-test'",
    );
    await waitFor(() => errors.length > 0, { what: "the idle connection's error" });
    await expect(inUse.query("SELECT 1")).rejects.toThrow();
    inUse.release(true);
    const after = await own.query("SELECT pg_backend_pid() AS pid");
    expect(after.rows[0]?.pid).not.toBe(rows[0]?.pid);
    await own.end();
  });

  it("does not wait for ever for a free connection", async () => {
    const own = pool({ max: 1, connectionTimeoutMs: 200 });
    const held = await own.connect();
    await expect(own.query("SELECT 1")).rejects.toThrow(/timeout/);
    held.release();
    await own.end();
  });

  it("does not wait for ever for a server that takes the connection and then says nothing (fault 91)", async () => {
    const proxy = await startProxy(database.connectionString);
    const own = pool({ connectionString: proxy.connectionString, connectionTimeoutMs: 300 });
    try {
      const swallowed = proxy.swallowFrom("SHOW timezone");
      const asked = own.query("SELECT 1");
      await expect(asked).rejects.toThrow(/timeout/);
      await swallowed;
      expect(own.totalCount).toBe(0);
      expect((await own.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    } finally {
      await own.end();
      await proxy.close();
    }
  });

  it("ends a session that leaves its transaction open", async () => {
    const own = pool({ idleInTransactionTimeoutMs: 100 });
    const client = await own.connect();
    await client.query("BEGIN");
    await waitFor(
      async () => {
        const { rows } = await database.pool.query(
          "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pool-test' AND state = 'idle in transaction'",
        );
        return rows.length === 0;
      },
      { what: "the idle transaction to be ended" },
    );
    await expect(client.query("SELECT 1")).rejects.toThrow();
    client.release(true);
    await own.end();
  });

  it("ends a statement that runs too long", async () => {
    const own = pool({ statementTimeoutMs: 100 });
    await expect(own.query("SELECT pg_sleep(20)")).rejects.toMatchObject({ code: "57014" });
    await own.end();
  });
});

describe("sessionOptions", () => {
  it("takes the options out of the URL, where they would win", () => {
    const { connectionString, options } = sessionOptions("postgres://u@h/d?options=-c%20a=1&sslmode=require");
    expect(connectionString).toBe("postgres://u@h/d?sslmode=require");
    expect(options).toBe("-c a=1 -c timezone=UTC");
  });
});

describe("parseInt8", () => {
  it.each([
    ["0", 0],
    ["-12", -12],
    ["9007199254740991", 9_007_199_254_740_991],
    ["9007199254740992", "9007199254740992"],
    ["-9223372036854775808", "-9223372036854775808"],
  ])("reads %s", (digits, value) => expect(parseInt8(digits)).toBe(value));
});

describe("transact", () => {
  const BOUNDS = `SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement,
                         current_setting('idle_in_transaction_session_timeout') AS idle`;

  it("commits all of the work within its bounds, or nothing, and gives back no connection that broke in it", async () => {
    const own = pool({ max: 1, statementTimeoutMs: 9_000 });
    const idOf = async () => (await own.query("SELECT pg_backend_pid() AS id")).rows[0].id as number;
    await own.query("CREATE TABLE kept (n integer)");
    const inside = await transact(
      own,
      { lockMs: 1_000, statementMs: 2_000, idleMs: 3_000 },
      async (client) => {
        await client.query("INSERT INTO kept VALUES (1)");
        return (await client.query(BOUNDS)).rows[0];
      },
    );
    expect(inside).toEqual({ lock: "1s", statement: "2s", idle: "3s" });
    // What is not given is the session's, and the bounds end with the transaction.
    const session = { lock: "0", statement: "9s", idle: "30s" };
    expect(await transact(own, {}, async (client) => (await client.query(BOUNDS)).rows[0])).toEqual(session);
    expect((await own.query(BOUNDS)).rows[0]).toEqual(session);

    const first = await idOf();
    const undone = transact(own, { lockMs: 1_000 }, async (client) => {
      await client.query("INSERT INTO kept VALUES (2)");
      throw new Error("changed its mind");
    });
    await expect(undone).rejects.toThrow("changed its mind");
    expect(await idOf()).toBe(first);
    const cut = transact(own, {}, (client) => client.query("SELECT pg_terminate_backend(pg_backend_pid())"));
    await expect(cut).rejects.toThrow();
    expect(await idOf()).not.toBe(first);
    expect((await own.query("SELECT n FROM kept")).rows).toEqual([{ n: 1 }]);
    await own.end();
  });
});
