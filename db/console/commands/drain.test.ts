/** CTL-3: claims of a region are stopped, and only the count of leases behind a barrier says that it is drained. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { finish } from "#db/queue/finish.ts";
import { contextOf, destinationId, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  makePlace,
  openTransaction,
  outcomeOf,
  type Place,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { drainStatus } from "./drain-status.ts";
import { readDestinationControl, readRegionControl } from "./read-control.ts";
import { startClaims } from "./start-claims.ts";
import { stopClaims } from "./stop-claims.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  place = await makePlace(database.pool);
  await makeDeliveries(database.pool, { ...place, count: 5 });
});
afterEach(async () => {
  const { version, draining } = await readRegionControl(database.pool);
  if (draining) await startClaims(contextOf(database), { version, reason: REASON });
  await database.pool.query("DELETE FROM sluice.delivery");
});
afterAll(() => database.drop());

const stop = async () =>
  stopClaims(contextOf(database), {
    version: (await readRegionControl(database.pool)).version,
    reason: REASON,
  });

describe("CTL-3 a drain", () => {
  it("beside an open claim: the answer waits for it, its leases are counted, and none comes after them", async () => {
    const open = await openTransaction(database.pool);
    const early = await claim(
      open.client as unknown as Parameters<typeof claim>[0],
      request([{ ...place, wanted: 2 }]),
    );
    const stopping = stop();
    await waitFor(async () => (await readRegionControl(database.pool)).draining);
    await waitUntilBlocked(database.pool, "sluice.barrier");
    // A count without the barrier would say zero here, and two leases would appear behind it.
    const proof = drainStatus(contextOf(database));
    await open.commit();
    expect(await stopping).toMatchObject({ applied: true, after: { claims: "stopped", reason: REASON } });
    expect(await proof).toMatchObject({ claims: "stopped", leases: 2, expiredLeases: 0, drained: false });
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).entries[0]).toMatchObject({
      taken: 0,
      blocker: "region_draining",
    });
    await finish(
      database.pool,
      early.ids.map((id) => outcomeOf(id, early.token)),
    );
    expect(await drainStatus(contextOf(database))).toMatchObject({
      leases: 0,
      lastLeaseUntil: null,
      drained: true,
    });
  });

  it("is never said to have ended while claims are on, nor while an expired lease is not taken back", async () => {
    expect(await drainStatus(contextOf(database))).toMatchObject({ claims: "on", leases: 0, drained: false });
    await claim(database.pool, request([{ ...place, wanted: 2 }]));
    await database.pool.query(
      "UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 second' WHERE state = 'leased'",
    );
    await stop();
    expect(await drainStatus(contextOf(database))).toMatchObject({
      leases: 2,
      expiredLeases: 2,
      drained: false,
    });
  });

  it("is stopped and started once each, with an audit row for every try", async () => {
    const first = await readRegionControl(database.pool);
    const before = (await readAudit(database, "us")).length;
    const command = { version: first.version, reason: REASON };
    expect(await stopClaims(contextOf(database), command)).toMatchObject({ version: first.version + 1 });
    await expect(stopClaims(contextOf(database), command)).rejects.toMatchObject({
      code: "version_conflict",
    });
    const next = { version: first.version + 1, reason: REASON };
    await expect(stopClaims(contextOf(database), next)).rejects.toMatchObject({ code: "state_conflict" });
    expect(await startClaims(contextOf(database), next)).toMatchObject({ after: { claims: "on" } });
    await expect(
      startClaims(contextOf(database), { version: first.version + 2, reason: REASON }),
    ).rejects.toMatchObject({ code: "state_conflict" });
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).ids).toHaveLength(3);
    const audit = (await readAudit(database, "us")).slice(before);
    expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual([
      "region.stop_claims done",
      "region.stop_claims conflict",
      "region.stop_claims conflict",
      "region.start_claims done",
      "region.start_claims conflict",
    ]);
  });

  it("CTL-3 claims resume at the last limit known to be safe; a pinned one and one below it stay", async () => {
    const [risky, pinned, low] = [await makePlace(database.pool), await makePlace(database.pool), place];
    for (const [at, limit, safe, isPinned] of [
      [risky, 9, 4, false],
      [pinned, 9, 4, true],
      [low, 2, 4, false],
    ] as const) {
      await database.pool.query(
        "INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit, adaptive_safe_limit, adaptive_pinned) VALUES ($1, 'us', $2, $3, $4)",
        [at.destinationId, limit, safe, isPinned],
      );
    }
    await stop();
    const { version } = await readRegionControl(database.pool);
    expect(await startClaims(contextOf(database), { version, reason: REASON })).toMatchObject({
      after: { claims: "on", loweredToSafe: 1 },
    });
    const limitOf = async (at: Place) =>
      (await readDestinationControl(database.pool, destinationId(at.destinationId))).adaptiveLimit;
    expect([await limitOf(risky), await limitOf(pinned), await limitOf(low)]).toEqual([4, 9, 2]);
  });

  it("REG-2 is refused in another region's database", async () => {
    const wrong = contextOf({ region: "eu", pool: database.pool });
    await expect(stopClaims(wrong, { version: 1, reason: REASON })).rejects.toMatchObject({
      code: "region_mismatch",
    });
    expect((await readRegionControl(database.pool)).draining).toBe(false);
  });
});
