import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Prisma } from "#db/prisma.ts";
import { fromPublicId, toPublicId, uuidV7TimeMs } from "#domain/ids.ts";
import { openTestOutbox, type TestOutbox } from "#tests/outbox/test-outbox.ts";
import { type DeliveryInput, enqueueDeliveries, enqueueDelivery, type OutboxTransaction } from "./index.ts";
import { DEFAULT_MAX_BODY_BYTES, MAX_DELAY_MS } from "./limits.ts";

type Tx = Prisma.TransactionClient;
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

function stored(deliveryId: string) {
  return outbox.prisma.delivery.findUniqueOrThrow({ where: { id: fromPublicId("dlv", deliveryId) } });
}

describe("a delivery in the caller's transaction", () => {
  it("ID-1 ID-7 ID-11 writes one ready row with the caller's facts", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const given = input({ serviceClass: "urgent", traceparent, body: "12345" });
    const { deliveryId, status } = await outbox.prisma.$transaction((tx) => enqueueDelivery(tx, given));
    expect(status).toBe("created");
    const row = await stored(deliveryId);
    expect(row).toMatchObject({
      region: "us",
      tenantId,
      destinationId,
      eventType: "payment.captured",
      idempotencyKey: given.idempotencyKey,
      serviceClass: "urgent",
      state: "ready",
      lane: "first",
      attempts: 0,
      payloadBytes: 5,
      traceparent,
    });
    expect(row.dueAt).toEqual(row.createdAt);
    expect(row.firstDueAt).toEqual(row.createdAt);
    expect(uuidV7TimeMs(row.id)).toBe(uuidV7TimeMs(row.payloadId));
  });

  it("OUT-1 a rollback leaves no delivery, no key and no payload", async () => {
    const before = await outbox.counts();
    const failed = outbox.prisma.$transaction(async (tx) => {
      expect(await enqueueDelivery(tx, input())).toMatchObject({ status: "created" });
      await tx.tenant.update({ where: { id: tenantId }, data: { name: "Renamed" } });
      throw new Error("the business says no");
    });
    await expect(failed).rejects.toThrow("the business says no");
    expect(await outbox.counts()).toEqual(before);
    expect(await outbox.prisma.tenant.findUniqueOrThrow({ where: { id: tenantId } })).toMatchObject({
      name: "A tenant",
    });
  });

  it("ID-7 takes public ids and UUIDs", async () => {
    const first = await enqueue({
      tenantId: toPublicId("ten", tenantId),
      destinationId: toPublicId("dst", destinationId.toUpperCase()),
      idempotencyKey: "same",
    });
    expect(first.destinationId).toBe(toPublicId("dst", destinationId));
    expect(await enqueue({ idempotencyKey: "same" })).toEqual({ ...first, status: "duplicate" });
  });

  it("sends one statement for a new key and two for a known one", async () => {
    const counted = async (given: Input) => {
      let statements = 0;
      const result = await outbox.prisma.$transaction((tx: Tx) => {
        const counting: OutboxTransaction = {
          $queryRawUnsafe: (query, ...values) => {
            statements += 1;
            return tx.$queryRawUnsafe(query, ...values);
          },
        };
        return enqueueDelivery(counting, given);
      });
      return { status: result.status, statements };
    };
    const given = input();
    expect(await counted(given)).toEqual({ status: "created", statements: 1 });
    expect(await counted(given)).toEqual({ status: "duplicate", statements: 2 });
    expect(await counted({ ...given, body: "other" })).toEqual({ status: "mismatch", statements: 2 });
  });

  it("ID-8 no body byte stands in the text of a statement or in an error", async () => {
    const marker = "MARKER-9f2c";
    const texts: string[] = [];
    const tx = outbox.prisma;
    const recording: OutboxTransaction = {
      $queryRawUnsafe: (query, ...values) => {
        texts.push(query, ...values.filter((value) => typeof value === "string"));
        return tx.$queryRawUnsafe(query, ...values);
      },
    };
    const refused = enqueueDelivery(recording, input({ body: marker, destinationId: tenantId }));
    const error = await refused.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: "unknown_destination" });
    expect(texts.join("\n")).toContain("INSERT");
    expect(`${texts.join("\n")}${JSON.stringify(error)}${String(error)}`).not.toContain(marker);
  });
});

