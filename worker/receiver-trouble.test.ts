/**
 * Receivers in trouble, measured at the receiver: behind a gate work leaves slowly, a destination that is down is asked
 * with single requests, one that is gone or has failed for a day is disabled, and the rest of its work is held.
 */
import { describe, expect, it } from "vitest";
import type { Receiver } from "#demo/receiver/types.ts";
import { ROUND_MS } from "#domain/adaptive-limit.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

const LONG_MS = 150_000;
const CAP = 10;
/** Few steps from one at a time to the cap: each takes half a second. */
const RAMP_CAP = 5;
const NOTED_MS = 40;
/** Failures come back at once, and never kill. */
const QUICK = {
  retryAfter: { minMs: 20, jitterShare: 0, jitterFloorMs: 0 },
  backoff: { baseMs: 50, factor: 1, capMs: 50, jitter: 0 },
  maxFailures: 100,
};

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;

const { start } = useWorkerWorld(async (world) => {
  ({ database, receiver } = world);
  tenantId = await makeTenant(database.pool);
});

async function fill(path: string, count: number, cap = CAP, policy: object = QUICK): Promise<string> {
  const destinationId = await makeDestination(database.pool, tenantId, {
    url: `${receiver.url}${path}`,
    concurrencyLimit: cap,
    policyOverride: policy,
  });
  await makeDeliveries(database.pool, { tenantId, destinationId, count });
  return destinationId;
}

interface StateRow {
  readonly adaptive_limit: number | null;
  readonly adaptive_why: string | null;
  readonly breaker: string;
  readonly breaker_opens: number;
  readonly failures_since_success: number;
}

async function stateOf(destinationId: string): Promise<StateRow | undefined> {
  const { rows } = await database.pool.query<StateRow>(
    "SELECT * FROM sluice.destination_state WHERE destination_id = $1",
    [destinationId],
  );
  return rows[0];
}

