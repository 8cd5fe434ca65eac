/** Who gets how much over many plans, and who comes first inside a tenant: the rules as properties of random worlds. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane } from "./delivery.ts";
import { emptyDrrState, type LaneHead } from "./fair-share.ts";
import { busy, head, plan, rowsOf } from "./testdata/plan-world.ts";

const NAMES = ["A", "B", "C", "D", "E"] as const;

describe("shares over time", () => {
  const worlds = fc.record({
    weights: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 5 }),
    destinations: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 5 }),
    quantum: fc.integer({ min: 1, max: 8 }),
    freed: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
    lane: fc.constantFrom<Lane>("first", "retry"),
  });

  it("FAIR-2 tenants that always have work are served by weight within 5 %, whatever their destinations and however slots come free", () => {
    fc.assert(
      fc.property(worlds, ({ weights, destinations, quantum, freed, lane }) => {
        const names = NAMES.slice(0, weights.length);
        const heads = names.flatMap((name, index) =>
          Array.from({ length: destinations[index] ?? 1 }, (_, n) => head(name, `d${n}`, { lane })),
        );
        const tenants = Object.fromEntries(
          names.map((name, index) => [name, { weight: weights[index] ?? 1 }]),
        );
        const served = new Map<string, number>(names.map((name) => [name, 0]));
        let drr = emptyDrrState();
        let sum = 0;
        // As many rows as let every tenant have a hundred turns.
        const wanted = weights.reduce((all, weight) => all + weight, 0) * quantum * 100;
        for (let turn = 0; sum < wanted; turn += 1) {
          const slots = freed[turn % freed.length] ?? 1;
          // Enough slots in all that neither the lane's part nor a share stops anybody.
          const result = plan({
            heads,
            tenants,
            drr,
            quantum,
            total: 1_000,
            busy: busy({ first: 1_000 - slots }),
          });
          drr = result.state;
          for (const name of names)
            served.set(name, (served.get(name) ?? 0) + rowsOf(result, { tenantId: name }));
          sum += result.rows;
        }
        const all = weights.reduce((total, weight) => total + weight, 0);
        for (const [index, name] of names.entries()) {
          const due = (sum * (weights[index] ?? 1)) / all;
          expect(Math.abs((served.get(name) ?? 0) - due) / due).toBeLessThanOrEqual(0.05);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("FAIR-2 a light tenant's row is in the next plan when the others hold their shares, however deep they are", () => {
    const crowd = fc.array(
      fc.record({ held: fc.integer({ min: 20, max: 90 }), weight: fc.integer({ min: 1, max: 3 }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(
        crowd,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom<Lane>("first", "retry"),
        (others, free, lane) => {
          const heads = others.map((_, index) => head(`H${index}`, "x", { waitingHint: 50_000 }));
          const total = others.reduce((sum, { held }) => sum + held, 0) + free;
          const result = plan({
            heads: [...heads, head("light", "x", { waitingHint: 1, lane })],
            tenants: Object.fromEntries(
              others.map(({ held, weight }, index) => [`H${index}`, { inFlight: held, weight }]),
            ),
            total,
            busy: busy({ first: total - free }, { routine: total - free }),
          });
          const share = total / (1 + others.reduce((sum, { weight }) => sum + weight, 0));
          const othersHaveTheirs = others.every(({ held, weight }) => held >= share * weight);
          if (share >= 1 && othersHaveTheirs) expect(rowsOf(result, { tenantId: "light" })).toBe(1);
          // And nothing stays idle for it.
          expect(result.rows).toBe(free);
        },
      ),
    );
  });
});

describe("inside a tenant", () => {
  it("FAIR-4 urgent rows of a destination come before its routine ones, of a tenant before all its routine ones", () => {
    const lanes = fc.array(
      fc.record({ cap: fc.nat(12), urgent: fc.nat(8), urgentRetry: fc.nat(8), routine: fc.nat(20) }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(lanes, fc.integer({ min: 1, max: 40 }), (destinations, tenantCap) => {
        const heads: LaneHead[] = destinations.flatMap(({ urgent, urgentRetry, routine }, n) => [
          head("A", `d${n}`, { waitingHint: routine }),
          head("A", `d${n}`, { serviceClass: "urgent", waitingHint: urgent }),
          head("A", `d${n}`, { serviceClass: "urgent", lane: "retry", waitingHint: urgentRetry }),
        ]);
        const result = plan({
          heads,
          tenants: { A: { concurrencyLimit: tenantCap } },
          destinations: Object.fromEntries(
            destinations.map(({ cap }, n) => [`A.d${n}`, { concurrencyLimit: cap }]),
          ),
          total: 10_000,
        });
        let urgentDue = 0;
        for (const [n, { cap, urgent, urgentRetry, routine }] of destinations.entries()) {
          const own = { destinationId: `A.d${n}` };
          const urgentRows = rowsOf(result, { ...own, serviceClass: "urgent" });
          urgentDue += Math.min(cap, urgent + urgentRetry);
          if (rowsOf(result, { ...own, serviceClass: "routine" }) > 0)
            expect(urgentRows).toBe(Math.min(cap, urgent + urgentRetry));
          expect(urgentRows + rowsOf(result, { ...own, serviceClass: "routine" })).toBeLessThanOrEqual(
            Math.min(cap, urgent + urgentRetry + routine),
          );
        }
        expect(rowsOf(result, { serviceClass: "urgent" })).toBe(Math.min(urgentDue, tenantCap));
      }),
      { numRuns: 300 },
    );
  });
});

describe("the parts of the lanes", () => {
  it("FAIR-3 FAIR-11 are hard over any series of plans and ends: retries never hold more than 40 %, replays 10 %", () => {
    const series = fc.array(
      fc.record({
        first: fc.nat(30),
        retry: fc.nat(30),
        replay: fc.nat(30),
        end: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      {
        minLength: 5,
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(series, fc.integer({ min: 1, max: 120 }), (steps, total) => {
        let drr = emptyDrrState();
        const held: Record<Lane, number> = { first: 0, retry: 0, replay: 0 };
        for (const step of steps) {
          const heads = (["first", "retry", "replay"] as const).map((lane) =>
            head(lane, "x", { lane, waitingHint: step[lane] }),
          );
          const result = plan({
            heads,
            drr,
            total,
            busy: busy({ ...held }, { routine: held.first + held.retry + held.replay }),
          });
          drr = result.state;
          const wantsFirst = Math.min(step.first, total - held.first - held.retry - held.replay);
          for (const { lane, k } of result.entries) held[lane] += k;
          expect(held.first + held.retry + held.replay).toBeLessThanOrEqual(total);
          expect(held.retry).toBeLessThanOrEqual(Math.max(1, Math.floor(total * 0.4)));
          expect(held.replay).toBeLessThanOrEqual(Math.max(1, Math.floor(total * 0.1)));
          // Live first attempts go before replays: one of these goes only when none of those is left out.
          if (rowsOf(result, { lane: "replay" }) > 0)
            expect(rowsOf(result, { lane: "first" })).toBe(wantsFirst);
          for (const lane of ["first", "retry", "replay"] as const)
            held[lane] -= Math.floor(held[lane] * step.end);
        }
      }),
      { numRuns: 200 },
    );
  });
});
