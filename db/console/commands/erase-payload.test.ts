/** ID-9: a body is erased in one place; the key, the deliveries and their history stay. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { finish } from "#db/queue/finish.ts";
import { readClaimed } from "#db/queue/read-claimed.ts";
import { toPublicId } from "#domain/ids.ts";
import { contextOf, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  leaseRows,
  makePlace,
  outcomeOf,
  type Place,
  request,
} from "#tests/support/queue-rows/sql.ts";
import { erasePayload } from "./erase-payload.ts";
import { findPayload } from "./read-control.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});
afterAll(() => database.drop());

async function one(): Promise<{ id: string; payload: string }> {
  const [id] = await makeDeliveries(database.pool, { ...place, body: Buffer.from("4929 1234 5678 9012") });
  return { id: String(id), payload: await findPayload(database.pool, toPublicId("dlv", String(id))) };
}

const erase = (payloadId: string) => erasePayload(contextOf(database), { payloadId, reason: REASON });

describe("ID-9 erasing", () => {
  it("takes the bytes from their one place; what a claim reads afterwards has no body", async () => {
    const { id, payload } = await one();
    expect(await erase(payload)).toMatchObject({
      applied: true,
      version: null,
      before: { erased: false, sizeBytes: 19 },
      after: { erased: true, waiting: 1, leased: 0, dead: 0, delivered: 0 },
    });
    const claimed = await claim(database.pool, request([{ ...place, wanted: 1 }]));
    expect(claimed.ids).toEqual([id]);
    expect(await readClaimed(database.pool, claimed.ids, claimed.token)).toMatchObject([{ id, body: null }]);
    expect(
      await countRows(
        database.pool,
        "payload WHERE id = $1 AND body IS NULL AND erased_at IS NOT NULL AND size_bytes = 19",
        [id],
      ),
    ).toBe(1);
    // ID-11, ID-13: the key stays, with its hash; a repeat is still recognised.
    expect(await countRows(database.pool, "delivery_key WHERE delivery_id = $1", [id])).toBe(1);
  });

  it("says what may be in flight at this moment, and what can no longer be replayed", async () => {
    const { id, payload } = await one();
    await leaseRows(database.pool, [id]);
    expect((await erase(payload)).after).toMatchObject({ waiting: 0, leased: 1 });

    const dead = await one();
    const token = await leaseRows(database.pool, [dead.id]);
    await finish(database.pool, [
      outcomeOf(dead.id, token, { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" }),
    ]);
    expect((await erase(dead.payload)).after).toMatchObject({ waiting: 0, leased: 0, dead: 1 });
  });

  it("is audited with the tenant, never with a byte of the body, and happens once", async () => {
    const { payload } = await one();
    const both = await Promise.allSettled([erase(payload), erase(payload)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find((result) => result.status === "rejected")?.reason).toMatchObject({
      code: "state_conflict",
    });
    const audit = await readAudit(database, payload);
    expect(audit.map(({ action, result }) => `${action} ${result}`).sort()).toEqual([
      "payload.erase conflict",
      "payload.erase done",
    ]);
    expect(audit.find(({ result }) => result === "done")?.tenant_id).toBe(place.tenantId);
    expect(JSON.stringify(audit)).not.toContain("4929");
  });

  it("needs a payload that exists and a reason", async () => {
    await expect(erase(toPublicId("pay", randomUUID()))).rejects.toMatchObject({ code: "not_found" });
    const { payload } = await one();
    for (const reason of ["", "too short", " ".repeat(20), "x".repeat(501)]) {
      await expect(
        erasePayload(contextOf(database), { payloadId: payload, reason }),
        reason,
      ).rejects.toMatchObject({ code: "bad_reason" });
    }
  });
});
