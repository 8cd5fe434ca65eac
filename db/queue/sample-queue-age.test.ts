/** Ages, lags and counts as the sampler writes them, and the minutes of attempts. On a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  HOUR_MS,
  leaseRows,
  makePlace,
  outcomeOf,
  type Place,
} from "#tests/support/queue-rows/sql.ts";
import { finish } from "./finish.ts";
import { noteFailedSample, sampleQueueAge } from "./sample-queue-age.ts";

interface Sample {
  scope: string;
  tenant_id: string | null;
  service_class: string;
  first_attempt_age_ms: number;
  due_count: number;
  due_age_ms: number;
  held_count: number;
  held_age_ms: number;
  gated_count: number;
  ready: number;
  delayed: number;
  in_flight: number;
  dead: number;
}

const ZEROS = {
  first_attempt_age_ms: 0,
  due_count: 0,
  due_age_ms: 0,
  held_count: 0,
  held_age_ms: 0,
  gated_count: 0,
  ready: 0,
  delayed: 0,
  in_flight: 0,
  dead: 0,
};

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.pool.query(
    "TRUNCATE sluice.delivery, sluice.dead_letter, sluice.destination_state, sluice.sample_run, sluice.queue_sample",
  );
  await database.pool.query("UPDATE sluice.region_control SET draining = false, drain_reason = NULL");
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

/** Takes a sample as if its moment were new, and returns the newest one's rows. */
async function sample(scope: "class" | "tenant" = "class"): Promise<Sample[]> {
  await database.pool.query("TRUNCATE sluice.sample_run, sluice.queue_sample");
  await sampleQueueAge(database.pool, scope);
  const result = await database.pool.query<Sample>(
    "SELECT * FROM sluice.queue_sample ORDER BY service_class, tenant_id",
  );
  return result.rows;
}

async function routine(): Promise<Sample | undefined> {
  return (await sample()).find((row) => row.service_class === "routine");
}

function near(ms: number): { asymmetricMatch(other: unknown): boolean } {
  return { asymmetricMatch: (other) => typeof other === "number" && other >= ms && other < ms + 30_000 };
}

describe("SIG-1 ages and lags", () => {
  it("a row due in 10 h that was created 5 h ago shows no lag and no age, and counts as ready (fault 19)", async () => {
    const [id] = await makeDeliveries(database.pool, { ...place, dueInMs: 10 * HOUR_MS });
    await database.pool.query("ALTER TABLE sluice.delivery DISABLE TRIGGER delivery_identity");
    await database.pool.query(
      "UPDATE sluice.delivery SET created_at = now() - interval '5 hours' WHERE id = $1",
      [id],
    );
    await database.pool.query("ALTER TABLE sluice.delivery ENABLE TRIGGER delivery_identity");
    expect(await routine()).toMatchObject({ ...ZEROS, ready: 1 });
  });

  it("ten rows due for an hour show an hour of both, and count ten", async () => {
    await makeDeliveries(database.pool, { ...place, count: 10, dueInMs: -HOUR_MS });
    const due = {
      first_attempt_age_ms: near(HOUR_MS - 1),
      due_count: 10,
      due_age_ms: near(HOUR_MS - 1),
      ready: 10,
    };
    expect(await routine()).toMatchObject({ ...ZEROS, ...due });
  });

  it("a drained queue writes zeros for both classes (fault 92)", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -HOUR_MS });
    expect((await routine())?.due_count).toBe(1);
    await database.pool.query("TRUNCATE sluice.delivery");
    expect(await sample()).toMatchObject([
      { ...ZEROS, service_class: "urgent", tenant_id: null },
      { ...ZEROS, service_class: "routine", tenant_id: null },
    ]);
    expect(await countRows(database.pool, "sample_run WHERE ok")).toBe(1);
  });

  it("a leased row without a stored outcome counts in first-attempt age, not in the lag", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, dueInMs: -HOUR_MS });
    await leaseRows(database.pool, ids);
    expect(await routine()).toMatchObject({
      ...ZEROS,
      first_attempt_age_ms: near(HOUR_MS - 1),
      in_flight: 1,
    });
  });

  it("LEASE-3 a row with a lost lease still counts in first-attempt age; a tried one never (fault 20)", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -HOUR_MS, lostLeases: 1 });
    expect(await routine()).toMatchObject({ first_attempt_age_ms: near(HOUR_MS - 1), delayed: 1, ready: 0 });
    await database.pool.query("TRUNCATE sluice.delivery");
    await makeDeliveries(database.pool, { ...place, dueInMs: -3_000, lane: "retry" });
    expect(await routine()).toMatchObject({ ...ZEROS, due_count: 1, due_age_ms: near(2_999), delayed: 1 });
  });

  it("the opening of a gate shifts the lag; behind a shut gate rows are gated, not late", async () => {
    await makeDeliveries(database.pool, { ...place, count: 2, dueInMs: -HOUR_MS, lane: "retry" });
    const setGate = (opensIn: string) =>
      database.pool.query(
        `INSERT INTO sluice.destination_state (destination_id, region, hold_until) VALUES ($1, 'us', now() + $2::interval)
         ON CONFLICT (destination_id) DO UPDATE SET hold_until = EXCLUDED.hold_until`,
        [place.destinationId, opensIn],
      );
    await setGate("10 minutes");
    expect(await routine()).toMatchObject({ ...ZEROS, gated_count: 2, delayed: 2 });
    await setGate("-1 minute");
    expect(await routine()).toMatchObject({ ...ZEROS, due_count: 2, due_age_ms: near(59_999), delayed: 2 });
    await setGate("-2 hours");
    expect(await routine()).toMatchObject({ due_count: 2, due_age_ms: near(HOUR_MS - 1) });
  });

  it.each([
    ["tenant", "paused_at = now(), pause_reason = 'test', pause_until = now() + interval '1 hour'"],
    ["tenant", "deleted_at = now()"],
    ["destination", "paused_at = now(), pause_reason = 'test', pause_until = now() + interval '1 hour'"],
    ["destination", "disabled_at = now(), disabled_reason = 'test'"],
    ["destination", "deleted_at = now()"],
    ["region_control", "draining = true, drain_reason = 'test'"],
  ])(
    "what people hold is counted apart with its own age, never in age or lag: %s %s",
    async (table, columns) => {
      await makeDeliveries(database.pool, { ...place, count: 3, dueInMs: -HOUR_MS });
      await makeDeliveries(database.pool, { ...place, dueInMs: HOUR_MS });
      const id = table === "tenant" ? place.tenantId : place.destinationId;
      const where = table === "region_control" ? "" : `WHERE id = '${id}'`;
      await database.pool.query(`UPDATE sluice.${table} SET ${columns} ${where}`);
      expect(await routine()).toMatchObject({
        ...ZEROS,
        held_count: 3,
        held_age_ms: near(HOUR_MS - 1),
        ready: 4,
      });
    },
  );

  it("a pause that has ended holds nothing", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -HOUR_MS });
    await database.pool.query(
      "UPDATE sluice.tenant SET paused_at = now() - interval '2 h', pause_reason = 'test', pause_until = now() - interval '1 s' WHERE id = $1",
      [place.tenantId],
    );
    expect(await routine()).toMatchObject({ held_count: 0, due_count: 1 });
  });
});

