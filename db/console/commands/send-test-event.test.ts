/** A signed test event: an ordinary delivery, one in ten seconds, and never past what holds the destination. On a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromPublicId } from "#domain/ids.ts";
import { enqueueDelivery } from "#outbox/index.ts";
import {
  contextOf,
  destinationId,
  moveAuditBack,
  REASON,
  readAudit,
  tenantId,
} from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import { disableDestination } from "./disable-destination.ts";
import { pauseDestination } from "./pause-destination.ts";
import { pauseTenant } from "./pause-tenant.ts";
import { sendTestEvent, TEST_EVENT_TYPE, type TestEventContext } from "./send-test-event.ts";
import { startClaims } from "./start-claims.ts";
import { stopClaims } from "./stop-claims.ts";

let database: TestDatabase;
let tenant: string;
let destination: string;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  tenant = await makeTenant(database.pool);
  destination = await makeDestination(database.pool, tenant);
  id = destinationId(destination);
});
afterAll(() => database.drop());

function context(): TestEventContext {
  return {
    ...contextOf(database),
    enqueue: (client, delivery) =>
      enqueueDelivery(
        {
          $queryRawUnsafe: async <T>(text: string, ...values: unknown[]) =>
            (await client.query(text, values)).rows as T,
        },
        delivery,
      ),
  };
}

const send = (version = 1) => sendTestEvent(context(), { destinationId: id, version, reason: REASON });

async function rows(): Promise<number> {
  return countRows(database.pool, "delivery WHERE destination_id = $1", [destination]);
}

describe("a test event", () => {
  it("is a delivery of its own type in the transaction of its audit row, which names it", async () => {
    const answer = await send();
    expect(answer).toMatchObject({ version: 1, after: { eventType: TEST_EVENT_TYPE, waitsForGate: null } });
    const deliveryId = fromPublicId("dlv", String(answer.after.deliveryId));
    const { rows: found } = await database.pool.query(
      `SELECT d.event_type, d.state, d.lane, d.tenant_id, convert_from(p.body, 'UTF8')::json ->> 'type' AS type
         FROM sluice.delivery d JOIN sluice.payload p ON p.id = d.payload_id WHERE d.id = $1`,
      [deliveryId],
    );
    expect(found).toEqual([
      {
        event_type: TEST_EVENT_TYPE,
        state: "ready",
        lane: "first",
        tenant_id: tenant,
        type: TEST_EVENT_TYPE,
      },
    ]);
    expect(await readAudit(database, id)).toEqual([
      expect.objectContaining({
        action: "destination.test_event",
        result: "done",
        after: expect.objectContaining({ deliveryId: answer.after.deliveryId }),
      }),
    ]);
  });

  it("goes once in ten seconds to one destination, also when two ask at once, and says when again", async () => {
    const both = await Promise.allSettled([send(), send()]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(send()).rejects.toMatchObject({
      code: "too_many_requests",
      status: 429,
      data: { retryAfterMs: expect.any(Number) },
    });
    expect(await rows()).toBe(1);
    await moveAuditBack(database, id, 11);
    await send();
    expect(await rows()).toBe(2);
  });

  it("is refused with the reason while it would only be held", async () => {
    const command = { destinationId: id, reason: REASON };
    await pauseDestination(contextOf(database), { ...command, version: 1, end: { forMs: 60_000 } });
    await expect(send(2)).rejects.toThrow(/destination is paused/);
    await disableDestination(contextOf(database), { ...command, version: 2 });
    await expect(send(3)).rejects.toThrow(/destination is disabled/);

    destination = await makeDestination(database.pool, tenant);
    id = destinationId(destination);
    const claims = await stopClaims(contextOf(database), { version: 1, reason: REASON });
    await expect(send()).rejects.toThrow(/claims of the region are stopped/);
    await startClaims(contextOf(database), { version: claims.version ?? 0, reason: REASON });
    await pauseTenant(contextOf(database), {
      tenantId: tenantId(tenant),
      version: 1,
      reason: REASON,
      end: { forMs: 60_000 },
    });
    await expect(send()).rejects.toThrow(/tenant is paused/);
    expect(await rows()).toBe(0);
  });

  it("goes to a gated destination, waits there, and says so", async () => {
    await database.pool.query(
      "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
      [destination],
    );
    expect((await send()).after.waitsForGate).toMatch(/^20\d\d-/);
  });
});
