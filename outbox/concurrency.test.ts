/** Writers beside each other, with transactions held open by the test. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { openTestOutbox, type TestOutbox } from "#tests/outbox/test-outbox.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { enqueueDeliveries, enqueueDelivery, type OutboxTransaction } from "./index.ts";

let outbox: TestOutbox;
let tenantId: string;
let destinationId: string;

beforeAll(async () => {
  outbox = await openTestOutbox();
  tenantId = await outbox.addTenant();
  destinationId = await outbox.addDestination(tenantId);
});
afterAll(() => outbox.close());

function input(idempotencyKey: string, body = "{}") {
  return { region: "us", tenantId, destinationId, eventType: "a.b", idempotencyKey, body };
}

/** Starts a transaction, enqueues in it and leaves it open until `end` is called. */
async function openWriter(key: string, body?: string) {
  const enqueued = Promise.withResolvers<string>();
  const ending = Promise.withResolvers<"commit" | "rollback">();
  const done = outbox.prisma.$transaction(
    async (tx) => {
      const { deliveryId } = await enqueueDelivery(tx, input(key, body));
      enqueued.resolve(deliveryId);
      if ((await ending.promise) === "rollback") throw new Error("rolled back");
    },
    { timeout: 60_000 },
  );
  done.catch((error: unknown) => enqueued.reject(error));
  const deliveryId = await enqueued.promise;
  return {
    deliveryId,
    end: async (how: "commit" | "rollback") => {
      ending.resolve(how);
      await done.catch(() => {});
    },
  };
}

async function waitingForLocks(): Promise<number> {
  const { rows } = await outbox.database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`,
  );
  return rows[0]?.n ?? 0;
}

describe("writers of different keys", () => {
  it("OUT-2 of one tenant and destination do not wait: the later one commits first", async () => {
    const first = await openWriter("other-1");
    const second = await outbox.prisma.$transaction(
      async (tx) => {
        await tx.$executeRawUnsafe("SET LOCAL lock_timeout = '1ms'");
        return enqueueDelivery(tx, input("other-2"));
      },
      { timeout: 60_000 },
    );
    expect(second.status).toBe("created");
    const visible = await outbox.prisma.delivery.findMany({
      where: { idempotencyKey: { startsWith: "other-" } },
    });
    expect(visible.map((row) => row.idempotencyKey)).toEqual(["other-2"]);
    await first.end("commit");
    expect(await outbox.prisma.delivery.count({ where: { idempotencyKey: { startsWith: "other-" } } })).toBe(
      2,
    );
  });

  it("OUT-2 nor do they wait for a console that locks the tenant and the destination", async () => {
    await outbox.prisma.$transaction(async (tx) => {
      await tx.tenant.update({ where: { id: tenantId }, data: { version: { increment: 1 } } });
      await tx.destination.update({ where: { id: destinationId }, data: { version: { increment: 1 } } });
      const written = await outbox.prisma.$transaction(async (other) => {
        await other.$executeRawUnsafe("SET LOCAL lock_timeout = '1ms'");
        return enqueueDelivery(other, input("beside-console"));
      });
      expect(written.status).toBe("created");
    });
  });
});

describe("writers of the same key", () => {
  it.each([
    ["commits", "commit", "duplicate"],
    ["rolls back", "rollback", "created"],
  ] as const)("OUT-2 ID-11 wait for the first, and when it %s report %3$s", async (_words, how, status) => {
    const key = `race-${how}`;
    const first = await openWriter(key);
    const second = outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input(key)), { timeout: 60_000 });
    await waitFor(async () => (await waitingForLocks()) === 1, { what: "the second writer to wait" });
    await first.end(how);
    const result = await second;
    expect(result.status).toBe(status);
    expect(result.deliveryId === first.deliveryId).toBe(how === "commit");
    expect(await outbox.prisma.delivery.count({ where: { idempotencyKey: key } })).toBe(1);
  });

  it("ID-11 with another body report mismatch after the wait", async () => {
    const first = await openWriter("race-body");
    const second = outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input("race-body", "other")), {
      timeout: 60_000,
    });
    await waitFor(async () => (await waitingForLocks()) === 1, { what: "the second writer to wait" });
    await first.end("commit");
    expect(await second).toMatchObject({ status: "mismatch", deliveryId: first.deliveryId });
  });

  it("OUT-3 a caller at REPEATABLE READ gets a retryable 40001, never an emptied commit", async () => {
    const first = await openWriter("race-strict");
    let after: unknown = null;
    const second = outbox.prisma.$transaction(
      async (tx) => {
        await enqueueDelivery(tx, input("strict-before"));
        await enqueueDelivery(tx, input("race-strict")).catch((error: unknown) => {
          after = error;
          throw error;
        });
      },
      { timeout: 60_000, isolationLevel: "RepeatableRead" },
    );
    const failed = expect(second).rejects.toThrow();
    await waitFor(async () => (await waitingForLocks()) === 1, { what: "the second writer to wait" });
    await first.end("commit");
    await failed;
    expect(JSON.stringify(after) + String(after)).toMatch(/40001|P2034/);
    expect(isSluiceError(after)).toBe(false);
    expect(await outbox.prisma.delivery.count({ where: { idempotencyKey: "strict-before" } })).toBe(0);
  });
});

describe("many writers at once", () => {
  it("ID-11 of one key leave one delivery, and all report its id", async () => {
    const results = await Promise.all(
      Array.from({ length: 24 }, () =>
        outbox.prisma.$transaction((tx) => enqueueDelivery(tx, input("crowd")), { maxWait: 20_000 }),
      ),
    );
    expect(results.filter(({ status }) => status === "created")).toHaveLength(1);
    expect(new Set(results.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(await outbox.prisma.delivery.count({ where: { idempotencyKey: "crowd" } })).toBe(1);
  });

  it("bulk calls with the same keys in opposite orders never deadlock", async () => {
    for (let round = 0; round < 10; round++) {
      const keys = Array.from({ length: 100 }, (_, n) => `bulk-${round}-${n}`);
      const inputs = keys.map((key) => input(key));
      const orders = [
        inputs,
        inputs.toReversed(),
        inputs.toSorted((a, b) => (a.idempotencyKey < b.idempotencyKey ? 1 : -1)),
      ];
      const results = await Promise.all(
        orders.map((order) =>
          outbox.prisma.$transaction((tx) => enqueueDeliveries(tx, order), { timeout: 60_000 }),
        ),
      );
      const created = results.flat().filter(({ status }) => status === "created");
      expect(created).toHaveLength(100);
    }
  });

  it("a key that retention takes between the two statements is written after all", async () => {
    const known = await enqueueDelivery(outbox.prisma, input("taken"));
    let statements = 0;
    const tx: OutboxTransaction = {
      $queryRawUnsafe: async <T>(query: string, ...values: unknown[]) => {
        statements += 1;
        if (statements === 2) {
          await outbox.database.pool.query("DELETE FROM sluice.delivery_key WHERE idempotency_key = 'taken'");
        }
        return outbox.prisma.$queryRawUnsafe<T>(query, ...values);
      },
    };
    const again = await enqueueDelivery(tx, input("taken"));
    expect(again.status).toBe("created");
    expect(again.deliveryId).not.toBe(known.deliveryId);
    expect(statements).toBe(3);
  });
});
