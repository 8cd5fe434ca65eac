import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane, ServiceClass } from "./delivery.ts";
import {
  type ClaimPlan,
  type DestinationFacts,
  type DrrState,
  emptyDrrState,
  type LaneHead,
  type PlanInput,
  planClaims,
  type TenantFacts,
} from "./fair-share.ts";

const NOW_MS = 1_000_000;
const IDLE = {
  inFlightByLane: { first: 0, retry: 0, replay: 0 },
  inFlightByClass: { urgent: 0, routine: 0 },
};

interface World {
  heads: LaneHead[];
  tenants?: Record<string, Partial<TenantFacts>>;
  destinations?: Record<string, Partial<DestinationFacts>>;
  total?: number;
  busy?: Partial<PlanInput["slots"]>;
  bytes?: number;
  maxEntries?: number;
  quantum?: number;
  drr?: DrrState;
}

function plan(world: World): ClaimPlan {
  const tenants: Record<string, Partial<TenantFacts>> = world.tenants ?? {};
  const destinations: Record<string, Partial<DestinationFacts>> = world.destinations ?? {};
  return planClaims({
    nowMs: NOW_MS,
    heads: world.heads,
    tenant: (id) => ({ weight: 1, concurrencyLimit: null, inFlight: 0, ...tenants[id] }),
    destination: (id) => ({
      concurrencyLimit: null,
      inFlight: 0,
      rateTokens: null,
      gateUntilMs: null,
      probeOnly: false,
      avgBodyBytes: 1000,
      ...destinations[id],
    }),
    slots: { total: world.total ?? 100, ...IDLE, ...world.busy },
    byteBudgetBytes: world.bytes ?? 32 * 1024 * 1024,
    maxEntries: world.maxEntries,
    quantum: world.quantum,
    drr: world.drr ?? emptyDrrState(),
  });
}

/** `head("A", "x")`: tenant A, destination A.x, routine, first attempt, due, depth unknown. */
function head(tenantId: string, name: string, more: Partial<LaneHead> = {}): LaneHead {
  const destinationId = `${tenantId}.${name}`;
  return { lane: "first", serviceClass: "routine", tenantId, destinationId, dueMs: NOW_MS - 1, ...more };
}

function rowsOf(result: ClaimPlan, match: Partial<ClaimPlan["entries"][number]>): number {
  const wanted = Object.entries(match);
  return result.entries
    .filter((entry) => wanted.every(([key, value]) => entry[key as keyof typeof entry] === value))
    .reduce((sum, entry) => sum + entry.k, 0);
}

function busy(byLane: Partial<Record<Lane, number>>, byClass: Partial<Record<ServiceClass, number>> = {}) {
  return {
    inFlightByLane: { ...IDLE.inFlightByLane, ...byLane },
    inFlightByClass: { ...IDLE.inFlightByClass, ...byClass },
  };
}

