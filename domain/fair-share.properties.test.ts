import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane, ServiceClass } from "./delivery.ts";
import {
  type ClaimPlan,
  type DestinationFacts,
  type DrrState,
  emptyDrrState,
  type LaneHead,
  type TenantFacts,
} from "./fair-share.ts";
import { busy, head, NOW_MS, plan, rowsOf } from "./testdata/plan-world.ts";

const tenantIds = ["A", "B", "C", "D"] as const;
const worldOf = fc.record({
  heads: fc.array(
    fc.record({
      tenantId: fc.constantFrom(...tenantIds),
      name: fc.constantFrom("p", "q", "r"),
      lane: fc.constantFrom<Lane>("first", "retry", "replay"),
      serviceClass: fc.constantFrom<ServiceClass>("urgent", "routine"),
      dueMs: fc.constantFrom(NOW_MS - 5, NOW_MS, NOW_MS + 5),
      waitingHint: fc.option(fc.nat(30), { nil: undefined }),
    }),
    { maxLength: 40 },
  ),
  caps: fc.array(fc.option(fc.nat(20)), { minLength: 16, maxLength: 16 }),
  flights: fc.array(fc.nat(6), { minLength: 16, maxLength: 16 }),
  tokens: fc.array(fc.option(fc.double({ min: 0, max: 9, noNaN: true })), { minLength: 12, maxLength: 12 }),
  gates: fc.array(fc.constantFrom(null, null, NOW_MS - 1, NOW_MS + 9), { minLength: 12, maxLength: 12 }),
  probes: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  weights: fc.array(fc.constantFrom(0, 0.3, 1, 2, 7), { minLength: 4, maxLength: 4 }),
  total: fc.nat(60),
  lightReserve: fc.nat(5),
  usedFirst: fc.nat(20),
  usedRetry: fc.nat(20),
  bytes: fc.constantFrom(0, 3000, 20_000, 1e9),
  maxEntries: fc.constantFrom(1, 4, 256),
  quantum: fc.integer({ min: 1, max: 9 }),
});

type RandomWorld = typeof worldOf extends fc.Arbitrary<infer T> ? T : never;

function build(random: RandomWorld) {
  const place = (tenantId: string, name: string) =>
    tenantIds.indexOf(tenantId as "A") * 3 + ["p", "q", "r"].indexOf(name);
  const tenants: Record<string, TenantFacts> = {};
  const destinations: Record<string, DestinationFacts> = {};
  for (const [index, id] of tenantIds.entries()) {
    const concurrencyLimit = random.caps[12 + index] ?? null;
    tenants[id] = {
      weight: random.weights[index] ?? 1,
      concurrencyLimit,
      inFlight: random.flights[12 + index] ?? 0,
    };
    for (const name of ["p", "q", "r"]) {
      const at = place(id, name);
      destinations[`${id}.${name}`] = {
        concurrencyLimit: random.caps[at] ?? null,
        inFlight: random.flights[at] ?? 0,
        rateTokens: random.tokens[at] ?? null,
        gateUntilMs: random.gates[at] ?? null,
        probeOnly: random.probes[at] ?? false,
        avgBodyBytes: 1000,
      };
    }
  }
  const heads = random.heads.map(({ name, ...rest }) => ({
    ...rest,
    destinationId: `${rest.tenantId}.${name}`,
  }));
  const used = busy(
    { first: random.usedFirst, retry: random.usedRetry },
    { routine: random.usedFirst + random.usedRetry },
  );
  return { heads, tenants, destinations, used };
}

function sums(result: ClaimPlan, key: "tenantId" | "destinationId" | "lane"): Map<string, number> {
  const found = new Map<string, number>();
  for (const entry of result.entries) {
    found.set(entry[key], (found.get(entry[key]) ?? 0) + entry.k);
  }
  return found;
}

/** What a destination could take, written as the design says it and not as the planner computes it. */
function roomOf(facts: DestinationFacts): number {
  if (facts.gateUntilMs !== null && facts.gateUntilMs > NOW_MS) {
    return 0;
  }
  const cap = (facts.concurrencyLimit ?? 1e9) - facts.inFlight;
  const probe = facts.probeOnly ? 1 - facts.inFlight : 1e9;
  return Math.max(0, Math.floor(Math.min(cap, facts.rateTokens ?? 1e9, probe)));
}

