/** What the outbox does not write, and that it then writes nothing at all. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTestOutbox, type TestOutbox } from "#tests/outbox/test-outbox.ts";
import { type DeliveryInput, enqueueDeliveries, enqueueDelivery, type OutboxTransaction } from "./index.ts";
import { DEFAULT_MAX_BODY_BYTES, MAX_BATCH_DELIVERIES, MAX_DELAY_MS } from "./limits.ts";

type Input = DeliveryInput & { readonly destinationId: string; readonly destinationIds?: undefined };

let outbox: TestOutbox;
let tenantId: string;
let destinationId: string;
let keys = 0;

beforeAll(async () => {
  outbox = await openTestOutbox();
});
afterAll(() => outbox.close());
beforeEach(async () => {
  tenantId = await outbox.addTenant();
  destinationId = await outbox.addDestination(tenantId);
});

function input(fields: Partial<Input> = {}): Input {
  return {
    region: "us",
    tenantId,
    destinationId,
    eventType: "payment.captured",
    idempotencyKey: `key-${++keys}`,
    body: '{"amount":1}',
    ...fields,
  };
}

/** Enqueues in a transaction of its own. */
function enqueue(fields: Partial<Input> = {}) {
  return outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input(fields)));
}

describe("refusals", () => {
  const LOCAL: [string, Partial<Record<keyof DeliveryInput, unknown>>, string][] = [
    ["an unknown region", { region: "asia" }, "bad_region"],
    ["a tenant id that is none", { tenantId: "acme" }, "bad_id"],
    ["a tenant id in the place of a destination", { destinationId: `ten_${"0".repeat(32)}` }, "bad_id"],
    ["no destination", { destinationIds: [], destinationId: undefined }, "no_destination"],
    ["an empty key", { idempotencyKey: "" }, "bad_key"],
    ["a key with a space", { idempotencyKey: "a b" }, "bad_key"],
    ["a key outside ASCII", { idempotencyKey: "é" }, "bad_key"],
    ["a key of 256 characters", { idempotencyKey: "k".repeat(256) }, "bad_key"],
    ["a body over the limit", { body: Buffer.alloc(DEFAULT_MAX_BODY_BYTES + 1) }, "body_too_large"],
    ["a body that is an object", { body: { amount: 1 } }, "bad_body"],
    ["text that has no UTF-8", { body: "\ud800" }, "bad_body"],
    ["an event type with a slash", { eventType: "a/b" }, "bad_event_type"],
    ["an event type of 129 characters", { eventType: "e".repeat(129) }, "bad_event_type"],
    ["a content type with a line end", { contentType: "text/plain\r\nx: y" }, "bad_content_type"],
    ["a content type that ends in a line end", { contentType: "text/plain\n" }, "bad_content_type"],
    ["a content type with a line end in quotes", { contentType: 'text/plain; a="\r\n"' }, "bad_content_type"],
    ["a content type outside ASCII", { contentType: "text/plain; a=\u010a" }, "bad_content_type"],
    ["a key with a line end", { idempotencyKey: "a\r\nx: y" }, "bad_key"],
    ["a key that ends in a line end", { idempotencyKey: "a\n" }, "bad_key"],
    // Written as latin1 this would be a line feed.
    ["a key whose low byte is a line end", { idempotencyKey: "a\u010a" }, "bad_key"],
    ["an event type with a line end", { eventType: "a\r\nx: y" }, "bad_event_type"],
    ["an event type that ends in a line end", { eventType: "a\n" }, "bad_event_type"],
    [
      "a traceparent that ends in a line end",
      { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01\n` },
      "bad_traceparent",
    ],
    ["a content type without a slash", { contentType: "json" }, "bad_content_type"],
    ["another service class", { serviceClass: "bulk" }, "bad_service_class"],
    [
      "a traceparent of another version",
      { traceparent: `01-${"a".repeat(32)}-${"b".repeat(16)}-01` },
      "bad_traceparent",
    ],
    [
      "a traceparent whose trace id is zero",
      { traceparent: `00-${"0".repeat(32)}-${"b".repeat(16)}-01` },
      "bad_traceparent",
    ],
    ["a negative delay", { delayMs: -1 }, "bad_due_time"],
    ["a delay that is no number", { delayMs: Number.NaN }, "bad_due_time"],
    ["a delay over the limit", { delayMs: MAX_DELAY_MS + 1 }, "bad_due_time"],
    ["a due time that is no moment", { dueAt: new Date(Number.NaN) }, "bad_due_time"],
    ["a due time decades ago", { dueAt: new Date(-8.64e15) }, "bad_due_time"],
    ["a delay beside a due time", { dueAt: new Date(), delayMs: 1 }, "bad_due_time"],
  ];

  it.each(LOCAL)("refuses %s before any statement", async (_name, fields, code) => {
    let statements = 0;
    const tx: OutboxTransaction = {
      $queryRawUnsafe: (query, ...values) => {
        statements += 1;
        return outbox.prisma.$queryRawUnsafe(query, ...values);
      },
    };
    const given = { ...input(), ...fields } as Input;
    await expect(enqueueDeliveries(tx, [input(), given])).rejects.toMatchObject({ code, data: { input: 1 } });
    expect(statements).toBe(0);
  });

  it("refuses a batch over the limit before any statement", async () => {
    const tooMany = Array.from({ length: MAX_BATCH_DELIVERIES + 1 }, () => input());
    await expect(enqueueDeliveries(outbox.prisma, tooMany)).rejects.toMatchObject({
      code: "batch_too_large",
    });
    const tooBig = Array.from({ length: 65 }, () => input({ body: Buffer.alloc(DEFAULT_MAX_BODY_BYTES) }));
    await expect(enqueueDeliveries(outbox.prisma, tooBig)).rejects.toMatchObject({ code: "batch_too_large" });
    expect(await enqueueDeliveries(outbox.prisma, [])).toEqual([]);
  });

  it("REG-1 a delivery of another region is refused by type, and raw SQL by Postgres", async () => {
    const before = await outbox.counts();
    await expect(enqueue({ region: "eu" })).rejects.toMatchObject({
      code: "wrong_region",
      data: { databaseRegion: "us" },
    });
    expect((await enqueue({ region: "US" })).status).toBe("created");
    const raw = outbox.prisma.$executeRawUnsafe(
      `INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
       VALUES ('raw', gen_random_uuid(), 'eu', gen_random_uuid(), sha256(''))`,
    );
    await expect(raw).rejects.toThrow(/delivery_key_region/);
    expect((await outbox.counts()).deliveries - before.deliveries).toBe(1);
  });

  it("refuses unknown, deleted and foreign destinations and tenants; the transaction stays usable", async () => {
    const otherTenant = await outbox.addTenant();
    const foreign = await outbox.addDestination(otherTenant);
    const deleted = await outbox.addDestination(tenantId, { deletedAt: new Date() });
    const goneTenant = await outbox.addTenant();
    const goneDestination = await outbox.addDestination(goneTenant);
    await outbox.prisma.tenant.update({ where: { id: goneTenant }, data: { deletedAt: new Date() } });
    const cases: [Partial<Input>, string][] = [
      [{ destinationId: foreign }, "foreign_destination"],
      [{ destinationId: deleted }, "unknown_destination"],
      [{ destinationId: otherTenant }, "unknown_destination"],
      [{ tenantId: foreign }, "unknown_tenant"],
      [{ tenantId: goneTenant, destinationId: goneDestination }, "unknown_tenant"],
    ];
    const before = await outbox.counts();
    await outbox.prisma.$transaction(async (tx) => {
      for (const [fields, code] of cases) {
        await expect(enqueueDelivery(tx, input(fields))).rejects.toMatchObject({ code });
      }
      expect(await enqueueDelivery(tx, input())).toMatchObject({ status: "created" });
    });
    expect((await outbox.counts()).deliveries - before.deliveries).toBe(1);
  });

  it("one refused delivery means that none of the call is written", async () => {
    const foreign = await outbox.addDestination(await outbox.addTenant());
    const before = await outbox.counts();
    await outbox.prisma.$transaction(async (tx) => {
      const call = enqueueDeliveries(tx, [input(), input({ destinationId: foreign }), input()]);
      await expect(call).rejects.toMatchObject({ code: "foreign_destination", data: { input: 1 } });
    });
    expect(await outbox.counts()).toEqual(before);
  });

  it("OUT-10 rows for paused and disabled destinations are written", async () => {
    const paused = await outbox.addDestination(tenantId, {
      pausedAt: new Date(),
      pauseUntil: new Date(Date.now() + 3_600_000),
      pauseReason: "maintenance",
    });
    const disabled = await outbox.addDestination(tenantId, {
      disabledAt: new Date(),
      disabledReason: "gone",
    });
    for (const held of [paused, disabled]) {
      expect(await enqueue({ destinationId: held })).toMatchObject({ status: "created" });
    }
  });
});
