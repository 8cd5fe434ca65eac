/** Nobody gives what they do not have: no region, no tenant, no sight of bodies, and no day more. */
import { describe, expect, test } from "vitest";
import { type EndingGrant, latestEndMs, refusedReach } from "./grant-reach.ts";

function grant(part: Partial<EndingGrant> = {}): EndingGrant {
  return {
    role: "admin",
    regions: ["us"],
    tenantIds: null,
    canReveal: false,
    actions: null,
    endsMs: null,
    ...part,
  };
}

const US = { regions: ["us"], tenantIds: null, canReveal: false } as const;

describe("what may be given", () => {
  test("an administrator of us gives us, not eu, and not both", () => {
    expect(refusedReach([grant()], US)).toBeNull();
    expect(refusedReach([grant()], { ...US, regions: ["eu"] })).toContain("further");
    expect(refusedReach([grant()], { ...US, regions: ["us", "eu"] })).toContain("further");
  });

  test("an administrator of two tenants gives one of them, not a third, and not the region", () => {
    const giver = [grant({ tenantIds: ["a", "b"] })];
    expect(refusedReach(giver, { ...US, tenantIds: ["a"] })).toBeNull();
    expect(refusedReach(giver, { ...US, tenantIds: ["a", "c"] })).toContain("further");
    expect(refusedReach(giver, US)).toContain("further");
  });

  test("no other role gives anything, and neither does a token's list of actions without access", () => {
    for (const role of ["viewer", "support", "operator"] as const) {
      expect(refusedReach([grant({ role })], US)).not.toBeNull();
    }
    expect(refusedReach([grant({ actions: ["read"] })], US)).not.toBeNull();
  });

  test("bodies are given only by who sees them in the same place", () => {
    const wanted = { ...US, canReveal: true };
    expect(refusedReach([grant()], wanted)).toContain("bodies");
    expect(refusedReach([grant({ canReveal: true })], wanted)).toBeNull();
    expect(refusedReach([grant(), grant({ canReveal: true, tenantIds: ["a"] })], wanted)).toContain("bodies");
  });
});

describe("how long it may last", () => {
  test("without an end when the giver's has none, and not a day longer than it", () => {
    expect(latestEndMs([grant()], US)).toBeNull();
    expect(latestEndMs([grant({ endsMs: 5_000 })], US)).toBe(5_000);
  });

  test("of two that cover it the later counts, of two regions the earlier", () => {
    expect(latestEndMs([grant({ endsMs: 5_000 }), grant({ endsMs: 9_000 })], US)).toBe(9_000);
    expect(
      latestEndMs([grant({ endsMs: 5_000 }), grant({ regions: ["eu"] })], { ...US, regions: ["us", "eu"] }),
    ).toBe(5_000);
    expect(latestEndMs([grant({ role: "viewer" }), grant({ endsMs: 5_000 })], US)).toBe(5_000);
  });

  test("where only two together cover it, the first to end counts", () => {
    const both = [grant({ tenantIds: ["a"], endsMs: 5_000 }), grant({ tenantIds: ["b"], endsMs: 9_000 })];
    expect(latestEndMs(both, { ...US, tenantIds: ["a", "b"] })).toBe(5_000);
  });
});