describe("any plan", () => {
  it("FAIR-1 FAIR-2 FAIR-3 never passes a cap, a token count, a lane's part, a hint, the slots, bytes or entries", () => {
    fc.assert(
      fc.property(worldOf, (random) => {
        const { heads, tenants, destinations, used } = build(random);
        const { total, lightReserve, bytes, maxEntries, quantum } = random;
        const limits = { total, lightReserve, bytes, maxEntries, quantum };
        const result = plan({ heads, tenants, destinations, ...limits, busy: used });
        const free = Math.max(0, total + lightReserve - random.usedFirst - random.usedRetry);
        expect(result.rows).toBe(result.entries.reduce((sum, entry) => sum + entry.k, 0));
        expect(result.rows).toBeLessThanOrEqual(free);
        expect(result.entries.length).toBeLessThanOrEqual(maxEntries);
        expect(result.bytes).toBeLessThanOrEqual(Math.max(bytes, bytes > 0 ? 1000 : 0));
        for (const [id, rows] of sums(result, "tenantId")) {
          const { concurrencyLimit = null, inFlight = 0 } = tenants[id] ?? {};
          expect(rows).toBeLessThanOrEqual(Math.max(0, (concurrencyLimit ?? 1e9) - inFlight));
        }
        for (const [id, rows] of sums(result, "destinationId")) {
          expect(rows).toBeLessThanOrEqual(roomOf(destinations[id] as DestinationFacts));
        }
        const byLane = sums(result, "lane");
        expect(byLane.get("retry") ?? 0).toBeLessThanOrEqual(
          Math.max(0, Math.max(1, Math.floor(total * 0.4)) - random.usedRetry),
        );
        expect(byLane.get("replay") ?? 0).toBeLessThanOrEqual(Math.max(1, Math.floor(total * 0.1)));
        for (const entry of result.entries) {
          const own = heads.find(
            (item) =>
              item.destinationId === entry.destinationId &&
              item.lane === entry.lane &&
              item.serviceClass === entry.serviceClass,
          );
          expect(own?.dueMs).toBeLessThanOrEqual(NOW_MS);
          expect(entry.k).toBeLessThanOrEqual(own?.waitingHint ?? 1e9);
          expect(entry.k).toBeGreaterThan(0);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("FAIR-2 wastes nothing: first attempts of one class are planned up to the smaller of what is possible and free", () => {
    fc.assert(
      fc.property(worldOf, (random) => {
        const { tenants, destinations, heads } = build(random);
        const firsts = new Map(
          heads.map((item) => [
            item.destinationId,
            { ...item, lane: "first", serviceClass: "routine" } as LaneHead,
          ]),
        );
        let possible = 0;
        for (const id of tenantIds) {
          const own = [...firsts.values()].filter((item) => item.tenantId === id && item.dueMs <= NOW_MS);
          const lanes = own.map((item) =>
            Math.min(item.waitingHint ?? 1e9, roomOf(destinations[item.destinationId] as DestinationFacts)),
          );
          const cap = (tenants[id]?.concurrencyLimit ?? 1e9) - (tenants[id]?.inFlight ?? 0);
          possible += Math.max(
            0,
            Math.min(
              cap,
              lanes.reduce((sum, rows) => sum + rows, 0),
            ),
          );
        }
        const result = plan({
          heads: [...firsts.values()],
          tenants,
          destinations,
          total: random.total,
          quantum: random.quantum,
        });
        expect(result.rows).toBe(Math.min(possible, random.total));
      }),
      { numRuns: 400 },
    );
  });

  it("FAIR-2 is maximal: whatever is left out is left out by an exhausted limit", () => {
    fc.assert(
      fc.property(worldOf, (random) => {
        const { heads, tenants, destinations } = build(random);
        const { total, quantum } = random;
        const result = plan({ heads, tenants, destinations, total, quantum });
        const byTenant = sums(result, "tenantId");
        const byDestination = sums(result, "destinationId");
        const byLane = sums(result, "lane");
        const share = { first: 1, retry: 0.4, replay: 0.1 };
        const seen = new Set<string>();
        for (const item of heads) {
          const name = `${item.destinationId}/${item.lane}/${item.serviceClass}`;
          if (item.dueMs > NOW_MS || seen.has(name)) {
            seen.add(name);
            continue;
          }
          seen.add(name);
          const facts = tenants[item.tenantId];
          const tenantLeft =
            (facts?.concurrencyLimit ?? 1e9) - (facts?.inFlight ?? 0) - (byTenant.get(item.tenantId) ?? 0);
          const roomLeft =
            roomOf(destinations[item.destinationId] as DestinationFacts) -
            (byDestination.get(item.destinationId) ?? 0);
          const laneLeft = Math.max(1, Math.floor(total * share[item.lane])) - (byLane.get(item.lane) ?? 0);
          const planned = rowsOf(result, {
            destinationId: item.destinationId,
            lane: item.lane,
            serviceClass: item.serviceClass,
          });
          const hintLeft = (item.waitingHint ?? 1e9) - planned;
          expect(Math.min(tenantLeft, roomLeft, laneLeft, hintLeft, total - result.rows)).toBeLessThanOrEqual(
            0,
          );
        }
      }),
      { numRuns: 400 },
    );
  });

  it("keeps its state as plain data, loses no lane of it, and changes no input", () => {
    fc.assert(
      fc.property(worldOf, worldOf, (one, two) => {
        const first = build(one);
        const drr = JSON.parse(JSON.stringify(plan({ ...first, total: one.total }).state)) as DrrState;
        const before = JSON.stringify([drr, two]);
        const second = build(two);
        const world = { ...second, total: two.total, quantum: two.quantum, maxEntries: two.maxEntries, drr };
        const result = plan(world);
        expect(JSON.stringify([drr, two])).toBe(before);
        expect(plan(world)).toEqual(result);
        const kept = result.state.rings.flatMap((ring, index) =>
          ring.flatMap((turn) => turn.destinations.map((id) => `${index}/${turn.tenantId}/${id}`)),
        );
        const classes: ServiceClass[] = ["urgent", "routine"];
        const given = second.heads.map((item) => {
          const offset = classes.indexOf(item.serviceClass);
          const ring = item.lane === "replay" ? 4 + offset : offset * 2 + (item.lane === "retry" ? 1 : 0);
          return `${ring}/${item.tenantId}/${item.destinationId}`;
        });
        expect(kept.sort()).toEqual([...new Set(given)].sort());
      }),
    );
  });

  it("FAIR-5 nobody starves: over plans with few slots each waiting lane is served again and again", () => {
    const heads: LaneHead[] = [];
    for (const tenantId of tenantIds) {
      for (const name of ["p", "q", "r"]) {
        for (const serviceClass of ["urgent", "routine"] as const) {
          heads.push(
            head(tenantId, name, { serviceClass }),
            head(tenantId, name, { serviceClass, lane: "retry" }),
          );
        }
      }
    }
    const served = new Map<string, number>();
    let drr = emptyDrrState();
    // Every request ends after one plan, so each plan sees 40 slots, of which another process's work took none.
    for (let turn = 0; turn < 60; turn += 1) {
      const result = plan({ heads, drr, total: 40 });
      drr = result.state;
      for (const entry of result.entries) {
        const name = `${entry.destinationId}/${entry.lane}/${entry.serviceClass}`;
        served.set(name, (served.get(name) ?? 0) + entry.k);
      }
    }
    const urgent = [...served].filter(([name]) => name.endsWith("first/urgent")).map(([, rows]) => rows);
    const routine = [...served].filter(([name]) => name.endsWith("first/routine")).map(([, rows]) => rows);
    expect(urgent).toHaveLength(12);
    expect(routine).toHaveLength(12);
    expect(Math.max(...urgent) - Math.min(...urgent)).toBeLessThanOrEqual(8);
    expect(Math.max(...routine) - Math.min(...routine)).toBeLessThanOrEqual(8);
    // Endless first attempts may use every slot (FAIR-3); as soon as they leave room, each retry lane is served too.
    const calm = heads.map((lane) => ({ ...lane, waitingHint: 1 }));
    const retried = new Set<string>();
    for (let turn = 0; turn < 60; turn += 1) {
      const result = plan({ heads: calm, drr, total: 40 });
      drr = result.state;
      for (const entry of result.entries) {
        if (entry.lane === "retry") retried.add(`${entry.destinationId}/${entry.serviceClass}`);
      }
    }
    expect(retried.size).toBe(24);
  });

  it("FAIR-5 plans ten thousand lanes in linear time: sixty plans end long before the limit of this test", () => {
    const heads = Array.from({ length: 10_000 }, (_, i) =>
      head(`T${i % 1000}`, `d${i}`, { lane: i % 3 === 0 ? "retry" : "first" }),
    );
    let drr = emptyDrrState();
    for (let turn = 0; turn < 60; turn += 1) {
      const result = plan({ heads, drr, total: 500 });
      expect(result.rows).toBe(500);
      drr = result.state;
    }
    // A few milliseconds each on an idle machine. Anything quadratic needs minutes.
  }, 60_000);
});