describe("between tenants", () => {
  it("FAIR-5 fifty thousand due rows of one tenant do not hide the single row of another", () => {
    const heads = [head("A", "x", { waitingHint: 50_000 }), head("B", "y", { waitingHint: 1 })];
    const result = plan({ heads });
    expect(rowsOf(result, { tenantId: "B" })).toBe(1);
    expect(rowsOf(result, { tenantId: "A" })).toBe(99);
  });

  it("FAIR-5 nor does a deep destination hide a sibling of the same tenant", () => {
    const heads = [head("A", "x", { waitingHint: 50_000 }), head("A", "y", { waitingHint: 1 })];
    expect(rowsOf(plan({ heads, total: 4 }), { destinationId: "A.y" })).toBe(1);
  });

  it("FAIR-2 a tenant alone fills every slot, up to its cap", () => {
    expect(plan({ heads: [head("A", "x")] }).rows).toBe(100);
    const capped = { tenants: { A: { concurrencyLimit: 30, inFlight: 20 } } };
    const destinations = { "A.x": { concurrencyLimit: 8, inFlight: 1 } };
    expect(plan({ heads: [head("A", "x"), head("A", "y")], ...capped }).rows).toBe(10);
    expect(
      rowsOf(plan({ heads: [head("A", "x"), head("A", "y")], ...capped, destinations }), {
        destinationId: "A.x",
      }),
    ).toBe(5);
    expect(plan({ heads: [head("A", "x")], ...capped, destinations }).rows).toBe(7);
  });

  it("FAIR-2 the number of destinations does not make a tenant's share larger", () => {
    const heads = [...Array.from({ length: 60 }, (_, i) => head("A", `d${i}`)), head("B", "x")];
    const result = plan({ heads });
    expect(rowsOf(result, { tenantId: "A" })).toBe(50);
    expect(rowsOf(result, { tenantId: "B" })).toBe(50);
  });

  it("FAIR-2 slots are shared by weight", () => {
    const result = plan({
      heads: [head("A", "x"), head("B", "x"), head("C", "x")],
      tenants: { A: { weight: 2 } },
    });
    expect(["A", "B", "C"].map((tenantId) => rowsOf(result, { tenantId }))).toEqual([50, 25, 25]);
  });

  it("FAIR-2 the last free slots go to tenants that hold less than their share", () => {
    const result = plan({
      heads: [head("A", "x"), head("B", "x")],
      tenants: { A: { inFlight: 95 } },
      busy: busy({ first: 95 }, { routine: 95 }),
    });
    expect(rowsOf(result, { tenantId: "B" })).toBe(5);
    expect(result.rows).toBe(5);
    expect(result.stoppedBy).toBe("slots");
  });

  it("FAIR-2 with one slot at a time every tenant has its turn: the round goes on where it stopped", () => {
    const heads = ["A", "B", "C", "D", "E"].map((tenantId) => head(tenantId, "x"));
    let drr = emptyDrrState();
    const served: Record<string, number> = {};
    for (let turn = 0; turn < 50; turn += 1) {
      const result = plan({ heads, drr, quantum: 2, total: 1 });
      drr = result.state;
      const entry = result.entries[0];
      expect(result.rows).toBe(1);
      served[entry?.tenantId ?? ""] = (served[entry?.tenantId ?? ""] ?? 0) + 1;
    }
    expect(served).toEqual({ A: 10, B: 10, C: 10, D: 10, E: 10 });
  });

  it("FAIR-2 also with one slot at a time the weights hold, fractions included", () => {
    const heads = ["A", "B", "C"].map((tenantId) => head(tenantId, "x"));
    const tenants = { A: { weight: 3 }, B: { weight: 1 }, C: { weight: 0.5 } };
    let drr = emptyDrrState();
    const served: Record<string, number> = { A: 0, B: 0, C: 0 };
    for (let turn = 0; turn < 900; turn += 1) {
      const result = plan({ heads, tenants, drr, quantum: 1, total: 1 });
      drr = result.state;
      const tenantId = result.entries[0]?.tenantId ?? "";
      served[tenantId] = (served[tenantId] ?? 0) + 1;
    }
    expect(served).toEqual({ A: 600, B: 200, C: 100 });
  });

  it("FAIR-5 a tenant at its cap serves all its destinations in turn, also when plans between find it full", () => {
    const heads = Array.from({ length: 7 }, (_, i) => head("A", `d${i}`));
    let drr = emptyDrrState();
    const served = new Map<string, number>();
    for (let turn = 0; turn < 70; turn += 1) {
      const full = turn % 2 === 1;
      const result = plan({ heads, drr, tenants: { A: { concurrencyLimit: 1, inFlight: full ? 1 : 0 } } });
      drr = result.state;
      expect(result.rows).toBe(full ? 0 : 1);
      for (const entry of result.entries) {
        served.set(entry.destinationId, (served.get(entry.destinationId) ?? 0) + 1);
      }
    }
    expect([...served.values()]).toEqual([5, 5, 5, 5, 5, 5, 5]);
  });

  it("FAIR-5 when the entries of one claim run out, the next claim begins with the lane that was left out", () => {
    const heads = Array.from({ length: 10 }, (_, i) => head(`T${i % 5}`, `d${i}`));
    let drr = emptyDrrState();
    const seen = new Set<string>();
    for (let turn = 0; turn < 5; turn += 1) {
      const result = plan({ heads, drr, maxEntries: 3 });
      drr = result.state;
      expect(result.entries).toHaveLength(3);
      expect(result.rows).toBe(100);
      for (const entry of result.entries) {
        seen.add(entry.destinationId);
      }
    }
    expect(seen.size).toBe(10);
  });
});

