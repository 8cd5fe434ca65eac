/** Undo opens the inverse dialog with the former values, and is not offered where nothing can be undone. */
import { describe, expect, it } from "vitest";
import type { Facts } from "./conflict-words.ts";
import type { ControlRequest, Verb } from "./control-request.ts";
import { inverseOf } from "./inverse.ts";

const NOW_MS = Date.parse("2026-11-30T14:00:00.000Z");
const LATER = "2026-11-30T15:00:00.000Z";
const EARLIER = "2026-11-30T13:00:00.000Z";
const target = { kind: "destination", region: "eu", id: "dst_1", name: "Ledger" } as const;

function undo(verb: Verb, before: Facts): Omit<ControlRequest, "target"> | null {
  const inverse = inverseOf({ target, verb }, before, NOW_MS);
  if (inverse === null) return null;
  expect(inverse.target).toBe(target);
  const { target: _, ...rest } = inverse;
  return rest;
}

describe("Undo", () => {
  it.each<[Verb, Facts, Omit<ControlRequest, "target"> | null]>([
    ["pause", { paused: false }, { verb: "resume" }],
    ["pause", { paused: true, pauseUntil: LATER }, { verb: "pause", fill: { until: LATER } }],
    ["pause", { paused: true, pauseUntil: EARLIER }, { verb: "resume" }],
    ["resume", { paused: true, pauseUntil: LATER }, { verb: "pause", fill: { until: LATER } }],
    ["resume", { paused: true, pauseUntil: EARLIER }, null],
    [
      "limits",
      { concurrencyLimit: null, ratePerSecond: 4, rateBurst: 2 },
      { verb: "limits", fill: { concurrencyLimit: null, ratePerSecond: 4, rateBurst: 2 } },
    ],
    ["limits", { concurrencyLimit: 5 }, { verb: "limits", fill: { concurrencyLimit: 5 } }],
    ["weight", { weight: 2 }, { verb: "weight", fill: { weight: 2 } }],
    ["replay-header", { replayHeader: false }, { verb: "replay-header", fill: { replayHeader: false } }],
    ["pin", { adaptiveLimit: 4, pinned: false }, { verb: "unpin" }],
    ["pin", { adaptiveLimit: 4, pinned: true }, { verb: "pin", fill: { adaptiveLimit: 4 } }],
    ["unpin", { adaptiveLimit: 4, pinned: true }, { verb: "pin", fill: { adaptiveLimit: 4 } }],
    ["disable", { disabled: false }, { verb: "enable" }],
    ["enable", { disabled: true }, { verb: "disable" }],
    ["stop-claims", { claims: "on" }, { verb: "start-claims" }],
    ["start-claims", { claims: "stopped" }, { verb: "stop-claims" }],
    [
      "defaults",
      { tenantConcurrency: 100, maxRatePerSecond: 50 },
      { verb: "defaults", fill: { defaults: { tenantConcurrency: 100, maxRatePerSecond: 50 } } },
    ],
    ["rotate-secret", {}, null],
    ["end-previous-secret", {}, null],
    ["test-event", {}, null],
    ["open-gate", { gateUntil: LATER }, null],
    ["retry-now", { dueAt: LATER }, null],
    ["cancel", { state: "delayed" }, null],
    ["will-not-replay", {}, null],
    ["erase", { erased: false }, null],
    ["restrict", { restricted: false }, { verb: "lift-restriction" }],
    ["lift-restriction", { restricted: true }, { verb: "restrict" }],
  ])("of %s from %j", (verb, before, expected) => {
    expect(undo(verb, before)).toEqual(expected);
  });
});
