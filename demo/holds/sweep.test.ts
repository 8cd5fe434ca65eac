import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { keyFromFacts } from "#outbox/index.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { sweep } from "./sweep.ts";

let database: TestDatabase;
let prisma: PrismaClient;
const tenantId = randomUUID();
const destinationId = randomUUID();

const LONG_AGO = new Date("2026-01-01T00:00:00.000Z");
const FAR_AHEAD = new Date("2099-01-01T00:00:00.000Z");

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  prisma = createPrisma(database.pool);
  await prisma.tenant.create({ data: { id: tenantId, region: "us", slug: "acme", name: "Acme" } });
  await addDestination(destinationId);
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});
beforeEach(async () => {
  await prisma.demoLedgerEntry.deleteMany();
  await prisma.demoCardHold.deleteMany();
  await prisma.delivery.deleteMany();
});

async function addDestination(id: string) {
  await prisma.destination.create({
    data: {
      id,
      region: "us",
      tenantId,
      name: "Orders",
      url: "http://127.0.0.1/ok/a",
      secretCurrent: Buffer.from("s"),
    },
  });
}

/** Makes holds and returns their ids in the order in which they are given. */
async function addHolds(expiries: readonly Date[], destination = destinationId): Promise<string[]> {
  const data = expiries.map((expiresAt, index) => ({
    id: randomUUID(),
    region: "us",
    tenantId,
    destinationId: destination,
    amountMinor: 1_000n + BigInt(index),
    currency: "USD",
    cardLast4: "4242",
    expiresAt,
  }));
  await prisma.demoCardHold.createMany({ data });
  return data.map(({ id }) => id);
}

function expiredHolds(count: number): Promise<string[]> {
  return addHolds(Array.from({ length: count }, (_, index) => new Date(LONG_AGO.getTime() + index * 1_000)));
}

/** For each hold: its state, its ledger entries, and its live deliveries. */
async function effects(ids: readonly string[]) {
  const holds = await prisma.demoCardHold.findMany({
    where: { id: { in: [...ids] } },
    include: { entries: true },
  });
  const deliveries = await prisma.delivery.findMany();
  const perKey = new Map<string, number>();
  for (const { idempotencyKey } of deliveries)
    perKey.set(idempotencyKey, (perKey.get(idempotencyKey) ?? 0) + 1);
  return holds.map((hold) => {
    const version = hold.expiresAt.toISOString().replace("Z", "000Z");
    const key = keyFromFacts({ event: "hold.released", entityId: hold.id, version });
    return `${hold.state} ${hold.entries.length} ${hold.entries[0]?.idempotencyKey === key} ${perKey.get(key) ?? 0}`;
  });
}

const ONCE = "released 1 true 1";
const UNTOUCHED = "active 0 false 0";

