/**
 * FAIR-6: one 429 holds its whole destination and nobody else. Behind the gate nothing spends an attempt, and when it
 * opens one request goes first; only its answer lets the others follow.
 */
import { describe, expect, it } from "vitest";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, makeDue, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

const LONG_MS = 150_000;
const CAP = 4;
/** Retry-After without jitter, so that gate and delivery open at known times. */
const EXACT = { retryAfter: { minMs: 5, jitterShare: 0, jitterFloorMs: 0 } };

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;

const { start } = useWorkerWorld(async (world) => {
  ({ database, receiver } = world);
  tenantId = await makeTenant(database.pool);
});

async function fill(
  path: string,
  count: number,
  policyOverride: unknown = EXACT,
): Promise<{ destinationId: string; ids: string[] }> {
  const url = `${receiver.url}${path}`;
  const destinationId = await makeDestination(database.pool, tenantId, {
    url,
    concurrencyLimit: CAP,
    policyOverride,
  });
  return { destinationId, ids: await makeDeliveries(database.pool, { tenantId, destinationId, count }) };
}

const allDelivered = (count: number) =>
  waitFor(async () => (await countDeliveries(database.pool)).delivered === count, {
    timeoutMs: LONG_MS,
    what: `${count} delivered`,
  });

async function readGate(destinationId: string) {
  const { rows } = await database.pool.query<{
    until_ms: number;
    probing: boolean;
    gates: number;
    why: string;
  }>(
    `SELECT (extract(epoch FROM hold_until) * 1000)::float8 AS until_ms, probing, consecutive_gates AS gates, hold_why AS why
       FROM sluice.destination_state WHERE destination_id = $1`,
    [destinationId],
  );
  return rows[0];
}

/** The gate's time has come, and that of the delivery that shut it. */
async function passGate(destinationId: string, ids: readonly string[]): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.destination_state SET hold_until = clock_timestamp() WHERE destination_id = $1",
    [destinationId],
  );
  await makeDue(database.pool, ids);
}

describe("100 due rows of a destination that answers the first of them with 429", () => {
  it.each([1, 2])(
    "FAIR-6 fault 12: only what was in flight is sent before the gate opens, with %d workers",
    async (processes) => {
      // The first answer comes at once, those of the other requests in flight later.
      receiver.script("busy", [
        "429:600",
        { status: 200, delayMs: 600 },
        { status: 200, delayMs: 600 },
        { status: 200, delayMs: 600 },
        200,
      ]);
      const { destinationId, ids } = await fill("/ok/busy", 100);
      await start(processes);
      await receiver.waitFor("busy", (stats) => stats.statuses["429"] === 1);
      const gate = await waitFor(() => readGate(destinationId));
      expect(gate).toMatchObject({ probing: true, gates: 1, why: "retry_after" });
      await receiver.waitFor("busy", (stats) => stats.currentConcurrency === 0);

      const other = await fill("/ok/elsewhere", 10);
      await waitFor(
        async () => (await countDeliveries(database.pool, other.destinationId)).delivered === 10,
        { timeoutMs: LONG_MS },
      );
      const sentBefore = receiver.stats("busy").requests;
      expect(sentBefore).toBeLessThanOrEqual(CAP);
      const rows = await Promise.all(ids.map((id) => readDelivery(database.pool, id)));
      expect(rows.filter(({ attempts, state }) => attempts === 0 && state === "ready")).toHaveLength(
        100 - sentBefore,
      );
      // Ten minutes; that nothing goes before such a time is shown below, where it is a second.
      expect(gate.until_ms).toBeGreaterThan(Date.now() + PROMPT_MS);

      await waitFor(async () => (await countDeliveries(database.pool, destinationId)).leased === 0);
      const [refused] = receiver.requests({ destination: "busy" }).filter(({ status }) => status === 429);
      await passGate(destinationId, [String(refused?.key).replace("key-", "")]);
      await allDelivered(110);
      const requests = receiver.requests({ destination: "busy" });
      const probe = requests[sentBefore];
      expect(receiver.stats("busy").requests).toBe(101);
      // One goes first, and nothing follows before it is answered.
      for (const follower of requests.slice(sentBefore + 1)) {
        expect(follower.arrivedAtMs).toBeGreaterThanOrEqual(probe?.answeredAtMs ?? Number.POSITIVE_INFINITY);
      }
      expect(await readGate(destinationId)).toMatchObject({ probing: false, gates: 0 });
    },
  );
});

