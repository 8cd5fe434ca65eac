/**
 * sluice.limit_transaction: a client that is cut off between asking and committing holds the claim lock, and with it the
 * region, for ten seconds at most. On the wire that is a Parse, Bind and Execute without the Sync behind them: the statement
 * has run, the transaction is open, and no other limit of Postgres counts. Before Postgres 17 only its connection's end helps.
 */
import { randomUUID } from "node:crypto";
import pg, { type Submittable } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { makePlace, openTransaction, request } from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { claim } from "./claim.ts";

const LIMIT_SINCE = 170_000;
const LIMIT_TEXT = "10s";
/** Ten seconds, and what a slow machine takes beside them. */
const OVER_MS = 60_000;

let database: TestDatabase;
let version: number;
const clients: pg.Client[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  const { rows } = await database.pool.query(
    "SELECT current_setting('server_version_num')::integer AS version",
  );
  version = rows[0]?.version ?? 0;
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end().catch(() => undefined);
  await database.drop();
});

/** A statement whose Sync never comes. */
class Unfinished implements Submittable {
  readonly answered: Promise<void>;
  readonly #text: string;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(text: string) {
    this.#text = text;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.answered.catch(() => undefined);
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: "", text: this.#text, types: [] }, true);
    connection.bind({ portal: "", statement: "", values: [] }, true);
    connection.execute({ portal: "", rows: "" }, true);
    connection.flush();
  }

  handleParseComplete(): void {}
  handleBindComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleReadyForQuery(): void {}
  handleCommandComplete(): void {
    this.#resolve();
  }
  handleError(error: unknown): void {
    this.#reject(error);
  }
}

/** Runs a statement up to its last row and then says nothing more. Its connection stays open. */
async function cutOffAfter(text: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString });
  client.on("error", () => undefined);
  clients.push(client);
  await client.connect();
  const statement = new Unfinished(text);
  client.query(statement);
  await statement.answered;
  return client;
}

async function isLocked(): Promise<boolean> {
  const { rows } = await database.pool.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 5301 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.length > 0;
}

describe("a client that is cut off while it holds the claim lock", () => {
  it(
    "keeps a region waiting for ten seconds at most (from Postgres 17 on), and its rows stay claimable",
    async () => {
      const place = await makePlace(database.pool);
      const [id = ""] = await makeDeliveries(database.pool, place);
      const client = await cutOffAfter(
        `SELECT * FROM sluice.claim('sluice', '${randomUUID()}', 30000, 1000000, '{first}', '{routine}',
                                  '{${place.tenantId}}', '{${place.destinationId}}', '{1}', '${randomUUID()}')`,
      );
      expect(await isLocked()).toBe(true);
      await expect(claim(database.pool, request([{ ...place, wanted: 1 }]))).rejects.toMatchObject({
        code: "55P03",
      });
      if (version < LIMIT_SINCE) await client.end();
      await waitFor(async () => !(await isLocked()), { timeoutMs: OVER_MS });
      expect((await claim(database.pool, request([{ ...place, wanted: 1 }]))).ids).toEqual([id]);
    },
    OVER_MS * 2,
  );
});

describe("whatever takes the claim lock", () => {
  it.each([
    ["barrier", "SELECT sluice.barrier()"],
    ["release_unanswered", `SELECT sluice.release_unanswered('${randomUUID()}')`],
  ])("%s limits its own transaction, and no other one of the session", async (_name, text) => {
    const { client, rollback } = await openTransaction(database.pool);
    const limit = async () =>
      (await client.query("SELECT current_setting('transaction_timeout', true) AS value")).rows[0]?.value;
    const before = await limit();
    await client.query(text);
    expect(await isLocked()).toBe(true);
    expect(await limit()).toBe(version < LIMIT_SINCE ? before : LIMIT_TEXT);
    await rollback();
    const { rows } = await database.pool.query(
      "SELECT current_setting('transaction_timeout', true) AS value",
    );
    expect(rows[0]?.value).toBe(before);
  });
});