describe("lanes and classes", () => {
  it("FAIR-3 retries stop at 40 % and replays at 10 % of all slots, also when the rest is idle", () => {
    expect(plan({ heads: [head("A", "x", { lane: "retry" })] }).rows).toBe(40);
    expect(plan({ heads: [head("A", "x", { lane: "replay" })] }).rows).toBe(10);
    expect(
      plan({ heads: [head("A", "x", { lane: "retry" })], busy: busy({ retry: 35 }, { routine: 35 }) }).rows,
    ).toBe(5);
    expect(plan({ heads: [head("A", "x", { lane: "replay" })], busy: busy({ replay: 10 }) }).rows).toBe(0);
    expect(plan({ heads: [head("A", "x", { lane: "replay" })], total: 3 }).rows).toBe(1);
  });

  it("FAIR-3 ten thousand due retries do not keep a first attempt of another tenant waiting", () => {
    const retries = Array.from({ length: 10_000 }, (_, i) => head(`R${i}`, "x", { lane: "retry" }));
    let drr = emptyDrrState();
    for (const total of [200, 20, 2]) {
      const result = plan({ heads: [...retries, head("Y", "x", { waitingHint: 1 })], drr, total });
      drr = result.state;
      expect(rowsOf(result, { tenantId: "Y" })).toBe(1);
      expect(rowsOf(result, { lane: "retry" })).toBeLessThanOrEqual(Math.max(1, total * 0.4));
    }
  });

  it("FAIR-3 first attempts may use every slot, but a backlog of them leaves a tenth to retries that are due", () => {
    expect(plan({ heads: [head("A", "x")] }).rows).toBe(100);
    const both = plan({ heads: [head("A", "x"), head("A", "y", { lane: "retry" })] });
    expect(rowsOf(both, { lane: "first" })).toBe(90);
    expect(rowsOf(both, { lane: "retry" })).toBe(10);
  });

  it("FAIR-3 replays come last: live work that fills the slots leaves them none", () => {
    const result = plan({
      heads: [head("A", "x", { lane: "replay", serviceClass: "urgent" }), head("B", "x")],
    });
    expect(rowsOf(result, { lane: "first" })).toBe(100);
    const half = plan({ heads: [head("A", "x", { lane: "replay" }), head("B", "x", { waitingHint: 95 })] });
    expect(rowsOf(half, { lane: "replay" })).toBe(5);
  });

  it("FAIR-4 urgent goes before routine, and routine keeps 20 % while any of it waits", () => {
    const urgent = head("A", "x", { serviceClass: "urgent" });
    const result = plan({ heads: [head("B", "x"), urgent] });
    expect(rowsOf(result, { serviceClass: "urgent" })).toBe(80);
    expect(rowsOf(result, { serviceClass: "routine" })).toBe(20);
    expect(result.entries[0]?.serviceClass).toBe("urgent");
    expect(plan({ heads: [urgent] }).rows).toBe(100);
    const little = plan({ heads: [head("B", "x", { waitingHint: 3 }), urgent] });
    expect(rowsOf(little, { serviceClass: "urgent" })).toBe(97);
    expect(
      rowsOf(plan({ heads: [urgent, head("B", "x")], busy: busy({ first: 50 }, { routine: 50 }) }), {
        serviceClass: "urgent",
      }),
    ).toBe(50);
  });

  it("FAIR-4 also within one tenant and one destination bulk does not delay urgent", () => {
    const heads = [head("A", "x"), head("A", "x", { serviceClass: "urgent", waitingHint: 2 })];
    const result = plan({ heads, destinations: { "A.x": { concurrencyLimit: 3 } } });
    expect(result.entries.map((entry) => [entry.serviceClass, entry.k])).toEqual([
      ["urgent", 2],
      ["routine", 1],
    ]);
  });
});