describe("a gate", () => {
  it("FAIR-6 is shut again by a probe that meets another 429, still one request at a time", async () => {
    receiver.script("stubborn", ["429:1", "429:1", "429:1", 200]);
    const { destinationId } = await fill("/ok/stubborn", 1);
    await start();
    await receiver.waitFor("stubborn", (stats) => stats.requests === 1);
    await makeDeliveries(database.pool, { tenantId, destinationId, count: 20 });
    await receiver.waitFor("stubborn", (stats) => stats.requests >= 4, LONG_MS);
    const requests = receiver.requests({ destination: "stubborn" });
    for (const [index, request] of requests.slice(1, 4).entries()) {
      expect(request.arrivedAtMs).toBeGreaterThanOrEqual(
        requests[index]?.notBeforeMs ?? Number.POSITIVE_INFINITY,
      );
    }
    await allDelivered(21);
    expect(receiver.stats("stubborn").statuses["429"]).toBe(3);
  });

  it("FAIR-6 without Retry-After backs off by the destination's gates in a row, not by each delivery's", async () => {
    const policy = {
      ...EXACT,
      gate: { baseMs: 200, factor: 2, capMs: 60_000, jitter: 0 },
      backoff: { baseMs: 5, factor: 1, capMs: 5, jitter: 0 },
    };
    receiver.script("unclear", [429, 429, 429, 200]);
    const { destinationId } = await fill("/ok/unclear", 8, policy);
    await database.pool.query("UPDATE sluice.destination SET concurrency_limit = 1 WHERE id = $1", [
      destinationId,
    ]);
    await start();
    await allDelivered(8);
    const requests = receiver.requests({ destination: "unclear" });
    const waits = [1, 2, 3].map(
      (n) => (requests[n]?.arrivedAtMs ?? 0) - (requests[n - 1]?.answeredAtMs ?? 0),
    );
    for (const [index, leastMs] of [200, 400, 800].entries())
      expect(waits[index]).toBeGreaterThanOrEqual(leastMs - 1);
    expect(receiver.stats("unclear").requests).toBe(11);
  });

  it("FAIR-6 is shut by 503 with Retry-After, but not by 503 without", async () => {
    receiver.script("down", ["503:2", 200]);
    const down = await fill("/ok/down", 1);
    receiver.script("error", [503, 200]);
    const error = await fill("/ok/error", 1, { backoff: { baseMs: 5, capMs: 5 }, retryAfter: { minMs: 5 } });
    await start();
    await allDelivered(2);
    expect(await readGate(down.destinationId)).toMatchObject({ why: "retry_after" });
    expect((await readGate(error.destinationId))?.until_ms ?? null).toBeNull();
  });

  it("FAIR-6 that staff open early lets the next request go within a second", async () => {
    receiver.script("opened", ["429:600", 200]);
    const { destinationId, ids } = await fill("/ok/opened", 2);
    await database.pool.query("UPDATE sluice.destination SET concurrency_limit = 1 WHERE id = $1", [
      destinationId,
    ]);
    await start();
    await waitFor(async () => (await readAttempts(database.pool, ids[0] ?? "")).length === 1);
    await database.pool.query(
      "UPDATE sluice.destination_state SET hold_until = clock_timestamp() WHERE destination_id = $1",
      [destinationId],
    );
    const openedAt = performance.now();
    await waitFor(async () => (await readDelivery(database.pool, ids[1] ?? "")).state === "delivered");
    expect(performance.now() - openedAt).toBeLessThan(PROMPT_MS);
    // The delivery that was asked to wait still waits.
    expect(await readDelivery(database.pool, ids[0] ?? "")).toMatchObject({ state: "delayed", attempts: 1 });
  });

  it(
    "FAIR-6 an endpoint that refuses every first try of a key is worked off all the same, under steady new work",
    async () => {
      const quick = {
        ...EXACT,
        backoff: { baseMs: 40, capMs: 80, jitter: 0 },
        gate: { baseMs: 40, factor: 2, capMs: 400, jitter: 0 },
      };
      const { destinationId } = await fill("/429/malformed/stubborn?times=1", 10, quick);
      await start();
      for (let more = 0; more < 10; more++) {
        const before = (await countDeliveries(database.pool)).delivered ?? 0;
        await makeDeliveries(database.pool, { tenantId, destinationId });
        await waitFor(async () => ((await countDeliveries(database.pool)).delivered ?? 0) > before, {
          timeoutMs: LONG_MS,
          what: "the next delivery",
        });
      }
      await allDelivered(20);
    },
    4 * LONG_MS,
  );
});
