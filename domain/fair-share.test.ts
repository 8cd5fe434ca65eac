import { describe, expect, it } from "vitest";
import { emptyDrrState, lightReserveOf } from "./fair-share.ts";
import { busy, head, NOW_MS, plan, rowsOf } from "./testdata/plan-world.ts";

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

  it("FAIR-5 also when the slots run out in the middle of another tenant's second turn", () => {
    const heads = ["A", "B", "C"].map((tenantId) => head(tenantId, "x"));
    const first = plan({ heads, maxEntries: 2, quantum: 4, total: 9 });
    expect(first.entries.map((entry) => entry.tenantId)).toEqual(["A", "B"]);
    expect(first.rows).toBe(9);
    const second = plan({ heads, maxEntries: 2, quantum: 4, total: 9, drr: first.state });
    expect(second.entries[0]?.tenantId).toBe("C");
  });
});

describe("the reserve of light tenants", () => {
  const full = { first: 100 };

  it("FAIR-3 a tenant that holds nothing gets a slot though one whose requests take long holds all of them", () => {
    const heads = [head("A", "x", { waitingHint: 50_000 }), head("B", "x", { waitingHint: 1 })];
    const world = { heads, tenants: { A: { inFlight: 100 } }, busy: busy(full, { routine: 100 }) };
    expect(plan(world).rows).toBe(0);
    const result = plan({ ...world, lightReserve: 6 });
    expect(rowsOf(result, { tenantId: "B" })).toBe(1);
    expect(rowsOf(result, { tenantId: "A" })).toBe(0);
    expect(result.stoppedBy).toBe("slots");
  });

  it("comes on top: what is free otherwise is everybody's, and the reserve is never a busy tenant's, a retry's or a replay's", () => {
    const heads = [head("A", "x"), head("B", "x", { lane: "retry" }), head("C", "x", { lane: "replay" })];
    expect(plan({ heads: [head("A", "x")], lightReserve: 6 }).rows).toBe(100);
    const world = { heads, lightReserve: 6, tenants: { A: { inFlight: 90 } }, busy: busy({ first: 90 }) };
    expect(plan(world).rows).toBe(10);
    const none = { ...world, tenants: { A: { inFlight: 100 } }, busy: busy(full) };
    expect(plan(none).rows).toBe(0);
  });

  it("is not used up by one tenant: a light one holds a few slots of it at most", () => {
    const heads = ["B", "C", "D"].map((tenantId) => head(tenantId, "x", { serviceClass: "urgent" }));
    const result = plan({ heads, lightReserve: 12, busy: busy(full, { routine: 100 }) });
    expect(["B", "C", "D"].map((tenantId) => rowsOf(result, { tenantId }))).toEqual([3, 3, 3]);
  });

  it("is a sixteenth of the slots, none of very few", () => {
    expect([1, 15, 16, 512, 1_024].map(lightReserveOf)).toEqual([0, 0, 1, 32, 64]);
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

  it("FAIR-3 first attempts may use every slot, also while retries are due; what they leave the retries get", () => {
    expect(plan({ heads: [head("A", "x")] }).rows).toBe(100);
    const both = plan({ heads: [head("A", "x"), head("A", "y", { lane: "retry" })] });
    expect(rowsOf(both, { lane: "first" })).toBe(100);
    const left = plan({ heads: [head("A", "x", { waitingHint: 90 }), head("A", "y", { lane: "retry" })] });
    expect(rowsOf(left, { lane: "first" })).toBe(90);
    expect(rowsOf(left, { lane: "retry" })).toBe(10);
  });

  it("FAIR-5 lanes that are known to be deep come in runs, and the next plan goes on behind the run", () => {
    const heads = ["x", "y", "z"].map((name) => head("A", name, { waitingHint: 1_000 }));
    const first = plan({ heads, total: 64 });
    expect(first.entries.map((entry) => entry.k).sort()).toEqual([16, 24, 24]);
    const short = plan({ heads, total: 16 });
    const next = plan({ heads, total: 2, drr: short.state });
    // Runs of two: xx yy zz xx yy zz xx yy, so it is z's turn.
    expect(next.entries[0]?.destinationId).toBe("A.z");
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
