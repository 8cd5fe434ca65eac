/** What people are shown of a batch: its numbers, its conditions, its report, and to whom. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE, type Grant, type Role } from "#domain/permissions.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import {
  about,
  type Batch,
  makeApproved,
  makeDead,
  makeDraft,
  makeSubmitted,
  refillRates,
  send,
  setMetrics,
  turn,
} from "#tests/support/replay-rows/sql.ts";
import { listActiveControls } from "../list-active-controls.ts";
import { pointConsoleAt, releaseConsole } from "../test-console.ts";
import { listReplayItems } from "./list-replay-items.ts";
import { listReplays, readReplaySummary } from "./list-replays.ts";
import { readReplay } from "./read-replay.ts";
import { readReplayReport } from "./read-replay-report.ts";
import { readReplaySeries } from "./read-replay-series.ts";
import { startReplay, stopReplay } from "./run.ts";

let regions: TestRegions;
let place: Place;
let other: Place;
let batch: Batch;

beforeAll(async () => {
  regions = await createTestRegions();
  const { us } = regions;
  await pointConsoleAt({ us: us.connectionString, eu: regions.eu.connectionString });
  [place, other] = [await makePlace(us.pool), await makePlace(us.pool)];
  await setMetrics(us.pool);
  const ids = [...(await makeDead(us.pool, place, 8)), ...(await makeDead(us.pool, other, 4))];
  batch = await makeApproved(
    us,
    { ids: ids.map((id) => toPublicId("dlv", id)) },
    { ratePerSecond: 50, concurrency: 50 },
  );
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

const detail = async () => {
  const answer = await readReplay(EVERYWHERE, "us", batch.publicId);
  if (answer.status !== "ok" || answer.data === null) throw new Error("no batch");
  return answer.data;
};

describe("a batch", () => {
  it("shows its frozen set, plan, conditions with their values, lanes and samples before the start", async () => {
    const shown = await detail();
    expect(shown).toMatchObject({
      state: "approved",
      items: 12,
      tenants: 2,
      approvedBy: "user:bob",
      requestedBy: "user:ann",
      orderCanChange: true,
    });
    expect(shown.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(shown.conditions.every(({ breached }) => !breached)).toBe(true);
    expect(shown.conditions.find(({ condition }) => condition === "rate_limited_share")).toMatchObject({
      value: null,
    });
    expect(shown.lanes.map(({ counts }) => counts.frozen).sort()).toEqual([4, 8]);
    expect(shown.sample).toHaveLength(12);
    expect(shown.reviewSample.length).toBeGreaterThan(0);
    expect(shown.events.map(({ kind }) => kind)).toEqual([
      "approve",
      "submit",
      "plan",
      "annotate",
      "inspect",
      "draft",
    ]);
    expect(Date.parse(String(shown.expiresAt))).toBeGreaterThan(Date.now());
  });

  it("is shown only to those who may read every tenant in it, and not in another region", async () => {
    const half = { us: [place.tenantId] };
    for (const scope of [half, { us: [] }]) {
      expect(await readReplay(scope, "us", batch.publicId)).toMatchObject({ status: "ok", data: null });
      expect(await listReplays(scope, { region: "us", limit: 10 })).toMatchObject({ data: { rows: [] } });
      expect(
        await listReplayItems(scope, { region: "us", batchId: batch.publicId, limit: 10 }),
      ).toMatchObject({ data: null });
    }
    const both = { us: [place.tenantId, other.tenantId] };
    expect(await readReplay(both, "us", batch.publicId)).toMatchObject({ data: { id: batch.publicId } });
    expect(await readReplay(EVERYWHERE, "eu", batch.publicId)).toMatchObject({ status: "ok", data: null });
    await expect(readReplay({ eu: null }, "us", batch.publicId)).rejects.toMatchObject({ code: "not_found" });
  });

  it("lists page by page", async () => {
    const draft = await makeDraft(regions.us, {
      ids: (await makeDead(regions.us.pool, place, 1)).map((id) => toPublicId("dlv", id)),
    });
    const first = await listReplays(EVERYWHERE, { region: "us", limit: 1 });
    if (first.status !== "ok") throw new Error("unavailable");
    expect(first.data.rows.map(({ id }) => id)).toEqual([draft.publicId]);
    const second = await listReplays(EVERYWHERE, { region: "us", limit: 1, cursor: first.data.next ?? "" });
    expect(second).toMatchObject({ data: { rows: [{ id: batch.publicId, items: 12 }], next: null } });
    const items = await listReplayItems(EVERYWHERE, { region: "us", batchId: batch.publicId, limit: 10 });
    if (items.status !== "ok" || items.data === null) throw new Error("no items");
    const rest = await listReplayItems(EVERYWHERE, {
      region: "us",
      batchId: batch.publicId,
      limit: 10,
      cursor: items.data.next ?? "",
    });
    expect(rest).toMatchObject({ data: { next: null } });
    expect(items.data.rows).toHaveLength(10);
  });

  it("DLQ-4 the report's numbers add up to the frozen total, and say what is left", async () => {
    const { pool } = regions.us;
    const bob = contextOf(regions.us, { actor: "user:bob" });
    await startReplay(bob, about(batch));
    await refillRates(pool, batch.id);
    await turn(pool, batch.id);
    await send(pool, place);
    expect((await detail()).progress).toBe("3 of 12 delivered");
    await stopReplay(bob, about(batch));
    await turn(pool, batch.id);
    const answer = await readReplayReport(EVERYWHERE, "us", batch.publicId);
    if (answer.status !== "ok" || answer.data === null) throw new Error("no report");
    const report = answer.data;
    expect(report).toMatchObject({
      state: "stopped",
      total: 12,
      left: 9,
      requests: 3,
      amplification: 1,
      people: { requestedBy: "user:ann", approvedBy: "user:bob" },
    });
    expect(report.counts).toMatchObject({ delivered: 3, recalled: 2, not_released: 7 });
    for (const parts of [report.byDestination, report.byReason]) {
      const sums = parts.flatMap(({ counts }) => Object.values(counts));
      expect(sums.reduce((sum, n) => sum + n, 0)).toBe(12);
    }
    expect(report.stops.map(({ kind }) => kind)).toContain("stop");
    expect(report.durationMs).toBeGreaterThanOrEqual(0);
  });
});

const viewer = (role: Role, actor: string, tenantIds: readonly string[] | null = null) => {
  const grant: Grant = { role, regions: ["us"], tenantIds, canReveal: false, actions: null };
  return { grants: [grant], actor };
};

describe("badges and tabs", () => {
  it("count what waits for the caller: not their own, not what they may not approve, not what they may not read", async () => {
    const { us } = regions;
    const here = await makePlace(us.pool);
    const ids = await makeDead(us.pool, here, 2);
    const waiting = await makeSubmitted(us, { ids: ids.map((id) => toPublicId("dlv", id)) });
    const counts = async (who: ReturnType<typeof viewer>, scope = EVERYWHERE) => {
      const [answer] = (await readReplaySummary(scope, who, ["us"])).regions;
      if (answer?.status !== "ok") throw new Error("no summary");
      // The badge of every page comes from another read, and says the same.
      expect(await listActiveControls(scope, "us", who)).toMatchObject({
        data: { awaitingMe: answer.data.awaitingMe },
      });
      return answer.data;
    };
    expect(await counts(viewer("operator", "user:bob"))).toMatchObject({ needsReview: 1, awaitingMe: 1 });
    expect((await counts(viewer("operator", "user:ann"))).awaitingMe).toBe(0);
    expect((await counts(viewer("support", "user:bob"))).awaitingMe).toBe(0);
    const mine = { us: [here.tenantId] };
    expect(await counts(viewer("operator", "user:bob", mine.us), mine)).toMatchObject({
      needsReview: 1,
      awaitingMe: 1,
      finished: 0,
    });
    expect(await counts(viewer("operator", "user:bob", []), { us: [] })).toMatchObject({
      needsReview: 0,
      awaitingMe: 0,
      running: 0,
      drafts: 0,
    });
    await expect(
      readReplaySummary({ eu: null }, viewer("operator", "user:bob"), ["us"]),
    ).rejects.toMatchObject({
      code: "not_found",
    });
    const page = await listReplays(
      EVERYWHERE,
      { region: "us", tab: "needs_review", limit: 10 },
      viewer("operator", "user:bob"),
    );
    expect(page).toMatchObject({
      data: {
        rows: [
          {
            id: waiting.publicId,
            mayReview: true,
            reviewer: null,
            progress: "0 of 2 delivered",
            successShare: null,
            finishedShare: 0,
            pausedBy: null,
            scope: {
              tenants: 1,
              destinations: 1,
              tenant: { id: toPublicId("ten", here.tenantId) },
              destination: { id: toPublicId("dst", here.destinationId) },
            },
          },
        ],
      },
    });
  });
});

describe("a batch that runs", () => {
  it("shows its pace, its curves against its limits, and the banner that it is out", async () => {
    const { us } = regions;
    const here = await makePlace(us.pool);
    const ids = await makeDead(us.pool, here, 8);
    const made = await makeApproved(
      us,
      { ids: ids.map((id) => toPublicId("dlv", id)) },
      { ratePerSecond: 10, concurrency: 4 },
    );
    const bob = contextOf(us, { actor: "user:bob" });
    const read = async () => {
      const answer = await readReplay(EVERYWHERE, "us", made.publicId, viewer("operator", "user:bob"));
      if (answer.status !== "ok" || answer.data === null) throw new Error("no batch");
      return answer.data;
    };
    const before = await read();
    expect(before.estimate).toMatchObject({
      ratePerSecond: 10,
      durationMs: 800,
      leftMs: 800,
      concurrency: 4,
    });
    expect(before.actions).toMatchObject({ start: { allowed: true }, stop: { allowed: false } });
    expect(before.lanes[0]).toMatchObject({
      plannedRatePerSecond: 10,
      effectiveRatePerSecond: 0,
      trouble: null,
    });
    await setMetrics(us.pool);
    await startReplay(bob, about(made));
    await refillRates(us.pool, made.id);
    await turn(us.pool, made.id);
    await send(us.pool, here, {
      decision: "dead",
      outcome: "rate_limited",
      status: 429,
      reason: "attempts_exhausted",
      fingerprint: "f",
    });
    const shown = await read();
    expect(shown.lanes[0]).toMatchObject({
      effectiveRatePerSecond: 10,
      equalFailures: { count: 4, limit: 5, text: "rate limited 429" },
      canary: { items: 5, delivered: 0, open: 1 },
    });
    expect(shown).toMatchObject({ ratePerSecond: 10, sample: [], turnAgeMs: expect.any(Number) });
    expect(shown.actions).toMatchObject({ stop: { allowed: true }, start: { allowed: false } });
    const series = await readReplaySeries(EVERYWHERE, "us", made.publicId);
    if (series.status !== "ok" || series.data === null) throw new Error("no series");
    const { points, ...lines } = series.data;
    expect(lines).toMatchObject({
      stepMs: 5_000,
      capPerMinute: 600,
      rateLimitedLimit: 0.1,
      dueLagLimitMs: 60_000,
    });
    expect(lines.marks.map(({ kind }) => kind)).toEqual(["start"]);
    const sum = (name: "released" | "requests" | "delivered" | "rateLimited" | "failed") =>
      points.reduce((all, point) => all + point[name], 0);
    expect(
      ["released", "requests", "delivered", "rateLimited", "failed"].map((name) => sum(name as "failed")),
    ).toEqual([4, 4, 0, 4, 4]);
    expect(points.find(({ requests }) => requests > 0)).toMatchObject({
      rateLimitedShare: 1,
      perMinute: expect.any(Number),
    });
    expect(await readReplaySeries({ us: [other.tenantId] }, "us", made.publicId)).toMatchObject({
      data: null,
    });

    const active = await listActiveControls(EVERYWHERE, "us");
    if (active.status !== "ok") throw new Error(active.detail);
    expect(active.data).toMatchObject({ replaysRunning: 1, replaysPaused: 0, replaysAutoPaused: 0 });
    expect(active.data.replays).toMatchObject([
      { id: made.publicId, state: "canary", items: 8, pausedBy: null },
    ]);
    await setMetrics(us.pool, { ageMs: 31_000 });
    await turn(us.pool, made.id);
    const paused = await listActiveControls({ us: [here.tenantId] }, "us");
    expect(paused).toMatchObject({
      data: {
        replaysRunning: 0,
        replaysAutoPaused: 1,
        replays: [{ pausedBy: "auto", cause: expect.stringMatching(/^metrics 31 s old/) }],
      },
    });
    expect(await listActiveControls({ us: [other.tenantId] }, "us")).toMatchObject({ data: { replays: [] } });
    expect((await read()).actions.resume).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/metrics 31 s old/),
    });
    await setMetrics(us.pool);
  });
});
