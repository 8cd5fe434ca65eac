/** The desk's producers: what they write, once, whoever runs them and however often. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { keyFromFacts } from "#outbox/index.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { runTick } from "./passes.ts";
import { ORDER_BATCH } from "./sql.ts";

const LONG_AGO = new Date("2026-01-01T00:00:00.000Z");
const FAR_AHEAD = new Date("2099-01-01T00:00:00.000Z");

let database: TestDatabase;
let prisma: PrismaClient;
let tenantId: string;
let destinationId: string;

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  prisma = createPrisma(database.pool);
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});
beforeEach(async () => {
  await prisma.demoSupportTicket.deleteMany();
  await prisma.demoSupportIndexBatch.deleteMany();
  await prisma.delivery.deleteMany();
  tenantId = await makeTenant(database.pool);
  destinationId = await makeDestination(database.pool, tenantId);
});

interface TicketOptions {
  readonly followUpAt?: Date;
  readonly enriched?: boolean;
  readonly destination?: string;
}

/** Makes tickets that are enriched and have no promise, unless said otherwise; ids in ascending order. */
async function addTickets(count: number, options: TicketOptions = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID()).sort();
  await prisma.demoSupportTicket.createMany({
    data: ids.map((id, index) => ({
      id,
      region: "us",
      tenantId,
      destinationId: options.destination ?? destinationId,
      subject: `Ticket ${index}`,
      enrichedVersion: options.enriched === false ? 0 : 1,
      followUpAt: options.followUpAt ?? null,
    })),
  });
  return ids;
}

const tick = (client: PrismaClient = prisma, more: object = {}) => runTick(client, { region: "us", ...more });

async function orderBatch(destination = destinationId): Promise<number> {
  return prisma.$executeRawUnsafe(ORDER_BATCH, randomUUID(), "us", tenantId, destination);
}

/** event type -> deliveries. */
async function written(): Promise<Record<string, number>> {
  const rows = await prisma.delivery.groupBy({ by: ["eventType"], _count: true });
  return Object.fromEntries(rows.map((row) => [row.eventType, row._count]));
}

const NOTHING = { followUps: 0, enrichments: 0, indexed: 0 };

describe("one tick", () => {
  it("FAIR-4 writes due follow-ups as urgent, due at once, and leaves the others", async () => {
    const [due = ""] = await addTickets(1, { followUpAt: LONG_AGO });
    await addTickets(2, { followUpAt: FAR_AHEAD });
    const hints: number[] = [];
    const result = await tick(prisma, { hinter: { hint: () => hints.push(1) } });
    expect(result).toEqual({ ...NOTHING, followUps: 1 });
    expect(hints).toHaveLength(1);
    const [delivery] = await prisma.delivery.findMany();
    expect(delivery).toMatchObject({
      eventType: "ticket.follow_up_due",
      serviceClass: "urgent",
      tenantId,
      destinationId,
    });
    expect(delivery?.dueAt.getTime()).toBe(delivery?.createdAt.getTime());
    expect(await prisma.demoSupportTicket.count({ where: { followUpAt: { not: null } } })).toBe(2);
    expect(delivery?.idempotencyKey).toBe(
      keyFromFacts({ event: "ticket.follow_up_due", entityId: due, version: "2026-01-01T00:00:00.000000Z" }),
    );
  });

  it("ID-6 a follow-up's key has the moment to the microsecond, and a new promise is a new fact", async () => {
    const [id = ""] = await addTickets(1);
    const promise = (at: string) =>
      database.pool.query("UPDATE sluice.demo_support_ticket SET follow_up_at = $1 WHERE id = $2", [at, id]);
    await promise("2026-01-01 01:02:03.456789+00");
    await tick();
    await promise("2026-01-01 01:02:03.456788+00");
    await tick();
    // The same promise once more, as a restored backup would have it: the key is known.
    await promise("2026-01-01 01:02:03.456789+00");
    expect(await tick()).toEqual(NOTHING);
    const keys = await prisma.delivery.findMany({ select: { idempotencyKey: true }, orderBy: { id: "asc" } });
    expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey))).toEqual(
      new Set(
        ["2026-01-01T01:02:03.456789Z", "2026-01-01T01:02:03.456788Z"].map((version) =>
          keyFromFacts({ event: "ticket.follow_up_due", entityId: id, version }),
        ),
      ),
    );
  });

  it("writes changed tickets for enrichment, routine, once for each version", async () => {
    const [id = ""] = await addTickets(1, { enriched: false });
    expect(await tick()).toEqual({ ...NOTHING, enrichments: 1 });
    expect(await tick()).toEqual(NOTHING);
    await prisma.demoSupportTicket.update({
      where: { id },
      data: { subject: "Changed", version: { increment: 1 } },
    });
    expect(await tick()).toEqual({ ...NOTHING, enrichments: 1 });
    const classes = await prisma.delivery.groupBy({ by: ["serviceClass"], _count: true });
    expect(classes).toEqual([{ serviceClass: "routine", _count: 2 }]);
  });

  it("settles tickets of a deleted destination without a delivery and goes on with the others", async () => {
    const gone = await makeDestination(database.pool, tenantId);
    await addTickets(3, { followUpAt: LONG_AGO, destination: gone, enriched: false });
    await prisma.destination.update({ where: { id: gone }, data: { deletedAt: new Date() } });
    await addTickets(2, { followUpAt: LONG_AGO });
    expect(await tick()).toEqual({ ...NOTHING, followUps: 2 });
    expect(await tick()).toEqual(NOTHING);
    await orderBatch(gone);
    expect(await tick()).toEqual(NOTHING);
    expect(await prisma.demoSupportIndexBatch.count({ where: { finishedAt: null } })).toBe(0);
  });
});

