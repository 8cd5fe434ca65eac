/** A connection that graphile-worker gives back twice goes back once, and the pool stays the pool. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { releasingOnce } from "./graphile-pool.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe("the pool that graphile-worker gets", () => {
  it("takes the second release of a connection for nothing, where pg-pool itself throws", async () => {
    const connectTwice = (pool: typeof database.pool) =>
      new Promise<string>((resolve, reject) => {
        pool.connect((error, _client, release) => {
          if (error) return reject(error);
          release();
          try {
            release();
            resolve("nothing");
          } catch (thrown) {
            resolve(String(thrown));
          }
        });
      });
    expect(await connectTwice(database.pool)).toMatch(/already been released/);
    expect(await connectTwice(releasingOnce(database.pool))).toBe("nothing");
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  it("is the same pool otherwise: queries, promises of connections, listeners, counts", async () => {
    const pool = releasingOnce(database.pool);
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    const client = await pool.connect();
    expect((await client.query("SELECT 2 AS two")).rows).toEqual([{ two: 2 }]);
    client.release();
    const listener = () => {};
    pool.on("error", listener);
    expect(database.pool.listeners("error")).toContain(listener);
    pool.removeListener("error", listener);
    expect(database.pool.listeners("error")).not.toContain(listener);
    expect(pool.totalCount).toBe(database.pool.totalCount);
    expect(pool.options).toBe(database.pool.options);
  });
});
