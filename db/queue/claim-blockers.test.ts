/** What holds a lane, and what a claim says about it: blocker, its end, rows taken. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  HOUR_MS,
  makePlace,
  openTransaction,
  outcomeOf,
  type Place,
  request,
} from "#tests/support/queue-rows/sql.ts";
import { type Claim, claim, type EntryResult } from "./claim.ts";
import { finish } from "./finish.ts";
import { shutGate } from "./shut-gate.ts";

const TRIES = 20;
const SOON_MS = 800;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

/** A place with five due rows. */
async function busyPlace(limits: Parameters<typeof makePlace>[1] = {}): Promise<Place> {
  const place = await makePlace(database.pool, limits);
  await makeDeliveries(database.pool, { ...place, count: 5 });
  return place;
}

async function ask(place: Place, wanted = 3): Promise<EntryResult> {
  const { entries } = await claim(database.pool, request([{ ...place, wanted }]));
  return entries[0] as EntryResult;
}

async function set(table: "tenant" | "destination", id: string, columns: string): Promise<void> {
  await database.pool.query(`UPDATE sluice.${table} SET ${columns} WHERE id = $1`, [id]);
}

async function setRegion(columns: string): Promise<void> {
  onTestFinished(async () => {
    await database.pool.query(
      "UPDATE sluice.region_control SET draining = false, drain_reason = NULL, claim_owner = 'sluice'",
    );
  });
  await database.pool.query(`UPDATE sluice.region_control SET ${columns}`);
}

const PAUSED = "paused_at = now(), pause_reason = 'test', pause_until = now() + interval '1 hour'";
const PAUSE_ENDED =
  "paused_at = now() - interval '2 hours', pause_reason = 'test', pause_until = now() - interval '1 second'";

describe("CTL-1 controls hold work in the claim itself (fault 43)", () => {
  it("a tenant's pause, until it ends", async () => {
    const place = await busyPlace();
    await set("tenant", place.tenantId, PAUSED);
    const paused = await ask(place);
    expect(paused).toMatchObject({ taken: 0, blocker: "tenant_paused" });
    expect(paused.untilMs).toBeCloseTo(Date.now() + HOUR_MS, -5);
    await set("tenant", place.tenantId, PAUSE_ENDED);
    expect(await ask(place)).toEqual({ taken: 3, blocker: null, untilMs: null });
  });

  it("a destination's pause holds that destination only, until it ends", async () => {
    const place = await busyPlace();
    const sibling = await busyPlace({ tenantId: place.tenantId });
    await set("destination", place.destinationId, PAUSED);
    const paused = await ask(place);
    expect(paused).toMatchObject({ taken: 0, blocker: "destination_paused" });
    expect(paused.untilMs).toBeCloseTo(Date.now() + HOUR_MS, -5);
    expect(await ask(sibling)).toMatchObject({ taken: 3 });
    await set("destination", place.destinationId, PAUSE_ENDED);
    expect(await ask(place)).toMatchObject({ taken: 3, blocker: null });
  });

  it("a disabled destination, a deleted destination, a deleted tenant, an unknown destination", async () => {
    const place = await busyPlace();
    await set("destination", place.destinationId, "disabled_at = now(), disabled_reason = 'gone'");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "destination_disabled", untilMs: null });
    await set("destination", place.destinationId, "deleted_at = now()");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "deleted", untilMs: null });
    const orphan = await busyPlace();
    await set("tenant", orphan.tenantId, "deleted_at = now()");
    expect(await ask(orphan)).toEqual({ taken: 0, blocker: "deleted", untilMs: null });
    expect(await ask({ ...place, destinationId: randomUUID() })).toEqual({
      taken: 0,
      blocker: "deleted",
      untilMs: null,
    });
  });

  it("CTL-3 a draining region gives nothing, and gives again afterwards", async () => {
    const place = await busyPlace();
    await setRegion("draining = true, drain_reason = 'test'");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "region_draining", untilMs: null });
    await setRegion("draining = false");
    expect(await ask(place)).toMatchObject({ taken: 3 });
  });

  it("LEASE-9 another claim owner of the tenant or of the region gets the rows, and only that one", async () => {
    const place = await busyPlace();
    const theirs = () => claim(database.pool, request([{ ...place, wanted: 1 }], { owner: "cohort-b" }));
    expect((await theirs()).entries).toEqual([{ taken: 0, blocker: "other_owner", untilMs: null }]);
    await set("tenant", place.tenantId, "claim_owner = 'cohort-b'");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "other_owner", untilMs: null });
    await setRegion("claim_owner = 'cohort-b'");
    expect((await theirs()).ids).toHaveLength(1);
    await set("tenant", place.tenantId, "claim_owner = 'sluice'");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "other_owner", untilMs: null });
  });

  it("names the blocker that holds with its own end when there are two", async () => {
    const place = await busyPlace();
    await gate(place, 60_000);
    await set("tenant", place.tenantId, PAUSED);
    const both = await ask(place);
    expect(both.blocker).toBe("tenant_paused");
    expect(both.untilMs).toBeCloseTo(Date.now() + HOUR_MS, -5);
    await setRegion("draining = true, drain_reason = 'test'");
    expect(await ask(place)).toEqual({ taken: 0, blocker: "region_draining", untilMs: null });
  });
});

