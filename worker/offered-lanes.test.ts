/** FAIR-5: with more lanes than a plan can look at, every tenant is in it, and every lane's turn comes. */
import { describe, expect, it } from "vitest";
import type { LaneHead } from "#domain/fair-share-types.ts";
import { OfferedLanes } from "./offered-lanes.ts";

function lanes(tenantId: string, count: number, more: Partial<LaneHead> = {}): LaneHead[] {
  return Array.from({ length: count }, (_, n) => ({
    lane: "first" as const,
    serviceClass: "routine" as const,
    tenantId,
    destinationId: `${tenantId}-${n}`,
    dueMs: n,
    ...more,
  }));
}

describe("the lanes of a plan", () => {
  it("are all of them while there are few, as they are", () => {
    const open = lanes("a", 10);
    expect(new OfferedLanes(10).next(open)).toBe(open);
  });

  it("FAIR-5 hold every tenant's only lane beside one with a thousand, and leave no place empty", () => {
    const small = ["b", "c", "d"].flatMap((tenant) => lanes(tenant, 1));
    const open = [...lanes("a", 1_000), ...small];
    const offered = new OfferedLanes(40).next(open);
    expect(offered).toHaveLength(40);
    for (const head of small) expect(offered).toContain(head);
  });

  it("are limited for each kind and class alone: urgent work and retries are not crowded out", () => {
    const urgent = lanes("a", 3, { serviceClass: "urgent" });
    const retries = lanes("a", 2, { lane: "retry" });
    const offered = new OfferedLanes(40).next([...lanes("a", 1_000), ...retries, ...urgent]);
    expect(offered).toHaveLength(45);
    for (const head of [...urgent, ...retries]) expect(offered).toContain(head);
  });

  it("are others from turn to turn, until each lane of each tenant has been there", () => {
    const open = [...lanes("a", 95), ...lanes("b", 30), ...lanes("c", 2)];
    const offer = new OfferedLanes(20);
    const seen = new Set<LaneHead>();
    let turns = 0;
    for (; seen.size < open.length && turns < 50; turns++) {
      const offered = offer.next(open);
      expect(offered).toHaveLength(20);
      expect(new Set(offered).size).toBe(20);
      for (const head of offered) seen.add(head);
    }
    expect(seen.size).toBe(open.length);
    expect(turns).toBeLessThanOrEqual(20);
  });

  it("are one of each tenant where there are more tenants than places, and every tenant's turn comes", () => {
    const open = Array.from({ length: 50 }, (_, n) => lanes(`t${n}`, 3)).flat();
    const offer = new OfferedLanes(8);
    const tenants = new Set<string>();
    for (let turn = 0; turn < 7; turn++) {
      const offered = offer.next(open);
      expect(new Set(offered.map(({ tenantId }) => tenantId)).size).toBe(8);
      for (const { tenantId } of offered) tenants.add(tenantId);
    }
    expect(tenants.size).toBe(50);
  });
});
