/** The key of a request that writes deliveries: once, also at once and over a rollback, and words for every outage. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { closeEnqueueDatabases, enqueueDatabase } from "./enqueue-database.ts";
import { type EnqueueRequest, explainEnqueueError, storeRequest, takeRequest } from "./enqueue-request.ts";

let database: TestDatabase;
let prisma: PrismaClient;

beforeAll(async () => {
  database = await createTestDatabase();
  prisma = createPrisma(database.pool);
});

afterAll(async () => {
  await closeEnqueueDatabases();
  vi.unstubAllEnvs();
  await prisma.$disconnect();
  await database.drop();
});

function request(key: string = randomUUID(), fill = 1): EnqueueRequest {
  return { region: "us", actor: "token:billing", key, requestSha256: Buffer.alloc(32, fill) };
}

const WRITTEN = [{ deliveryId: "dlv_1", destinationId: "dst_1", idempotencyKey: "k" }];

function take(asked: EnqueueRequest, work: () => Promise<void> = async () => {}): Promise<boolean> {
  return prisma.$transaction(async (tx) => {
    const known = await takeRequest(tx, asked);
    await work();
    if (!known) await storeRequest(tx, asked, WRITTEN);
    return known;
  });
}

it("a request is new once; the same one is known, and another one with its key is told what was written", async () => {
  const asked = request();
  expect(await take(asked)).toBe(false);
  expect(await take(asked)).toBe(true);
  await expect(take(request(asked.key, 2))).rejects.toMatchObject({
    code: "idempotency_mismatch",
    data: { deliveries: WRITTEN },
  });
  expect(await take({ ...request(asked.key, 2), actor: "token:other" })).toBe(false);
});

it("a request that was rolled back never was", async () => {
  const asked = request();
  const failing = take(asked, async () => {
    throw new Error("the business said no");
  });
  await expect(failing).rejects.toThrow("the business said no");
  expect(await take(asked)).toBe(false);
});

it("of two at once the second waits for the first one's end", async () => {
  const asked = request();
  const both = await Promise.all([take(asked), take(asked)]);
  expect(both.toSorted()).toEqual([false, true]);
});

it("a key that is held for too long is a request in progress, not an outage", async () => {
  const asked = request();
  const holder = await database.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query(
      `INSERT INTO sluice.api_idempotency (idempotency_key, actor, region, request_sha256)
       VALUES ($1, $2, 'us', decode(repeat('00', 32), 'hex'))`,
      [asked.key, asked.actor],
    );
    const error = await take(asked).catch((caught: unknown) => caught);
    expect(explainEnqueueError(error)).toMatchObject({
      code: "request_in_progress",
      data: { retryAfterMs: expect.any(Number) },
    });
  } finally {
    await holder.query("ROLLBACK");
    holder.release();
  }
});

it("a database that does not answer is an outage that says what is known, without a host name", async () => {
  await closeEnqueueDatabases();
  vi.stubEnv("DATABASE_URL_US", "postgres://sluice:secret@127.0.0.1:1/sluice");
  const { prisma: away } = enqueueDatabase("us");
  const error = await away
    .$transaction((tx) => takeRequest(tx, request()))
    .catch((caught: unknown) => caught);
  const explained = explainEnqueueError(error);
  expect(explained).toMatchObject({ code: "region_unavailable", data: { retryAfterMs: expect.any(Number) } });
  expect(explained?.detail).toContain("same Idempotency-Key");
  expect(explained?.detail).not.toContain("127.0.0.1");
});

it("an error that is ours stays what it is", () => {
  expect(explainEnqueueError(new Error("a mistake in a statement"))).toBeNull();
  expect(
    explainEnqueueError({
      code: "P2010",
      meta: { driverAdapterError: { cause: { originalCode: "42601" } } },
    }),
  ).toBeNull();
});
