/** Disable, enable, open gate: what the claim sees afterwards, and what the audit says. On a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { shutGate } from "#db/queue/shut-gate.ts";
import { contextOf, destinationId, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  databaseNowMs,
  HOUR_MS,
  makePlace,
  openTransaction,
  type Place,
  readRow,
  request,
  timeOf,
} from "#tests/support/queue-rows/sql.ts";
import { disableDestination } from "./disable-destination.ts";
import { enableDestination } from "./enable-destination.ts";
import { openGate } from "./open-gate.ts";
import { readDestinationControl } from "./read-control.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function busyPlace(): Promise<Place> {
  const place = await makePlace(database.pool);
  await makeDeliveries(database.pool, { ...place, count: 5 });
  return place;
}

const ask = async (place: Place) =>
  (await claim(database.pool, request([{ ...place, wanted: 3 }]))).entries[0];

describe("fault 44: a destination", () => {
  it("is disabled until it is enabled: rows are still written, held and shown with who and why; then they ramp", async () => {
    const place = await busyPlace();
    const id = destinationId(place.destinationId);
    const command = { destinationId: id, version: 1, reason: REASON, ticket: "OPS-1" };
    expect(await disableDestination(contextOf(database), command)).toMatchObject({
      version: 2,
      applied: true,
    });
    await makeDeliveries(database.pool, { ...place, count: 2 });
    expect(await ask(place)).toMatchObject({ taken: 0, blocker: "destination_disabled" });
    expect(await readDestinationControl(database.pool, id)).toMatchObject({
      disabledReason: REASON,
      disabledBy: "user:ann",
    });
    const again = { ...command, version: 2 };
    await expect(disableDestination(contextOf(database), again)).rejects.toMatchObject({
      code: "state_conflict",
    });
    const answer = await enableDestination(contextOf(database), again);
    expect(answer).toMatchObject({
      version: 3,
      before: { disabled: true, disabledReason: REASON, disabledBy: "user:ann" },
      after: { disabled: false, resumeShare: 0.2 },
    });
    expect(await readDestinationControl(database.pool, id)).toMatchObject({
      disabledAt: null,
      resumedAt: answer.after.resumedAt,
      resumeShare: 0.2,
    });
    expect((await ask(place))?.taken).toBeGreaterThan(0);
    const third = { ...command, version: 3 };
    await expect(enableDestination(contextOf(database), third)).rejects.toMatchObject({
      code: "state_conflict",
    });
    const audit = await readAudit(database, id);
    expect(audit.map(({ action, result, ticket }) => `${action} ${result} ${ticket}`)).toEqual([
      "destination.disable done OPS-1",
      "destination.disable conflict OPS-1",
      "destination.enable done OPS-1",
      "destination.enable conflict OPS-1",
    ]);
  });
});

/** A gate that its oldest delivery has shut for an hour; that delivery waits for as long. */
async function shutPlace(): Promise<{ place: Place; id: string; gateUntil: string; probe: string }> {
  const place = await busyPlace();
  const [probe] = await makeDeliveries(database.pool, { ...place, lane: "retry", dueInMs: HOUR_MS });
  await shutGate(database.pool, {
    destinationId: place.destinationId,
    deliveryId: String(probe),
    delayMs: HOUR_MS,
    startedMs: await databaseNowMs(database.pool),
    why: "retry_after",
    status: 429,
    retryAfter: "3600",
  });
  const id = destinationId(place.destinationId);
  const gateUntil = String((await readDestinationControl(database.pool, id)).gateUntil);
  return { place, id, gateUntil, probe: String(probe) };
}

describe("FAIR-6 a shut gate", () => {
  it("is opened by staff: the delivery that shut it goes first and alone, and the evidence is in the audit", async () => {
    const { place, id, gateUntil, probe } = await shutPlace();
    expect(await ask(place)).toMatchObject({ taken: 0, blocker: "gate" });
    const answer = await openGate(contextOf(database), {
      destinationId: id,
      version: 1,
      reason: REASON,
      gateUntil,
    });
    expect(answer).toMatchObject({
      version: 2,
      applied: true,
      before: { gateUntil, why: "retry_after", status: 429, retryAfter: "3600", consecutiveGates: 1 },
      after: { gateUntil: null, probing: true, probeBroughtForward: true },
    });
    expect(timeOf(await readRow(database.pool, "delivery", probe), "due_at")).toBeLessThanOrEqual(
      await databaseNowMs(database.pool),
    );
    // The siblings of the other lane still wait; the probe goes, and is one.
    expect(await ask(place)).toMatchObject({ taken: 0 });
    const probing = await claim(database.pool, request([{ ...place, lane: "retry", wanted: 3 }]));
    expect(probing.ids).toEqual([probe]);
    expect(await readAudit(database, id)).toEqual([
      expect.objectContaining({ action: "destination.open_gate" }),
    ]);
    await expect(
      openGate(contextOf(database), { destinationId: id, version: 2, reason: REASON, gateUntil }),
    ).rejects.toMatchObject({ code: "state_conflict" });
  });

  it("that was shut again, for longer, since the person looked stays shut", async () => {
    const { place, id, gateUntil } = await shutPlace();
    await shutGate(database.pool, {
      destinationId: place.destinationId,
      deliveryId: place.tenantId,
      delayMs: 2 * HOUR_MS,
      startedMs: await databaseNowMs(database.pool),
      why: "retry_after",
      status: 503,
      retryAfter: "7200",
    });
    const command = { destinationId: id, version: 1, reason: REASON, gateUntil };
    await expect(openGate(contextOf(database), command)).rejects.toMatchObject({ code: "version_conflict" });
    expect(await ask(place)).toMatchObject({ taken: 0, blocker: "gate" });
  });

  it("is opened without waiting for a worker that has the probe's row in its hand", async () => {
    const { id, gateUntil, probe } = await shutPlace();
    const held = await openTransaction(database.pool);
    await held.client.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [probe]);
    const command = { destinationId: id, version: 1, reason: REASON, gateUntil };
    expect(await openGate(contextOf(database), command)).toMatchObject({
      after: { probeBroughtForward: false },
    });
  });

  it("that is none cannot be opened", async () => {
    const id = destinationId((await busyPlace()).destinationId);
    const command = { destinationId: id, version: 1, reason: REASON, gateUntil: new Date().toISOString() };
    await expect(openGate(contextOf(database), command)).rejects.toMatchObject({ code: "state_conflict" });
  });
});
