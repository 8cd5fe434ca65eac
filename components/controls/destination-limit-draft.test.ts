/** The limits form of a destination: only what was changed is sent, and the preview follows what was typed. */
import { describe, expect, it } from "vitest";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { readDestinationLimits, type TypedLimits } from "./destination-limit-draft.ts";

const NOW_MS = Date.parse("2026-11-30T14:03:10.000Z");
const UNTOUCHED: TypedLimits = { concurrencyLimit: null, ratePerSecond: null, rateBurst: null };

/** Only what the form reads. */
const VIEW = {
  concurrency: { limit: 5, inForce: 4, inherited: 10 },
  rate: { perSecond: null, burst: 1 },
  adaptive: { limit: 4, safeLimit: 4, pinned: false, why: null },
  drain: { waiting: 1_200, waitingMore: false, concurrency: 4, ratePerSecond: null, serviceTimeMs: 200 },
  step: { nextRaiseAt: null, maxFactor: 2, needsAcknowledge429: false },
  policy: { maxTenantConcurrency: 1_000, maxDestinationConcurrency: 100, maxRatePerSecond: 1_000 },
  permit: { limits: { allowed: true, only: "within_policy" } },
} as unknown as DestinationControlView;

const read = (typed: Partial<TypedLimits>) =>
  readDestinationLimits(VIEW, { ...UNTOUCHED, ...typed }, false, NOW_MS);

describe("the limits of a destination", () => {
  it("follow the row until they are touched, and nothing is sent then", () => {
    expect(read({})).toMatchObject({
      text: { concurrencyLimit: "5", ratePerSecond: "", rateBurst: "1" },
      body: {},
      problem: "Nothing is changed yet.",
    });
  });

  it("send what differs and nothing else", () => {
    const draft = read({ concurrencyLimit: "8", rateBurst: "1" });
    expect(draft.body).toEqual({ concurrencyLimit: 8 });
    expect(draft.changes).toEqual(["limit 5 → 8"]);
    expect(draft.problem).toBeNull();
  });

  it("send null for an emptied limit", () => {
    const draft = read({ concurrencyLimit: "" });
    expect(draft.body).toEqual({ concurrencyLimit: null });
    expect(draft.changes).toEqual(["limit 5 → inherited"]);
  });

  it("bound the preview by the adaptive limit and the new rate", () => {
    expect(read({ concurrencyLimit: "8" }).drain).toMatchObject({ concurrency: 4, ratePerSecond: null });
    expect(read({ concurrencyLimit: "2", ratePerSecond: "3" }).drain).toMatchObject({
      concurrency: 2,
      ratePerSecond: 3,
    });
  });

  it("take a first rate as a lowering and its removal as a raise", () => {
    expect(read({ ratePerSecond: "3" }).step.warnings).toEqual([]);
    const rated = { ...VIEW, rate: { perSecond: 3, burst: 1 } };
    const draft = readDestinationLimits(rated, { ...UNTOUCHED, ratePerSecond: "" }, false, NOW_MS);
    expect(draft.problem).toMatch(/no rate at all/);
  });

  it("refuse zero with the way out", () => {
    expect(read({ concurrencyLimit: "0" }).problem).toContain("use Pause");
    expect(read({ concurrencyLimit: "0" }).body).toEqual({});
  });
});