describe("due time", () => {
  it("OUT-6 delays count in milliseconds from one reading of the database clock", async () => {
    const inputs = [0, 40, 80].map((delayMs) => input({ delayMs }));
    const results = await outbox.prisma.$transaction((tx) => enqueueDeliveries(tx, inputs));
    const rows = await Promise.all(results.map(({ deliveryId }) => stored(deliveryId)));
    const first = rows[0]?.dueAt.getTime() ?? Number.NaN;
    expect(rows.map((row) => row.dueAt.getTime() - first)).toEqual([0, 40, 80]);
    expect(rows[0]?.dueAt).toEqual(rows[0]?.createdAt);
    expect(rows.map((row) => row.firstDueAt)).toEqual(rows.map((row) => row.dueAt));
  });

  it("takes a moment of the business, and refuses one too far ahead by the database clock", async () => {
    const dueAt = new Date("2026-01-02T03:04:05.678Z");
    expect(await stored((await enqueue({ dueAt })).deliveryId)).toMatchObject({ dueAt, firstDueAt: dueAt });
    const tooFar = new Date(Date.now() + MAX_DELAY_MS + 3_600_000);
    await expect(enqueue({ dueAt: tooFar })).rejects.toMatchObject({ code: "bad_due_time" });
  });
});

describe("known keys", () => {
  it("ID-5 ID-11 the same key and body is a duplicate with the id it always had", async () => {
    const first = await enqueue({ idempotencyKey: "dup" });
    const before = await outbox.counts();
    expect(await enqueue({ idempotencyKey: "dup" })).toEqual({ ...first, status: "duplicate" });
    expect(await outbox.counts()).toEqual(before);
  });

  it("ID-11 another body is a mismatch and changes nothing", async () => {
    const first = await enqueue({ idempotencyKey: "mis" });
    const row = await stored(first.deliveryId);
    const before = await outbox.counts();
    const again = await enqueue({
      idempotencyKey: "mis",
      body: "another",
      eventType: "other",
      delayMs: 5_000,
    });
    expect(again).toEqual({ ...first, status: "mismatch" });
    expect(await outbox.counts()).toEqual(before);
    expect(await stored(first.deliveryId)).toEqual(row);
    expect((await outbox.readBody(row.payloadId))?.toString()).toBe('{"amount":1}');
  });

  it("ID-11 a key is known per destination", async () => {
    const other = await outbox.addDestination(tenantId);
    const one = await enqueue({ idempotencyKey: "per" });
    const two = await enqueue({ idempotencyKey: "per", destinationId: other });
    expect(two.status).toBe("created");
    expect(two.deliveryId).not.toBe(one.deliveryId);
  });

  it("ID-11 a key stays known after its delivery has left the live table", async () => {
    const first = await enqueue({ idempotencyKey: "gone" });
    await outbox.prisma.delivery.delete({ where: { id: fromPublicId("dlv", first.deliveryId) } });
    expect(await enqueue({ idempotencyKey: "gone" })).toEqual({ ...first, status: "duplicate" });
  });

  it("a key twice in one call is written once and reported for the second", async () => {
    const given = input({ idempotencyKey: "twice" });
    const results = await outbox.prisma.$transaction((tx) =>
      enqueueDeliveries(tx, [given, given, { ...given, body: "another" }, input({ idempotencyKey: "once" })]),
    );
    expect(results.map(({ status }) => status)).toEqual(["created", "duplicate", "mismatch", "created"]);
    expect(new Set(results.slice(0, 3).map(({ deliveryId }) => deliveryId)).size).toBe(1);
  });

  it("known and new keys of one call are told apart, whatever their order", async () => {
    const known = await enqueue({ idempotencyKey: "mixed-b" });
    const results = await outbox.prisma.$transaction((tx) =>
      enqueueDeliveries(tx, [
        input({ idempotencyKey: "mixed-c" }),
        input({ idempotencyKey: "mixed-b" }),
        input({ idempotencyKey: "mixed-a" }),
        input({ idempotencyKey: "mixed-b", body: "x" }),
      ]),
    );
    expect(results.map(({ status }) => status)).toEqual(["created", "duplicate", "created", "mismatch"]);
    expect(results[1]?.deliveryId).toBe(known.deliveryId);
    expect(results[3]?.deliveryId).toBe(known.deliveryId);
  });

  it("OUT-3 a known key leaves the caller's transaction whole: what it wrote before and after is there", async () => {
    await enqueue({ idempotencyKey: "whole" });
    const { before, after } = await outbox.prisma.$transaction(async (tx) => {
      const first = await enqueueDelivery(tx, input());
      expect(await enqueueDelivery(tx, input({ idempotencyKey: "whole" }))).toMatchObject({
        status: "duplicate",
      });
      expect(await enqueueDelivery(tx, input({ idempotencyKey: "whole", body: "x" }))).toMatchObject({
        status: "mismatch",
      });
      return { before: first, after: await enqueueDelivery(tx, input()) };
    });
    await expect(stored(before.deliveryId)).resolves.toBeDefined();
    await expect(stored(after.deliveryId)).resolves.toBeDefined();
  });
});

