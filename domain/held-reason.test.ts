import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATES } from "./delivery.ts";
import { BLOCKERS, earliestPossibleMs, type HoldFacts, whyHeld } from "./held-reason.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");

interface Change extends Partial<Omit<HoldFacts, "tenant" | "destination">> {
  tenant?: Partial<HoldFacts["tenant"]>;
  destination?: Partial<HoldFacts["destination"]>;
}

function facts({ tenant, destination, ...rest }: Change = {}): HoldFacts {
  return {
    nowMs: NOW_MS,
    state: "ready",
    lane: "first",
    dueMs: NOW_MS - 1000,
    leaseUntilMs: null,
    regionDraining: false,
    ownedBySluice: true,
    workersAlive: 2,
    replayRunning: null,
    ...rest,
    tenant: { paused: false, pausedUntilMs: null, concurrencyLimit: 10, inFlight: 3, ...tenant },
    destination: {
      disabled: false,
      paused: false,
      pausedUntilMs: null,
      concurrencyLimit: 2,
      inFlight: 1,
      gateUntilMs: null,
      probeOnly: false,
      breakerUntilMs: null,
      adaptiveLimit: null,
      rate: null,
      ramp: null,
      ...destination,
    },
  };
}

const RAMP = { lineMs: NOW_MS, room: 1, inFlight: 0, rate: null };
const SPENT = { limit: { ratePerSecond: 5, burst: 1 }, tatMs: NOW_MS + 150 };