describe("one sweep", () => {
  it("OUT-4 releases what has expired, with ledger entry and delivery, and leaves the rest", async () => {
    const expired = await expiredHolds(3);
    const later = await addHolds([FAR_AHEAD]);
    const hints: number[] = [];
    const result = await sweep(prisma, { region: "us", hinter: { hint: () => hints.push(1) } });
    expect(result).toEqual({ released: 3, ledgerEntries: 3, deliveries: 3, rounds: 1 });
    expect(await effects(expired)).toEqual([ONCE, ONCE, ONCE]);
    expect(await effects(later)).toEqual([UNTOUCHED]);
    expect(hints).toHaveLength(1);
    const [delivery] = await prisma.delivery.findMany({ take: 1 });
    expect(delivery).toMatchObject({
      eventType: "hold.released",
      serviceClass: "routine",
      tenantId,
      destinationId,
    });
  });

  it("ID-6 the key is SHA-256 over event, hold and expiry to the microsecond", async () => {
    const [id = ""] = await expiredHolds(1);
    await database.pool.query(
      "UPDATE sluice.demo_card_hold SET expires_at = '2026-01-01 01:02:03.456789+00'",
    );
    await sweep(prisma, { region: "us" });
    const [entry] = await prisma.demoLedgerEntry.findMany();
    expect(entry?.idempotencyKey).toBe(
      keyFromFacts({ event: "hold.released", entityId: id, version: "2026-01-01T01:02:03.456789Z" }),
    );
    expect(entry?.idempotencyKey).toMatch(/^[0-9a-f]{64}$/);
  });

  it("OUT-6 spreads the batch: the n-th delivery, by expiry, is due n times 40 ms after the first", async () => {
    await expiredHolds(60);
    await sweep(prisma, { region: "us" });
    const { rows } = await database.pool.query<{ id: string; ms: number }>(
      `SELECT h.id, (extract(epoch FROM d.due_at - min(d.due_at) OVER ()) * 1000)::integer AS ms
         FROM sluice.delivery d JOIN sluice.demo_ledger_entry e USING (idempotency_key)
         JOIN sluice.demo_card_hold h ON h.id = e.hold_id ORDER BY h.expires_at, h.id`,
    );
    expect(rows.map(({ ms }) => ms)).toEqual(Array.from({ length: 60 }, (_, n) => n * 40));
  });

  it("OUT-4 takes at most 500 holds in one transaction and goes on until fewer are left, still spread", async () => {
    await expiredHolds(1_100);
    const result = await sweep(prisma, { region: "us", stepMs: 10 });
    expect(result).toEqual({ released: 1_100, ledgerEntries: 1_100, deliveries: 1_100, rounds: 3 });
    const { rows } = await database.pool.query<{ most: number; batches: number; spread: number }>(
      `SELECT max(n)::integer AS most, count(*)::integer AS batches,
              (SELECT extract(epoch FROM max(due_at) - min(due_at)) * 1000 FROM sluice.delivery)::integer AS spread
         FROM (SELECT count(*) AS n FROM sluice.delivery GROUP BY xmin) batch`,
    );
    expect(rows[0]).toMatchObject({ most: 500, batches: 3 });
    expect(rows[0]?.spread).toBeGreaterThanOrEqual(1_099 * 10);
  });

  it("stops between two transactions when it is asked to, and the next one goes on", async () => {
    await expiredHolds(30);
    const controller = new AbortController();
    const stop = { hint: () => controller.abort() };
    const first = await sweep(prisma, { region: "us", limit: 10, hinter: stop, signal: controller.signal });
    expect(first).toMatchObject({ released: 10, rounds: 1 });
    expect(await sweep(prisma, { region: "us", limit: 10 })).toMatchObject({ released: 20 });
  });

  it("a hold whose destination was deleted is released without a delivery and holds up nobody", async () => {
    const gone = randomUUID();
    await addDestination(gone);
    const orphans = await addHolds([LONG_AGO], gone);
    await prisma.destination.update({ where: { id: gone }, data: { deletedAt: new Date() } });
    const others = await expiredHolds(2);
    expect(await sweep(prisma, { region: "us" })).toMatchObject({
      released: 3,
      ledgerEntries: 3,
      deliveries: 2,
    });
    expect(await effects(orphans)).toEqual(["released 1 true 0"]);
    expect(await effects(others)).toEqual([ONCE, ONCE]);
  });
});