describe("SIG-1 by class and tenant", () => {
  it("keeps the classes apart and takes the oldest over all destinations", async () => {
    const other = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, serviceClass: "urgent", dueInMs: -60_000 });
    await makeDeliveries(database.pool, { ...place, dueInMs: -600_000 });
    await makeDeliveries(database.pool, { ...other, dueInMs: -HOUR_MS, lane: "retry" });
    await makeDeliveries(database.pool, { ...other, dueInMs: -1_000 });
    expect(await sample()).toMatchObject([
      { ...ZEROS, first_attempt_age_ms: near(59_999), due_age_ms: near(59_999), due_count: 1, ready: 1 },
      {
        ...ZEROS,
        first_attempt_age_ms: near(599_999),
        due_age_ms: near(HOUR_MS - 1),
        due_count: 3,
        ready: 2,
        delayed: 1,
      },
    ]);
  });

  it("writes a row only for tenants that have something, dead letters included", async () => {
    const dead = await makePlace(database.pool);
    await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, dueInMs: -60_000 });
    const [id] = await makeDeliveries(database.pool, { ...dead, serviceClass: "urgent" });
    const token = await leaseRows(database.pool, [String(id)]);
    const died = { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" } as const;
    await finish(database.pool, [outcomeOf(String(id), token, died)]);
    expect(await sample("tenant")).toMatchObject([
      { ...ZEROS, scope: "tenant", tenant_id: dead.tenantId, service_class: "urgent", dead: 1 },
      { scope: "tenant", tenant_id: place.tenantId, service_class: "routine", due_count: 1, dead: 0 },
    ]);
    expect(await sample("class")).toMatchObject([{ dead: 1 }, { dead: 0, due_count: 1 }]);
  });
});

describe("SIG-5 missing data is not a zero", () => {
  it("one sample for each moment, however many processes take it", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -1_000 });
    const written = await Promise.all(
      Array.from({ length: 5 }, () => sampleQueueAge(database.pool, "tenant")),
    );
    // A minute may end in between; each moment that began has exactly one run and one row.
    const runs = await countRows(database.pool, "sample_run WHERE scope = 'tenant' AND ok");
    expect(runs).toBeLessThanOrEqual(2);
    expect(written.reduce((sum, n) => sum + n, 0)).toBe(runs);
    expect(await countRows(database.pool, "queue_sample")).toBe(runs);
  });

  it("the moment of a sample is a whole multiple of its interval", async () => {
    await sample("class");
    await sampleQueueAge(database.pool, "tenant");
    const off = "extract(epoch FROM at)::numeric % CASE scope WHEN 'class' THEN 5 ELSE 60 END <> 0";
    expect(await countRows(database.pool, `sample_run WHERE ${off}`)).toBe(0);
    expect(await countRows(database.pool, "sample_run")).toBe(2);
  });

  it("a failed sampling writes a run that is not ok, with its reason, and no numbers", async () => {
    await noteFailedSample(database.pool, "us", "class", "x".repeat(5_000));
    const runs = await database.pool.query("SELECT scope, ok, length(error) AS chars FROM sluice.sample_run");
    expect(runs.rows).toEqual([{ scope: "class", ok: false, chars: 200 }]);
    expect(await countRows(database.pool, "queue_sample")).toBe(0);
  });

  it("a sampling that fails half-way leaves neither a run nor numbers, only the note of its failure", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -1_000 });
    await database.pool.query(
      "ALTER TABLE sluice.queue_sample ADD CONSTRAINT broken CHECK (due_count < 0) NOT VALID",
    );
    try {
      await expect(sampleQueueAge(database.pool, "class")).rejects.toMatchObject({ code: "23514" });
    } finally {
      await database.pool.query("ALTER TABLE sluice.queue_sample DROP CONSTRAINT broken");
    }
    expect(await countRows(database.pool, "sample_run")).toBe(0);
    await noteFailedSample(database.pool, "us", "class", "23514");
    expect(await countRows(database.pool, "sample_run WHERE NOT ok")).toBe(1);
    expect(await countRows(database.pool, "queue_sample")).toBe(0);
    // The same moment can still be taken once the cause is gone.
    expect(await sampleQueueAge(database.pool, "class")).toBe(2);
  });
});