describe("why a delivery has not been sent", () => {
  it("SIG-9 names nothing for a delivery that can go now, or that has ended", () => {
    expect(whyHeld(facts())).toEqual([]);
    expect(earliestPossibleMs([], NOW_MS)).toBe(NOW_MS);
    for (const state of ["delivered", "dead", "cancelled"] as const) {
      expect(whyHeld(facts({ state, regionDraining: true, dueMs: NOW_MS + 1 }))).toEqual([]);
    }
  });

  it("FAIR-8 names no limit that has room, no breaker whose probe may go, and no ramp for what became due after it", () => {
    const free: Change[] = [
      { destination: { adaptiveLimit: 2 } },
      { destination: { breakerUntilMs: NOW_MS - 1, inFlight: 0 } },
      { destination: { ramp: RAMP } },
      { destination: { ramp: { ...RAMP, inFlight: 9 } }, dueMs: NOW_MS },
    ];
    for (const change of free) expect(whyHeld(facts(change))).toEqual([]);
    // The cap that staff set is named before the limit that was found.
    const both = whyHeld(facts({ destination: { adaptiveLimit: 1, inFlight: 2 } }));
    expect(both.map(({ blocker }) => blocker)).toEqual(["destination_cap"]);
  });

  const cases: [Change, string, number | null][] = [
    [{ dueMs: NOW_MS + 5000, state: "delayed" }, "not_due", NOW_MS + 5000],
    [{ regionDraining: true }, "region_draining", null],
    [{ ownedBySluice: false }, "other_owner", null],
    [{ workersAlive: 0 }, "no_worker", null],
    [{ lane: "replay", replayRunning: false }, "replay_not_running", null],
    [{ tenant: { paused: true, pausedUntilMs: NOW_MS + 60_000 } }, "tenant_paused", NOW_MS + 60_000],
    [{ tenant: { paused: true, pausedUntilMs: NOW_MS - 1 } }, "tenant_paused", NOW_MS],
    [{ tenant: { concurrencyLimit: 3 } }, "tenant_cap", null],
    [{ destination: { disabled: true } }, "destination_disabled", null],
    [{ destination: { breakerUntilMs: NOW_MS + 5000 } }, "breaker", NOW_MS + 5000],
    [{ destination: { breakerUntilMs: NOW_MS - 1 } }, "breaker", null],
    [{ destination: { adaptiveLimit: 1 } }, "adaptive_limit", null],
    [{ destination: { ramp: { ...RAMP, inFlight: 1 } } }, "resume_ramp", null],
    [{ destination: { ramp: { ...RAMP, rate: SPENT } } }, "resume_ramp", NOW_MS + 150],
    [{ destination: { paused: true } }, "destination_paused", null],
    [{ destination: { gateUntilMs: NOW_MS + 60_000 } }, "gate", NOW_MS + 60_000],
    [{ destination: { gateUntilMs: NOW_MS - 1, probeOnly: true } }, "probe", null],
    [{ destination: { inFlight: 7 } }, "destination_cap", null],
    [{ destination: { rate: SPENT } }, "rate", NOW_MS + 150],
    [{ state: "leased", leaseUntilMs: NOW_MS + 20_000 }, "in_flight", NOW_MS + 20_000],
    [{ state: "leased", leaseUntilMs: NOW_MS - 1 }, "lease_expired", NOW_MS],
  ];
  it.each(cases)("SIG-9 %j -> %s", (change, blocker, untilMs) => {
    const found = whyHeld(facts(change));
    expect(found).toEqual([{ blocker, untilMs }]);
    expect(earliestPossibleMs(found, NOW_MS)).toBe(untilMs);
  });

  it("SIG-9 has a case above for each blocker", () => {
    expect(new Set(cases.map(([, blocker]) => blocker))).toEqual(new Set(BLOCKERS));
  });

  it("SIG-9 an idle probe, an unknown number of workers, no limits and a running replay block nothing", () => {
    expect(whyHeld(facts({ destination: { probeOnly: true, inFlight: 0 } }))).toEqual([]);
    expect(whyHeld(facts({ workersAlive: null }))).toEqual([]);
    expect(whyHeld(facts({ lane: "replay", replayRunning: true }))).toEqual([]);
    const unlimited = { concurrencyLimit: null, inFlight: 9999 };
    expect(whyHeld(facts({ tenant: unlimited, destination: unlimited }))).toEqual([]);
    expect(whyHeld(facts({ destination: { rate: { ...SPENT, tatMs: 0 } } }))).toEqual([]);
  });

  it("SIG-9 names all blockers of a row that has several, and the latest end decides", () => {
    const found = whyHeld(
      facts({
        dueMs: NOW_MS + 9000,
        tenant: { paused: true, pausedUntilMs: NOW_MS + 5000 },
        destination: { gateUntilMs: NOW_MS + 70_000, rate: SPENT },
      }),
    );
    expect(found.map((item) => item.blocker)).toEqual(["tenant_paused", "gate", "rate", "not_due"]);
    expect(earliestPossibleMs(found, NOW_MS)).toBe(NOW_MS + 70_000);
    expect(
      earliestPossibleMs([...found, { blocker: "destination_disabled", untilMs: null }], NOW_MS),
    ).toBeNull();
  });

  it("SIG-9 blockers come in the order of the list, once each, and none ends in the past", () => {
    const near = fc.option(fc.integer({ min: NOW_MS - 1000, max: NOW_MS + 1000 }));
    const change = fc.record({
      state: fc.constantFrom(...STATES),
      dueMs: fc.integer({ min: NOW_MS - 1000, max: NOW_MS + 1000 }),
      leaseUntilMs: near,
      regionDraining: fc.boolean(),
      ownedBySluice: fc.boolean(),
      tenant: fc.record({ paused: fc.boolean(), pausedUntilMs: near, inFlight: fc.nat(20) }),
      destination: fc.record({
        disabled: fc.boolean(),
        paused: fc.boolean(),
        pausedUntilMs: near,
        gateUntilMs: near,
        inFlight: fc.nat(3),
        probeOnly: fc.boolean(),
      }),
    });
    fc.assert(
      fc.property(change, (random) => {
        const found = whyHeld(facts(random));
        const places = found.map((item) => BLOCKERS.indexOf(item.blocker));
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
        for (const { untilMs } of found) {
          expect(untilMs === null || untilMs >= NOW_MS).toBe(true);
        }
      }),
    );
  });
});
