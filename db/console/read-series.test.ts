/** The series on known rows: each number where it belongs, gaps are gaps, and nobody sees more than their scope. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rollUpSeries } from "#db/queue/roll-up-series.ts";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import type { SeriesRange } from "#domain/series.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { readSeries, type Series } from "./read-series.ts";
import type { SeriesTarget } from "./series-level.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addSample, addTenant, endDelivery, newId } from "./test-rows.ts";

const MINUTE_MS = 60_000;

let regions: TestRegions;
let mine: { tenantId: string; destinationId: string };
let other: { tenantId: string; destinationId: string };
/** The minute in which a test began: it may be over when the test reads. */
let minuteMs: number;

beforeEach(async () => {
  const { rows } = await regions.us.pool.query<{ ms: number }>(
    "SELECT (extract(epoch FROM date_trunc('minute', clock_timestamp())) * 1000)::float8 AS ms",
  );
  minuteMs = rows[0]?.ms ?? 0;
});

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  mine = await addPlace("mine");
  other = await addPlace("other");
});

afterEach(async () => {
  await regions.us.pool.query(
    "TRUNCATE sluice.sample_run, sluice.queue_sample, sluice.queue_sample_5m, sluice.attempt, sluice.series_minute, sluice.delivery, sluice.dead_letter",
  );
  await regions.us.pool.query("UPDATE sluice.series_run SET rolled_at = 'epoch'");
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function addPlace(slug: string) {
  const tenantId = await addTenant(regions.us.pool, "us", slug);
  return { tenantId, destinationId: await addDestination(regions.us.pool, "us", tenantId) };
}

async function series(
  range: SeriesRange = "15m",
  target: SeriesTarget = {},
  access: AccessScope = EVERYWHERE,
): Promise<Series> {
  const answer = await readSeries(access, "us", range, target);
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

interface Tried {
  minutesAgo?: number;
  lateMs?: number;
  outcome?: string;
  decision?: "delivered" | "delayed" | "dead";
  durationMs?: number;
}

/** Attempts as workers record them, counted into their minutes. */
async function tried(place: typeof mine, count: number, fields: Tried = {}): Promise<void> {
  const {
    minutesAgo = 2,
    lateMs = 100,
    outcome = "delivered",
    decision = "delivered",
    durationMs = 40,
  } = fields;
  await regions.us.pool.query(
    `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                 due_at, started_at, duration_ms, outcome, decision)
     SELECT gen_random_uuid(), 'us', gen_random_uuid(), $1, $2, 'routine', 'first', 1, 'http', 1, gen_random_uuid(),
            m.at - $4::integer * interval '1 millisecond', m.at, $5, $6, $7
       FROM (SELECT to_timestamp($3::float8 / 1000) AS at) m, generate_series(1, $8)`,
    [
      place.tenantId,
      place.destinationId,
      minuteMs - minutesAgo * MINUTE_MS,
      lateMs,
      durationMs,
      outcome,
      decision,
      count,
    ],
  );
  await rollUpSeries(regions.us.pool, 0);
}

/** The point of a minute, told from the minute in which the test began. */
function countAt(data: Series, minutesAgo: number) {
  return data.counts.find((point) => point.t === minuteMs - minutesAgo * MINUTE_MS);
}

describe("samples", () => {
  test("no sampling at all is no data and no point", async () => {
    expect(await series()).toMatchObject({ sampling: false, lastSampleAt: null, samples: [] });
  });

  test("a sampler that stopped a minute ago is said to have stopped; its old points stay", async () => {
    await addSample(regions.us.pool, "us", { secondsAgo: 60, firstAttemptMs: 5_000, dueMs: 100 });
    const data = await series();
    expect(data.sampling).toBe(false);
    expect(data.samples).toMatchObject([{ oldestMs: 5_000, dueMs: 100, dueCount: 1 }]);
  });

  test("SIG-5 a successful sampling without rows is zero, a failed one is a gap", async () => {
    // An answer's time is told in whole milliseconds: a sampling of the same one lies behind it.
    await regions.us.pool.query(
      `INSERT INTO sluice.sample_run (at, scope, region, ok, error) VALUES (clock_timestamp() - interval '1 second', 'class', 'us', true, NULL),
              (clock_timestamp() - interval '5 minutes', 'class', 'us', false, 'no answer')`,
    );
    const data = await series();
    expect(data.sampling).toBe(true);
    expect(data.samples).toMatchObject([{ oldestMs: 0, dueMs: 0, dead: 0 }]);
  });

  test("a stop of ten minutes leaves one empty point, so that the line breaks", async () => {
    for (const secondsAgo of [720, 715, 60, 55]) {
      await addSample(regions.us.pool, "us", { secondsAgo, firstAttemptMs: 1, dueMs: 1 });
    }
    const { samples } = await series();
    expect(samples.map(({ oldestMs }) => oldestMs)).toEqual([1, 1, null, 1, 1]);
  });

  test.each(["1h", "24h", "7d"] as const)(
    "the worst sample of a step is the one that is shown, %s",
    async (range) => {
      for (let secondsAgo = 600; secondsAgo < 720; secondsAgo += 1) {
        const firstAttemptMs = secondsAgo === 660 ? 90_000 : 10;
        await addSample(regions.us.pool, "us", { secondsAgo, firstAttemptMs, dueMs: 0 });
      }
      const { samples } = await series(range);
      expect(Math.max(...samples.map((point) => point.oldestMs ?? 0))).toBe(90_000);
      expect(samples.length).toBeLessThan(12);
    },
  );
});

describe("counts", () => {
  test("SIG-1 p50 and p95 are of the deliveries tried in the minute, null when none was", async () => {
    await tried(mine, 90, { lateMs: 90 });
    await tried(mine, 10, { lateMs: 14_000 });
    const data = await series();
    const point = countAt(data, 2);
    expect(point?.firstP50Ms).toBeGreaterThan(50);
    expect(point?.firstP50Ms).toBeLessThanOrEqual(100);
    expect(point?.firstP95Ms).toBeGreaterThan(8_000);
    expect(point?.firstP95Ms).toBeLessThanOrEqual(14_000);
    expect(countAt(data, 3)?.firstP95Ms).toBeNull();
  });

  test("outcomes are in their group; a minute without attempts is zero where somebody sampled and a gap elsewhere", async () => {
    await tried(mine, 3);
    await tried(mine, 2, { outcome: "rate_limited", decision: "delayed" });
    await tried(mine, 1, { outcome: "timeout", decision: "delayed", minutesAgo: 4 });
    await regions.us.pool.query(
      `INSERT INTO sluice.sample_run (at, scope, region, ok)
       VALUES (to_timestamp($1::float8 / 1000) - interval '3 minutes', 'class', 'us', true)`,
      [minuteMs],
    );
    const data = await series();
    expect(countAt(data, 2)?.outcomes).toMatchObject({ delivered: 3, rateLimited: 2, network: 0 });
    expect(countAt(data, 4)?.outcomes).toMatchObject({ network: 1 });
    expect(countAt(data, 3)).toMatchObject({ requests: 0, outcomes: { delivered: 0 } });
    expect(countAt(data, 5)).toMatchObject({ requests: null, outcomes: null, deadIn: null });
    // The minute that is not over is not there.
    expect(data.counts.at(-1)?.t).toBe(Math.floor(data.toMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS);
  });

  test("dead letters come in when they die and go out when a person sets them aside", async () => {
    await tried(mine, 2, { outcome: "rejected", decision: "dead" });
    const { id } = await addDelivery(regions.us.pool, "us", { ...mine, dueInSeconds: -1, state: "leased" });
    await endDelivery(regions.us.pool, id, "dead");
    await regions.us.pool.query(
      `UPDATE sluice.dead_letter SET will_not_replay_reason = 'known',
              will_not_replay_at = to_timestamp($1::float8 / 1000) - interval '2 minutes'`,
      [minuteMs],
    );
    expect(countAt(await series(), 2)).toMatchObject({ deadIn: 2, deadOut: 1 });
    expect(countAt(await series("15m", { tenant: "mine" }), 2)).toMatchObject({ deadIn: 2, deadOut: 1 });
    // The other tenant was not counted at all in that minute: nothing is known, nothing is shown.
    expect(countAt(await series("15m", { tenant: "other" }), 2)).toMatchObject({ deadOut: null });
  });

  test("SIG-3 attempts per delivery and amplification", async () => {
    await tried(mine, 4);
    const data = await series();
    expect(data.ends).toMatchObject({ counts: [4, 0, 0, 0, 0, 0, 0, 0, 0], mean: 1 });
    expect(data.amplification).toMatchObject({ now: 1, reference: 1, alert: 1.2, minutes: 15 });
  });

  test("service times are those of the destination", async () => {
    await tried(mine, 5, { durationMs: 40 });
    await tried(other, 5, { durationMs: 4_000 });
    const data = await series("15m", { destination: toPublicId("dst", mine.destinationId) });
    expect(data.level).toBe("destination");
    expect(countAt(data, 2)?.serviceP95Ms).toBeLessThanOrEqual(50);
    expect(countAt(data, 2)?.requests).toBe(5);
  });
});

describe("REG-4 scope", () => {
  const us = (): AccessScope => ({ us: [mine.tenantId] });

  test("a grant for some tenants counts only theirs, from the samples of tenants", async () => {
    await tried(mine, 3);
    await tried(other, 50);
    await regions.us.pool.query(
      `INSERT INTO sluice.sample_run (at, scope, region, ok) VALUES (date_trunc('minute', clock_timestamp()), 'tenant', 'us', true)`,
    );
    await regions.us.pool.query(
      `INSERT INTO sluice.queue_sample (at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count,
                                        held_age_ms, gated_count, ready, delayed, in_flight, dead)
       SELECT date_trunc('minute', clock_timestamp()), 'tenant', t.id, 'routine', 'us', t.ms, 1, t.ms, 0, 0, 0, 1, 0, 0, t.dead
         FROM (VALUES ($1::uuid, 7000, 1), ($2::uuid, 900000, 40)) AS t (id, ms, dead)`,
      [mine.tenantId, other.tenantId],
    );
    const scoped = await series("15m", {}, us());
    expect(countAt(scoped, 2)?.requests).toBe(3);
    expect(scoped.samples).toMatchObject([{ oldestMs: 7_000, dead: 1 }]);
    expect(countAt(await series(), 2)?.requests).toBe(53);
    const one = await series("15m", { tenant: toPublicId("ten", other.tenantId) });
    expect(one.samples).toMatchObject([{ oldestMs: 900_000, dead: 40 }]);
  });

  test.each(["region", "tenant", "destination", "mixed"])(
    "what is outside does not exist: %s",
    async (kind) => {
      const outside = expect.objectContaining({ code: "not_found", status: 404 });
      const destination = toPublicId("dst", other.destinationId);
      if (kind === "region") await expect(readSeries(us(), "eu", "1h")).rejects.toEqual(outside);
      if (kind === "tenant") await expect(series("1h", { tenant: "other" }, us())).rejects.toEqual(outside);
      if (kind === "destination") await expect(series("1h", { destination }, us())).rejects.toEqual(outside);
      // A destination under another tenant's name is no destination, for anybody.
      if (kind === "mixed")
        await expect(series("1h", { destination, tenant: "mine" })).rejects.toEqual(outside);
    },
  );
});

describe("annotations", () => {
  async function note(
    action: string,
    kind: string,
    targetId: string,
    tenantId: string | null,
    result = "done",
  ) {
    await regions.us.pool.query(
      `INSERT INTO sluice.operator_action (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, result, correlation_id)
       VALUES ($1, 'us', 'dana', 'operator', $2, $3, $4, $5, 'because of a test', $6, 'c')`,
      [newId(), action, kind, targetId, tenantId, result],
    );
  }

  test("are what was done, of the tenants in scope and of the region itself", async () => {
    await note("tenant.pause", "tenant", toPublicId("ten", mine.tenantId), mine.tenantId);
    await note("tenant.limits", "tenant", toPublicId("ten", other.tenantId), other.tenantId);
    await note("destination.disable", "destination", toPublicId("dst", mine.destinationId), mine.tenantId);
    await note("region.stop_claims", "region", "us", null);
    await note("tenant.resume", "tenant", toPublicId("ten", mine.tenantId), mine.tenantId, "conflict");
    await note("payload.erase", "payload", "pay_1", mine.tenantId);
    const actions = (data: Series) => data.annotations.map(({ action, target }) => [action, target]);
    expect(actions(await series())).toEqual([
      ["tenant.pause", "mine"],
      ["tenant.limits", "other"],
      ["destination.disable", "Ledger"],
      ["region.stop_claims", null],
    ]);
    const own = [
      ["tenant.pause", "mine"],
      ["destination.disable", "Ledger"],
      ["region.stop_claims", null],
    ];
    expect(actions(await series("15m", {}, { us: [mine.tenantId] }))).toEqual(own);
    expect(actions(await series("15m", { tenant: "mine" }))).toEqual(own);
    expect(actions(await series("15m", { destination: toPublicId("dst", other.destinationId) }))).toEqual([
      ["tenant.limits", "other"],
      ["region.stop_claims", null],
    ]);
  });
});