describe("limits", () => {
  it("FAIR-6 a shut gate gives nothing and its opening is the next change; the probe after it is one request", () => {
    const heads = [head("A", "x"), head("A", "y", { dueMs: NOW_MS + 900 })];
    const shut = plan({ heads, destinations: { "A.x": { gateUntilMs: NOW_MS + 500 } } });
    expect(shut).toMatchObject({ rows: 0, entries: [], nextChangeMs: NOW_MS + 500, stoppedBy: null });
    expect(plan({ heads, destinations: { "A.x": { gateUntilMs: NOW_MS, probeOnly: true } } })).toMatchObject({
      rows: 1,
      nextChangeMs: NOW_MS + 900,
    });
    expect(plan({ heads, destinations: { "A.x": { probeOnly: true, inFlight: 1 } } }).rows).toBe(0);
    const lateGate = plan({ heads, destinations: { "A.y": { gateUntilMs: NOW_MS + 5000 } } });
    expect(lateGate.nextChangeMs).toBe(NOW_MS + 5000);
  });

  it("FAIR-1 plans no more than the rate tokens, and nothing for a fraction of one", () => {
    expect(plan({ heads: [head("A", "x")], destinations: { "A.x": { rateTokens: 3 } } }).rows).toBe(3);
    expect(plan({ heads: [head("A", "x")], destinations: { "A.x": { rateTokens: 0.9 } } }).rows).toBe(0);
    expect(plan({ heads: [head("A", "x")], destinations: { "A.x": { rateTokens: Number.NaN } } }).rows).toBe(
      0,
    );
  });

  it("FAIR-7 a cap lowered below what is in flight stops new claims only", () => {
    expect(
      plan({ heads: [head("A", "x")], destinations: { "A.x": { concurrencyLimit: 2, inFlight: 5 } } }).rows,
    ).toBe(0);
  });

  it("SIG-5 rows that are not due are not planned", () => {
    expect(plan({ heads: [head("A", "x", { dueMs: NOW_MS + 1 })] })).toMatchObject({
      rows: 0,
      nextChangeMs: NOW_MS + 1,
    });
    expect(plan({ heads: [head("A", "x", { dueMs: NOW_MS })] }).rows).toBeGreaterThan(0);
    expect(plan({ heads: [] })).toMatchObject({ rows: 0, nextChangeMs: null, entries: [] });
  });

  it("ID-8 bodies in memory stay inside the budget, and a body larger than it can still go alone", () => {
    const destinations = { "A.x": { avgBodyBytes: 400 }, "B.x": { avgBodyBytes: 5000 } };
    const small = plan({ heads: [head("A", "x")], destinations, bytes: 1000 });
    expect(small).toMatchObject({ rows: 2, bytes: 800, stoppedBy: "bytes" });
    expect(plan({ heads: [head("B", "x")], destinations, bytes: 1000 }).rows).toBe(1);
    expect(plan({ heads: [head("B", "x")], destinations, bytes: 0 }).rows).toBe(0);
  });

  it("counts a lane once when the heads name it twice", () => {
    expect(
      plan({ heads: [head("A", "x", { waitingHint: 2 }), head("A", "x", { waitingHint: 2 })] }).rows,
    ).toBe(2);
  });
});

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
        const { total, bytes, maxEntries, quantum } = random;
        const result = plan({ heads, tenants, destinations, total, bytes, maxEntries, quantum, busy: used });
        const free = Math.max(0, total - random.usedFirst - random.usedRetry);
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
    expect([...served.keys()].filter((name) => name.includes("/retry/")).length).toBeGreaterThanOrEqual(12);
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
  }, 20_000);
});