async function gate(place: Place, delayMs: number, deliveryId: string = randomUUID()): Promise<number> {
  const state = await shutGate(database.pool, {
    destinationId: place.destinationId,
    deliveryId,
    delayMs,
    startedMs: Date.now(),
    why: "retry_after",
    status: 429,
    retryAfter: "60",
  });
  return state.holdUntilMs;
}

/** The gate's moment comes now. */
async function reachOpening(place: Place): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.destination_state SET hold_until = clock_timestamp() - interval '1 second' WHERE destination_id = $1",
    [place.destinationId],
  );
}

/**
 * Two claims in a row while the row is due in so many milliseconds, undone again. They are repeated when the machine stood still in
 * between: a row that is due in more than a second, or was two seconds ago, is another case.
 */
async function claimTwice(
  entries: Parameters<typeof request>[0],
  id: string,
  dueInMs: number,
): Promise<[Claim, Claim]> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { client, rollback } = await openTransaction(database.pool);
    const { rows } = await client.query<{ ms: number }>(
      `UPDATE sluice.delivery SET due_at = clock_timestamp() + $2::float8 * interval '1 millisecond' WHERE id = $1
        RETURNING (extract(epoch FROM due_at) * 1000)::float8 AS ms`,
      [id, dueInMs],
    );
    const setAtMs = (rows[0]?.ms ?? Number.NaN) - dueInMs;
    const claims: [Claim, Claim] = [
      await claim(client, request(entries)),
      await claim(client, request(entries)),
    ];
    await rollback();
    if (claims[1].claimedAtMs - setAtMs < SOON_MS) return claims;
  }
  throw new Error("the machine stood still each time");
}

async function probeFor(place: Place): Promise<Claim> {
  return claim(database.pool, request([{ ...place, wanted: 3 }]));
}

describe("FAIR-6 the gate", () => {
  it("holds every lane and class of its destination until it opens, and no sibling (fault 12)", async () => {
    const place = await busyPlace();
    await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent" });
    const sibling = await busyPlace({ tenantId: place.tenantId });
    const untilMs = await gate(place, 60_000);
    const entries = [
      { ...place, wanted: 2 },
      { ...place, lane: "retry" as const, serviceClass: "urgent" as const, wanted: 2 },
      { ...sibling, wanted: 2 },
    ];
    expect((await claim(database.pool, request(entries))).entries).toEqual([
      { taken: 0, blocker: "gate", untilMs },
      { taken: 0, blocker: "gate", untilMs },
      { taken: 2, blocker: null, untilMs: null },
    ]);
  });

  it("lets one probe through when it opens, and after a good outcome of a request begun since the rest, one at a time", async () => {
    const place = await busyPlace();
    await gate(place, 60_000);
    await reachOpening(place);
    const probe = await probeFor(place);
    expect(probe.ids).toHaveLength(1);
    expect((await ask(place)).taken).toBe(0);
    const startedMs = probe.claimedAtMs + 1;
    await finish(database.pool, [outcomeOf(String(probe.ids[0]), probe.token, { started_ms: startedMs })]);
    expect(await ask(place, 4)).toMatchObject({ taken: 1, blocker: "adaptive_limit" });
  });

  it("gives the probe to the delivery that shut it, so that no sibling spends an attempt on finding out", async () => {
    const place = await busyPlace();
    const [shutter = ""] = await makeDeliveries(database.pool, { ...place, lane: "retry", dueInMs: HOUR_MS });
    await gate(place, 60_000, shutter);
    await reachOpening(place);
    const entries = [
      { ...place, wanted: 3 },
      { ...place, lane: "retry" as const, wanted: 3 },
    ];
    const [early] = await claimTwice(entries, shutter, 900);
    expect(early.entries.map((entry) => [entry.taken, entry.blocker])).toEqual([
      [0, "gate"],
      [0, "gate"],
    ]);
    expect(early.entries[0]?.untilMs).toBeGreaterThan(early.claimedAtMs);
    const [due, after] = await claimTwice(entries, shutter, 0);
    expect(due.ids).toEqual([shutter]);
    expect(after.ids).toEqual([]);
  });

  it("leaves the probe to others when the delivery that shut it was not claimed within two seconds", async () => {
    const place = await busyPlace();
    const [shutter = ""] = await makeDeliveries(database.pool, { ...place, lane: "retry", dueInMs: -3_000 });
    await gate(place, 60_000, shutter);
    await reachOpening(place);
    expect((await probeFor(place)).ids).toHaveLength(1);
  });

  it("lets the next probe through when the first one's lease has ended, or when it was released as dead unsent", async () => {
    const place = await busyPlace();
    await gate(place, 60_000);
    await reachOpening(place);
    const lost = await probeFor(place);
    await database.pool.query("UPDATE sluice.delivery SET lease_until = clock_timestamp() WHERE id = $1", [
      lost.ids[0],
    ]);
    const unsent = await probeFor(place);
    expect(unsent.ids).toHaveLength(1);
    const dead = {
      decision: "dead",
      outcome: "payload_erased",
      reason: "payload_erased",
      fingerprint: "f",
      sent: false,
    } as const;
    const row = outcomeOf(String(unsent.ids[0]), unsent.token, {
      ...dead,
      opens_gate: false,
      started_ms: unsent.claimedAtMs + 1,
    });
    expect((await finish(database.pool, [row])).size).toBe(1);
    expect((await probeFor(place)).ids).toHaveLength(1);
    expect((await probeFor(place)).ids).toHaveLength(0);
  });

  it("gives no probe beside requests that were in flight when it was shut", async () => {
    const place = await busyPlace();
    const flying = await probeFor(place);
    expect(flying.ids).toHaveLength(3);
    await gate(place, 60_000);
    await reachOpening(place);
    expect((await ask(place)).taken).toBe(0);
    // They began before it was shut, so they say nothing about it: one probe goes first.
    const startedMs = flying.claimedAtMs - 5_000;
    await finish(
      database.pool,
      flying.ids.map((id) => outcomeOf(id, flying.token, { started_ms: startedMs })),
    );
    expect((await ask(place)).taken).toBe(1);
  });
});