describe("one body for several destinations", () => {
  it("writes one payload row and one delivery per destination, in the given order", async () => {
    const others = [await outbox.addDestination(tenantId), await outbox.addDestination(tenantId)];
    const destinationIds = [destinationId, ...others];
    const before = await outbox.counts();
    const results = await outbox.prisma.$transaction((tx) =>
      enqueueDelivery(tx, { ...input(), destinationId: undefined, destinationIds }),
    );
    expect(results.map((result) => fromPublicId("dst", result.destinationId))).toEqual(destinationIds);
    const rows = await Promise.all(results.map(({ deliveryId }) => stored(deliveryId)));
    expect(new Set(rows.map((row) => row.payloadId)).size).toBe(1);
    const after = await outbox.counts();
    expect(after.payloads - before.payloads).toBe(1);
    expect(after.deliveries - before.deliveries).toBe(3);
    expect(after.keys - before.keys).toBe(3);
  });

  it("writes only where the key is new, and the same destination twice is a duplicate", async () => {
    const other = await outbox.addDestination(tenantId);
    await enqueue({ idempotencyKey: "fan" });
    const before = await outbox.counts();
    const given = { ...input({ idempotencyKey: "fan" }), destinationId: undefined };
    const results = await outbox.prisma.$transaction((tx) =>
      enqueueDelivery(tx, { ...given, destinationIds: [destinationId, other, other] }),
    );
    expect(results.map(({ status }) => status)).toEqual(["duplicate", "created", "duplicate"]);
    expect((await outbox.counts()).payloads - before.payloads).toBe(1);
  });
});

describe("body bytes", () => {
  it("keeps them exactly: all byte values, big numbers, an empty body, and the largest one", async () => {
    const bodies: (Uint8Array | string)[] = [
      Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
      randomBytes(4_096).subarray(7, 1_007),
      '{"b": 1e2, "a":12345678901234567890, "c":1.0, "d":"\\u00e9é\u{1f600}"}',
      "",
      new Uint8Array(randomBytes(DEFAULT_MAX_BODY_BYTES)),
    ];
    const inputs = bodies.map((body) => input({ body, contentType: 'application/vnd.a+json; v="1"' }));
    const results = await outbox.prisma.$transaction((tx) => enqueueDeliveries(tx, inputs));
    for (const [index, { deliveryId }] of results.entries()) {
      const kept = await outbox.readBody((await stored(deliveryId)).payloadId);
      expect(kept?.equals(Buffer.from(bodies[index] ?? "missing"))).toBe(true);
    }
  });

  it("takes the bytes as they are when it is called", async () => {
    const body = Buffer.from("before");
    const result = await outbox.prisma.$transaction((tx) => {
      const pending = enqueueDelivery(tx, input({ body }));
      body.fill(0);
      return pending;
    });
    expect((await outbox.readBody((await stored(result.deliveryId)).payloadId))?.toString()).toBe("before");
  });
});
