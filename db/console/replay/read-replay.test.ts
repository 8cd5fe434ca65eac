/** What people are shown of a batch: its numbers, its conditions, its report, and to whom. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import {
  about,
  type Batch,
  makeApproved,
  makeDead,
  makeDraft,
  refillRates,
  send,
  setMetrics,
  turn,
} from "#tests/support/replay-rows/sql.ts";
import { pointConsoleAt, releaseConsole } from "../test-console.ts";
import { listReplayItems, listReplays } from "./list-replays.ts";
import { readReplay } from "./read-replay.ts";
import { readReplayReport } from "./read-replay-report.ts";
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