describe("a bulk batch", () => {
  it("OUT-6 tells of every ticket of its tenant, routine, the n-th due n steps after the start", async () => {
    const ids = await addTickets(1_200);
    await orderBatch();
    expect(await tick(prisma, { stepMs: 20 })).toEqual({ ...NOTHING, indexed: 1_200 });
    const { rows } = await database.pool.query<{ ms: number; service_class: string; ticket: string }>(
      `SELECT (extract(epoch FROM d.due_at - b.started_at) * 1000)::float8 AS ms, d.service_class,
              convert_from(p.body, 'UTF8')::json #>> '{ticket,id}' AS ticket
         FROM sluice.delivery d JOIN sluice.payload p ON p.id = d.payload_id, sluice.demo_support_index_batch b
        ORDER BY ticket`,
    );
    expect(rows.map(({ ticket }) => ticket)).toEqual(ids);
    expect(new Set(rows.map(({ service_class }) => service_class))).toEqual(new Set(["routine"]));
    // To the millisecond, over three transactions; the first one's turn has come when it is written.
    const turns = rows.slice(1).map(({ ms }) => Math.round(ms / 20));
    expect(turns).toEqual(Array.from({ length: 1_199 }, (_, n) => n + 1));
    expect(await prisma.demoSupportIndexBatch.findFirst()).toMatchObject({ written: 1_200, generation: 1 });
  });

  it("goes on where it stopped, and what is late is due at once and not spread again", async () => {
    await addTickets(30);
    await orderBatch();
    const controller = new AbortController();
    const stop = { hint: () => controller.abort() };
    const first = await tick(prisma, { limit: 10, stepMs: 1, hinter: stop, signal: controller.signal });
    expect(first).toEqual({ ...NOTHING, indexed: 10 });
    await database.pool.query(
      "UPDATE sluice.demo_support_index_batch SET started_at = started_at - interval '1 hour'",
    );
    expect(await tick(prisma, { limit: 10, stepMs: 1 })).toEqual({ ...NOTHING, indexed: 20 });
    const { rows } = await database.pool.query(
      "SELECT count(*)::integer AS n FROM sluice.delivery WHERE due_at > created_at + interval '10 milliseconds'",
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  it("is ordered once at a time, and the next generation is another fact for every ticket", async () => {
    await addTickets(5);
    expect((await Promise.all([orderBatch(), orderBatch(), orderBatch()])).sort()).toEqual([0, 0, 1]);
    expect(await orderBatch()).toBe(0);
    await tick();
    expect(await orderBatch()).toBe(1);
    expect(await tick()).toEqual({ ...NOTHING, indexed: 5 });
    expect(await written()).toEqual({ "ticket.index_wanted": 10 });
  });
});

describe("ticks again, late and beside each other", () => {
  it("PROOF-1 OUT-5 OUT-8 a tick that comes twice, late or in parallel leaves one delivery for each fact", async () => {
    await addTickets(300, { followUpAt: LONG_AGO });
    await addTickets(300, { enriched: false });
    await orderBatch();
    const second = createPool({
      connectionString: database.connectionString,
      max: 4,
      applicationName: "sluice-test",
    });
    const other = createPrisma(second);
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        tick(n % 2 === 0 ? prisma : other, { limit: n % 3 === 0 ? 7 : 100 }),
      ),
    );
    // Small limits end a tick early: more ticks come, as cron's would, until there is nothing left.
    for (let n = 0; n < 100; n += 1) {
      const more = await tick(n % 2 === 0 ? prisma : other, { limit: 50 });
      runs.push(more);
      if (more.followUps + more.enrichments + more.indexed === 0) break;
    }
    await other.$disconnect();
    await second.end();
    const sum = (pick: (run: (typeof runs)[number]) => number) =>
      runs.reduce((all, run) => all + pick(run), 0);
    expect({
      followUps: sum((run) => run.followUps),
      enrichments: sum((run) => run.enrichments),
      indexed: sum((run) => run.indexed),
    }).toEqual({ followUps: 300, enrichments: 300, indexed: 600 });
    expect(await written()).toEqual({
      "ticket.follow_up_due": 300,
      "ticket.enrichment_wanted": 300,
      "ticket.index_wanted": 600,
    });
    expect(await prisma.delivery.groupBy({ by: ["idempotencyKey"], _count: true })).toHaveLength(1_200);
  });

  it("OUT-1 a tick that fails leaves no change of a ticket or batch and no delivery, and no hint", async () => {
    await addTickets(3, { followUpAt: LONG_AGO, enriched: false });
    await orderBatch();
    await database.pool.query(
      `CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON sluice.delivery
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`,
    );
    const before = await prisma.demoSupportTicket.findMany({ orderBy: { id: "asc" } });
    const hints: number[] = [];
    await expect(tick(prisma, { hinter: { hint: () => hints.push(1) } })).rejects.toThrow(/not now/);
    expect(await prisma.demoSupportTicket.findMany({ orderBy: { id: "asc" } })).toEqual(before);
    expect(await prisma.delivery.count()).toBe(0);
    expect(hints).toEqual([]);
    await database.pool.query("DROP TRIGGER refuse_commit ON sluice.delivery; DROP FUNCTION refuse_commit()");
    expect(await tick()).toEqual({ followUps: 3, enrichments: 3, indexed: 3 });
  });

  it("REG-2 OUT-8 a tick of another region writes nothing here", async () => {
    await addTickets(2, { followUpAt: LONG_AGO, enriched: false });
    await orderBatch();
    expect(await runTick(prisma, { region: "eu" })).toEqual(NOTHING);
    expect(await prisma.delivery.count()).toBe(0);
  });
});
