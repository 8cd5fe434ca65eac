/**
 * Controls are rows and part of the claim, never memory: held work stays where it is, fresh workers included, and goes
 * on within a moment when the control ends.
 */
import { describe, expect, it } from "vitest";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

let database: TestDatabase;
let receiver: Receiver;

const { start, stopAll } = useWorkerWorld((world) => {
  ({ database, receiver } = world);
});

interface Lane {
  readonly tenantId: string;
  readonly destinationId: string;
}

async function laneOf(name: string, count: number): Promise<Lane> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/${name}` });
  await makeDeliveries(database.pool, { tenantId, destinationId, count });
  return { tenantId, destinationId };
}

/** Others are served: the workers have had every chance to do wrong. */
async function othersAreServed(name: string): Promise<void> {
  const { destinationId } = await laneOf(name, 10);
  await waitFor(async () => (await countDeliveries(database.pool, destinationId)).delivered === 10);
}

interface Control {
  readonly name: string;
  readonly on: string;
  readonly off: string;
  readonly id: (lane: Lane) => string;
}

const PAUSE =
  "paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour', pause_reason = 'test'";
const RESUME = "paused_at = NULL, pause_until = NULL, pause_reason = NULL";
const CONTROLS: Control[] = [
  {
    name: "a paused tenant",
    on: `UPDATE sluice.tenant SET ${PAUSE} WHERE id = $1`,
    off: `UPDATE sluice.tenant SET ${RESUME} WHERE id = $1`,
    id: (lane) => lane.tenantId,
  },
  {
    name: "a paused destination",
    on: `UPDATE sluice.destination SET ${PAUSE} WHERE id = $1`,
    off: `UPDATE sluice.destination SET ${RESUME} WHERE id = $1`,
    id: (lane) => lane.destinationId,
  },
  {
    name: "a disabled destination",
    on: "UPDATE sluice.destination SET disabled_at = clock_timestamp(), disabled_reason = 'test' WHERE id = $1",
    off: "UPDATE sluice.destination SET disabled_at = NULL, disabled_reason = NULL WHERE id = $1",
    id: (lane) => lane.destinationId,
  },
  {
    name: "a tenant with another claim owner",
    on: "UPDATE sluice.tenant SET claim_owner = 'other' WHERE id = $1",
    off: "UPDATE sluice.tenant SET claim_owner = 'sluice' WHERE id = $1",
    id: (lane) => lane.tenantId,
  },
];

describe("held work", () => {
  it("CTL-1 fault 43: what is paused, disabled or another owner's gets no request from any worker, fresh ones included, and goes on afterwards", async () => {
    const held: (Control & { lane: Lane; at: string })[] = [];
    for (const [index, control] of CONTROLS.entries()) {
      const at = `held-${index}`;
      const lane = await laneOf(at, 20);
      await database.pool.query(control.on, [control.id(lane)]);
      held.push({ ...control, lane, at });
    }
    await start(2);
    await othersAreServed("others");
    await stopAll();
    await start(2);
    await othersAreServed("others-again");
    for (const { name, lane, at } of held) {
      expect(receiver.stats(at).requests, name).toBe(0);
      const counts = await countDeliveries(database.pool, lane.destinationId);
      expect(counts, name).toMatchObject({ ready: 20, leased: 0 });
    }
    for (const { name, lane, at, off, id } of held) {
      await database.pool.query(off, [id(lane)]);
      const endedAt = performance.now();
      await receiver.waitFor(at, (stats) => stats.requests > 0);
      expect(performance.now() - endedAt, name).toBeLessThan(PROMPT_MS);
      await waitFor(async () => (await countDeliveries(database.pool, lane.destinationId)).delivered === 20, {
        what: name,
      });
    }
  });

  it("CTL-3 a draining region claims nothing at all, and goes on when it no longer drains", async () => {
    await database.pool.query("UPDATE sluice.region_control SET draining = true, drain_reason = 'test'");
    await start(2);
    const lane = await laneOf("drained", 10);
    await waitFor(async () => {
      const { rows } = await database.pool.query<{ n: number }>(
        "SELECT count(*)::integer AS n FROM sluice.worker_process WHERE heartbeat_at > started_at + interval '1 second'",
      );
      return rows[0]?.n === 2;
    });
    expect(receiver.totals().requests).toBe(0);
    expect(await countDeliveries(database.pool)).toMatchObject({ ready: 10, leased: 0 });
    await database.pool.query("UPDATE sluice.region_control SET draining = false, drain_reason = NULL");
    await waitFor(async () => (await countDeliveries(database.pool, lane.destinationId)).delivered === 10);
  });

  it("CTL-1 a pause ends by itself at its end", async () => {
    const lane = await laneOf("brief", 5);
    await database.pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1500 milliseconds', pause_reason = 'test'
        WHERE id = $1`,
      [lane.tenantId],
    );
    const { rows } = await database.pool.query<{ until_ms: number }>(
      "SELECT (extract(epoch FROM pause_until) * 1000)::float8 AS until_ms FROM sluice.tenant WHERE id = $1",
      [lane.tenantId],
    );
    await start(1);
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 5);
    expect(receiver.stats("brief").firstArrivalMs).toBeGreaterThanOrEqual(
      rows[0]?.until_ms ?? Number.POSITIVE_INFINITY,
    );
  });

  it("rows of a deleted destination are cancelled, not sent", async () => {
    const lane = await laneOf("deleted", 5);
    await database.pool.query("UPDATE sluice.destination SET deleted_at = clock_timestamp() WHERE id = $1", [
      lane.destinationId,
    ]);
    await start(1);
    await waitFor(async () => {
      const { rows } = await database.pool.query<{ n: number }>(
        "SELECT count(*)::integer AS n FROM sluice.delivery_archive WHERE state = 'cancelled' AND reason = 'destination_deleted'",
      );
      return rows[0]?.n === 5;
    });
    expect(receiver.stats("deleted").requests).toBe(0);
  });
});

describe("a changed destination", () => {
  it("a new address counts for the next attempt, without a restart", async () => {
    receiver.script("old", [500]);
    const tenantId = await makeTenant(database.pool);
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/ok/old`,
      policyOverride: {
        backoff: { baseMs: 100, factor: 1, capMs: 100, jitter: 0 },
        retryAfter: { minMs: 5 },
        maxFailures: 100,
      },
    });
    await makeDeliveries(database.pool, { tenantId, destinationId });
    await start(1);
    await receiver.waitFor("old", (stats) => stats.requests >= 2);
    await database.pool.query("UPDATE sluice.destination SET url = $2, version = version + 1 WHERE id = $1", [
      destinationId,
      `${receiver.url}/ok/new`,
    ]);
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 1);
    expect(receiver.stats("new")).toMatchObject({ requests: 1, effects: 1 });
  });
});