describe("sweeps again, late and beside each other", () => {
  it("OUT-5 1,000 ticks leave exactly one ledger entry and one delivery per hold", async () => {
    const now = Date.now();
    // Some have long expired, some expire while the ticks run, some never do.
    const expiries = Array.from({ length: 400 }, (_, n) => new Date(now - 1_000 + n * 6));
    const holds = await addHolds(expiries);
    const later = await addHolds(Array.from({ length: 20 }, () => FAR_AHEAD));
    const second = createPool({
      connectionString: database.connectionString,
      max: 4,
      applicationName: "sluice-test",
    });
    const clients = [prisma, createPrisma(second)];
    let ticks = 0;
    let released = 0;
    let entries = 0;
    const tickUntilDone = async (client: PrismaClient, number: number) => {
      while (ticks < 1_000) {
        ticks += 1;
        const limit = number % 2 === 0 ? 500 : 7;
        // Every other tick comes twice at once, as two schedulers would send it.
        const runs = await Promise.all(
          Array.from({ length: 1 + (ticks % 2) }, () => sweep(client, { region: "us", limit, stepMs: 0 })),
        );
        for (const run of runs) {
          released += run.released;
          entries += run.ledgerEntries;
        }
      }
    };
    await Promise.all([0, 1, 2, 3].map((number) => tickUntilDone(clients[number % 2] ?? prisma, number)));
    await waitFor(() => Date.now() > (expiries.at(-1)?.getTime() ?? 0), { what: "the last expiry" });
    released += (await sweep(prisma, { region: "us" })).released;
    await clients[1]?.$disconnect();
    await second.end();
    expect(ticks).toBeGreaterThanOrEqual(1_000);
    expect(released).toBe(400);
    expect(entries).toBeLessThanOrEqual(400);
    expect(await effects(holds)).toEqual(Array.from({ length: 400 }, () => ONCE));
    expect(await effects(later)).toEqual(Array.from({ length: 20 }, () => UNTOUCHED));
    expect(await prisma.delivery.count()).toBe(400);
    expect(await prisma.demoLedgerEntry.count()).toBe(400);
  });

  it("OUT-4 skips a hold that another transaction is busy with, without waiting for it", async () => {
    const holds = await expiredHolds(3);
    await prisma.$transaction(async (tx) => {
      await tx.demoCardHold.update({ where: { id: holds[0] }, data: { cardLast4: "0000" } });
      expect(await sweep(prisma, { region: "us" })).toMatchObject({ released: 2 });
    });
    expect(await sweep(prisma, { region: "us" })).toMatchObject({ released: 1 });
    expect(await effects(holds)).toEqual([ONCE, ONCE, ONCE]);
  });

  it("OUT-9 a key that the ledger has is not entered again, and its known delivery stays the only one", async () => {
    const holds = await expiredHolds(1);
    await sweep(prisma, { region: "us" });
    // As if somebody had put the hold back: the same fact must not count twice.
    await prisma.demoCardHold.updateMany({ data: { state: "active", releasedAt: null } });
    expect(await sweep(prisma, { region: "us" })).toMatchObject({
      released: 1,
      ledgerEntries: 0,
      deliveries: 0,
    });
    expect(await effects(holds)).toEqual([ONCE]);
  });
});

describe("a sweep that fails", () => {
  it("OUT-1 at its commit leaves no hold change, no ledger entry, no delivery, no key and no payload", async () => {
    const counts = async () => {
      const { rows } = await database.pool.query(
        "SELECT (SELECT count(*) FROM sluice.delivery_key) AS keys, (SELECT count(*) FROM sluice.payload) AS payloads",
      );
      return rows[0];
    };
    const holds = await expiredHolds(5);
    const before = await counts();
    await database.pool.query(
      `CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON sluice.delivery
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`,
    );
    let hints = 0;
    const hinter = {
      hint: () => {
        hints += 1;
      },
    };
    await expect(sweep(prisma, { region: "us", hinter })).rejects.toThrow(/not now/);
    expect(await effects(holds)).toEqual(Array.from({ length: 5 }, () => UNTOUCHED));
    expect(await counts()).toEqual(before);
    expect(hints).toBe(0);
    await database.pool.query("DROP TRIGGER refuse_commit ON sluice.delivery");
    expect(await sweep(prisma, { region: "us", hinter })).toMatchObject({ released: 5, deliveries: 5 });
    expect(await effects(holds)).toEqual(Array.from({ length: 5 }, () => ONCE));
  });
});
