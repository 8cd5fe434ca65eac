import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTestOutbox, type TestOutbox } from "#tests/outbox/test-outbox.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { createHinter, enqueueDelivery, type Hinter, transactWithOutbox } from "./index.ts";

let outbox: TestOutbox;
let listener: Client;
let hinter: Hinter;
let heard: string[];
let errors: Error[];
let keys = 0;

beforeAll(async () => {
  outbox = await openTestOutbox();
  listener = new Client({ connectionString: outbox.database.connectionString });
  listener.on("notification", ({ channel, payload }) => heard.push(`${channel}:${payload}`));
  await listener.connect();
  await listener.query("LISTEN sluice_wake; LISTEN mark");
});
afterAll(async () => {
  await listener.end();
  await outbox.close();
});
beforeEach(() => {
  heard = [];
  errors = [];
  hinter = createHinter({
    connectionString: outbox.database.connectionString,
    onError: (error) => errors.push(error),
  });
});
afterEach(() => hinter.close());

/** All that was committed before this call has been heard when it returns: notifications arrive in commit order. */
async function hearAll(): Promise<string[]> {
  const mark = `mark:${++keys}`;
  await outbox.database.pool.query("SELECT pg_notify('mark', $1)", [String(keys)]);
  await waitFor(() => heard.includes(mark), { what: "the mark" });
  return heard.filter((text) => text.startsWith("sluice_wake"));
}

async function newInput() {
  const tenantId = await outbox.addTenant();
  const destinationId = await outbox.addDestination(tenantId);
  return {
    region: "us",
    tenantId,
    destinationId,
    eventType: "a.b",
    idempotencyKey: `hint-${++keys}`,
    body: "{}",
  };
}

async function hintConnections(): Promise<number> {
  const { rows } = await outbox.database.pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice-hint'",
  );
  return rows[0]?.n ?? -1;
}

describe("the hint after a commit", () => {
  it("wakes the workers of the database with an empty payload once the delivery can be read", async () => {
    const input = await newInput();
    const result = await transactWithOutbox(outbox.prisma, hinter, (tx) => enqueueDelivery(tx, input));
    expect(result.status).toBe("created");
    await waitFor(() => heard.length > 0, { what: "a hint" });
    expect(heard).toEqual(["sluice_wake:"]);
    expect(await outbox.prisma.delivery.count({ where: { idempotencyKey: input.idempotencyKey } })).toBe(1);
  });

  it("OUT-2 the business transaction itself notifies nobody", async () => {
    const input = await newInput();
    await outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input));
    expect(await hearAll()).toEqual([]);
  });

  it("is not sent for a rollback, for a duplicate or for a transaction that enqueued nothing", async () => {
    const input = await newInput();
    await outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input));
    let hints = 0;
    const counting = {
      hint: () => {
        hints += 1;
      },
    };
    const rolledBack = transactWithOutbox(outbox.prisma, counting, async (tx) => {
      await enqueueDelivery(tx, { ...input, idempotencyKey: `${input.idempotencyKey}-b` });
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    await transactWithOutbox(outbox.prisma, counting, (tx) => enqueueDelivery(tx, input));
    await transactWithOutbox(outbox.prisma, counting, (tx) => tx.tenant.count(), { timeout: 60_000 });
    expect(hints).toBe(0);
  });
});

describe("hints", () => {
  it("of a burst are merged, and the last one is never lost", async () => {
    for (let n = 0; n < 1_000; n++) hinter.hint();
    await hinter.close();
    const wakes = await hearAll();
    expect(wakes.length).toBeGreaterThanOrEqual(1);
    expect(wakes.length).toBeLessThan(10);
  });

  it("that keep coming are at least some 5 ms apart", async () => {
    hinter.hint();
    await waitFor(() => heard.length === 1, { what: "the connection" });
    const startedAt = performance.now();
    while (performance.now() - startedAt < 200) {
      hinter.hint();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await hinter.close();
    const most = (performance.now() - startedAt) / 4 + 2; // Timers may fire a millisecond early.
    const wakes = await hearAll();
    expect(wakes.length).toBeLessThanOrEqual(most);
    expect(wakes.length).toBeGreaterThan(2);
  });

  it("never throw when the database cannot be reached, and tell the listener", async () => {
    const lost = createHinter({
      connectionString: "postgresql://sluice@127.0.0.1:1/none",
      onError: (error) => {
        errors.push(error);
        throw new Error("the listener fails too");
      },
    });
    for (let n = 0; n < 100; n++) lost.hint();
    await waitFor(() => errors.length > 0, { what: "the error" });
    lost.hint();
    await lost.close();
    expect(errors).toHaveLength(1);
  });

  it("come again after their connection was cut", async () => {
    hinter.hint();
    await waitFor(() => heard.length === 1, { what: "the first hint" });
    await outbox.database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice-hint'",
    );
    await waitFor(
      () => {
        hinter.hint();
        return heard.length >= 2;
      },
      { what: "a hint on a new connection" },
    );
  });

  it("leave no connection behind after close, and later ones do nothing", async () => {
    hinter.hint();
    await waitFor(async () => (await hintConnections()) === 1, { what: "the connection" });
    await hinter.close();
    hinter.hint();
    await waitFor(async () => (await hintConnections()) === 0, { what: "the connection to close" });
    expect(errors).toEqual([]);
  });
});