/** A row of failures that is long and old enough for the next one to disable. */
async function failingForADay(destinationId: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, failures_since_success, failing_since)
     VALUES ($1, 'us', 19, now() - interval '25 hours')`,
    [destinationId],
  );
}

async function auditsOf(destinationId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query<Record<string, unknown>>(
    "SELECT action, actor_role, reason, result FROM sluice.operator_action WHERE target_id = 'dst_' || replace($1, '-', '')",
    [destinationId],
  );
  return rows;
}

/** The breaker's time has come. */
async function passBreaker(destinationId: string): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.destination_state SET breaker_until = clock_timestamp() WHERE destination_id = $1 AND breaker = 'open'",
    [destinationId],
  );
}

async function isDisabled(destinationId: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ off: boolean }>(
    "SELECT disabled_at IS NOT NULL AS off FROM sluice.destination WHERE id = $1",
    [destinationId],
  );
  return rows[0]?.off ?? false;
}

const delivered = (destinationId: string, count: number) =>
  waitFor(async () => (await countDeliveries(database.pool, destinationId)).delivered === count, {
    timeoutMs: LONG_MS,
    what: `${count} delivered`,
  });

describe("behind a gate without a declared rate", () => {
  it.each([1, 2])(
    "FAIR-6 FAIR-8 what waits leaves one at a time at first, then more and more up to the cap, with %d workers",
    async (processes) => {
      receiver.script("slow-start", ["429:1", { status: 200, delayMs: 120 }]);
      const destinationId = await fill("/ok/slow-start", 1, RAMP_CAP);
      await start(processes);
      await receiver.waitFor("slow-start", (stats) => stats.statuses["429"] === 1);
      await makeDeliveries(database.pool, { tenantId, destinationId, count: 150 });
      await delivered(destinationId, 151);
      const requests = receiver.requests({ destination: "slow-start", limit: 1_000 });
      // The receiver notes an answer a little after it is out.
      const inFlightAt = (index: number) => {
        const at = requests[index]?.arrivedAtMs ?? 0;
        const open = (one: (typeof requests)[number]) =>
          (one.answeredAtMs ?? Number.POSITIVE_INFINITY) > at + NOTED_MS;
        return requests.slice(0, index + 1).filter(open).length;
      };
      // The probe, and behind it one at a time: the limit moves after half a second at the soonest, which begins with the
      // probe's claim, and that comes after the gate's opening. On a slow machine none may come as early as that.
      const opensMs = requests[0]?.notBeforeMs ?? Number.POSITIVE_INFINITY;
      const early = requests.filter((one) => one.arrivedAtMs < opensMs + ROUND_MS).length;
      for (let index = 1; index < early; index++) expect(inFlightAt(index)).toBe(1);
      // Nothing before the probe's answer, however late the probe was.
      expect(requests[1]?.arrivedAtMs).toBeGreaterThanOrEqual(opensMs);
      expect(requests[2]?.arrivedAtMs).toBeGreaterThanOrEqual(
        requests[1]?.answeredAtMs ?? Number.POSITIVE_INFINITY,
      );
      expect(receiver.stats("slow-start").peakConcurrency).toBe(RAMP_CAP);
      expect(receiver.stats("slow-start").statuses["429"]).toBe(1);
      // At the cap the limit has ended.
      await waitFor(async () => (await stateOf(destinationId))?.adaptive_limit === null);
    },
    2 * LONG_MS,
  );

  it("FAIR-8 a pinned limit is left as it is", async () => {
    const destinationId = await fill("/ok/pinned?ms=20", 60);
    await database.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit, adaptive_pinned) VALUES ($1, 'us', 2, true)",
      [destinationId],
    );
    await start(2);
    await delivered(destinationId, 60);
    expect(receiver.stats("pinned").peakConcurrency).toBe(2);
    expect(await stateOf(destinationId)).toMatchObject({ adaptive_limit: 2 });
  });
});

describe("timeouts", () => {
  it("FAIR-8 lower the limit, and what was in flight together lowers it once", async () => {
    receiver.script("hanging", [...Array.from({ length: 8 }, () => ({ status: 200, delayMs: 8_000 })), 200]);
    const destinationId = await fill("/ok/hanging", 8, 8, { ...QUICK, requestDeadlineMs: 600 });
    await start();
    await waitFor(async () => ((await stateOf(destinationId))?.adaptive_limit ?? null) !== null, {
      timeoutMs: LONG_MS,
    });
    expect(await stateOf(destinationId)).toMatchObject({ adaptive_why: "timeout" });
    expect((await stateOf(destinationId))?.adaptive_limit).toBeGreaterThanOrEqual(4);
    await delivered(destinationId, 8);
  });
});

describe("a destination that is down", () => {
  it(
    "is held by its breaker after 20 failures in a row, asked with single requests, and served again when it answers",
    async () => {
      const destinationId = await fill("/always/500/down", 40);
      // It has been failing for half a minute.
      await database.pool.query(
        `INSERT INTO sluice.destination_state (destination_id, region, down_in_row, down_since)
         VALUES ($1, 'us', 10, now() - interval '31 seconds')`,
        [destinationId],
      );
      const other = await fill("/ok/beside", 20);
      await start(2);
      await waitFor(async () => (await stateOf(destinationId))?.breaker === "open", { timeoutMs: LONG_MS });
      await delivered(other, 20);
      // What was claimed before it opened comes to its end.
      await waitFor(async () => (await countDeliveries(database.pool, destinationId)).leased === 0, {
        timeoutMs: LONG_MS,
      });
      const before = receiver.stats("down").requests;
      expect(before).toBeGreaterThanOrEqual(10);
      await passBreaker(destinationId);
      await waitFor(async () => ((await stateOf(destinationId))?.breaker_opens ?? 0) >= 2, {
        timeoutMs: LONG_MS,
      });
      // A single request has found out that it is still down.
      expect(receiver.stats("down").requests).toBeGreaterThan(before);
      expect(receiver.stats("down").requests).toBeLessThanOrEqual(before + 3);
      await database.pool.query(
        "UPDATE sluice.destination SET url = $2, version = version + 1 WHERE id = $1",
        [destinationId, `${receiver.url}/ok/down-again`],
      );
      await passBreaker(destinationId);
      await delivered(destinationId, 40);
      expect(await stateOf(destinationId)).toMatchObject({ breaker: "closed", failures_since_success: 0 });
      const requests = receiver.requests({ destination: "down-again" });
      expect(requests[1]?.arrivedAtMs).toBeGreaterThanOrEqual(
        requests[0]?.answeredAtMs ?? Number.POSITIVE_INFINITY,
      );
    },
    2 * LONG_MS,
  );
});

describe("a destination that is disabled by what it answers", () => {
  it("RETRY-8 410 disables it at once, audited, and holds the rest without an attempt", async () => {
    const destinationId = await fill("/always/410/gone", 6, 1);
    await start(2);
    await waitFor(() => isDisabled(destinationId));
    await waitFor(async () => (await countDeliveries(database.pool, destinationId)).dead === 1);
    expect(await countDeliveries(database.pool, destinationId)).toMatchObject({
      ready: 5,
      leased: 0,
      dead: 1,
    });
    expect(receiver.stats("gone").requests).toBe(1);
    expect(await auditsOf(destinationId)).toMatchObject([
      {
        action: "destination.disable",
        actor_role: "system",
        reason: "the receiver answered 410 Gone",
        result: "done",
      },
    ]);
  });

  it("fault 81: a failure that makes 20 without a success for 24 h disables it; held work stays", async () => {
    const destinationId = await fill("/always/500/failing", 3, 1, {
      ...QUICK,
      backoff: { baseMs: 60_000, capMs: 60_000 },
    });
    await failingForADay(destinationId);
    await start();
    await waitFor(() => isDisabled(destinationId), { timeoutMs: LONG_MS });
    expect(await auditsOf(destinationId)).toMatchObject([
      { action: "destination.disable", reason: "no success for 24 hours and at least 20 failures" },
    ]);
    const { ready, delayed, dead } = await countDeliveries(database.pool, destinationId);
    expect([ready + delayed, dead]).toEqual([3, 0]);
  });

  it("fault 81: 429 never counts, and one success ends the row", async () => {
    receiver.script("limited", ["429:1", 200]);
    const limited = await fill("/ok/limited", 1, 1);
    const alive = await fill("/ok/alive", 1, 1);
    for (const destinationId of [limited, alive]) await failingForADay(destinationId);
    await start();
    await receiver.waitFor("limited", (stats) => stats.statuses["429"] === 1);
    for (const destinationId of [alive, limited]) {
      await delivered(destinationId, 1);
      await waitFor(async () => (await stateOf(destinationId))?.failures_since_success === 0, {
        timeoutMs: LONG_MS,
      });
      expect(await isDisabled(destinationId)).toBe(false);
    }
  });
});