describe("SIG-9 what an entry hears", () => {
  it("null when the lane ran dry or gave all that was asked, else the limit that cut it", async () => {
    const place = await busyPlace();
    expect(await ask(place, 3)).toEqual({ taken: 3, blocker: null, untilMs: null });
    expect(await ask(place, 3)).toEqual({ taken: 2, blocker: null, untilMs: null });
    expect(await ask(place, 3)).toEqual({ taken: 0, blocker: null, untilMs: null });
    expect(await ask(await busyPlace(), 0)).toEqual({ taken: 0, blocker: null, untilMs: null });
    expect(await ask(await busyPlace({ destinationCap: 2 }))).toEqual({
      taken: 2,
      blocker: "destination_cap",
      untilMs: null,
    });
    expect(await ask(await busyPlace({ tenantCap: 2 }))).toEqual({
      taken: 2,
      blocker: "tenant_cap",
      untilMs: null,
    });
    expect(await ask(await busyPlace({ tenantCap: 1, destinationCap: 2 }))).toMatchObject({
      taken: 1,
      blocker: "tenant_cap",
    });
    const limited = await ask(await busyPlace({ ratePerSecond: 0.001, rateBurst: 2 }));
    expect(limited).toMatchObject({ taken: 2, blocker: "rate" });
    expect(limited.untilMs).toBeCloseTo(Date.now() + 1_000_000, -5);
  });

  it("no end and no blocker of a rate that did not cut: a dry lane of a limited destination", async () => {
    const place = await busyPlace({ ratePerSecond: 0.001, rateBurst: 7 });
    expect(await ask(place, 9)).toEqual({ taken: 5, blocker: null, untilMs: null });
    const capped = await busyPlace({ ratePerSecond: 0.001, rateBurst: 3, destinationCap: 2 });
    expect(await ask(capped, 9)).toEqual({ taken: 2, blocker: "destination_cap", untilMs: null });
  });

  it("one result for each entry, in the order given, whatever became of the others", async () => {
    const [free, dry] = [await busyPlace(), await makePlace(database.pool)];
    const paused = await busyPlace();
    await set("tenant", paused.tenantId, PAUSED);
    const places = [dry, paused, free, dry, paused];
    const { entries, ids } = await claim(
      database.pool,
      request(places.map((place) => ({ ...place, wanted: 2 }))),
    );
    expect(entries.map(({ taken, blocker }) => [taken, blocker])).toEqual([
      [0, null],
      [0, "tenant_paused"],
      [2, null],
      [0, null],
      [0, "tenant_paused"],
    ]);
    expect(ids).toHaveLength(2);
  });
});
