/** Who is called noisy: only one with an outsized part of enough work, by numbers that one can check by hand. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeNoise, MOST_NAMED, outsizedFrom, type RegionLoad, type TenantLoad } from "./noisy-tenant.ts";

function load(change: Partial<TenantLoad> = {}): TenantLoad {
  return { weight: 1, requests: 0, rateLimited: 0, inFlight: 0, ...change };
}

/** The region of these tenants. */
function regionOf(loads: readonly TenantLoad[], slots = 16): RegionLoad {
  const sum = (key: keyof TenantLoad) => loads.reduce((total, one) => total + one[key], 0);
  return {
    tenants: loads.length,
    weight: sum("weight"),
    requests: sum("requests"),
    rateLimited: sum("rateLimited"),
    slots,
  };
}

function judge(loads: readonly TenantLoad[], slots?: number) {
  return judgeNoise(regionOf(loads, slots), loads);
}

describe("who is noisy", () => {
  test("62 % of the requests among ten equal tenants is outsized; an even spread is nobody's", () => {
    const quiet = Array.from({ length: 9 }, () => load({ requests: 42 }));
    const noise = judge([load({ requests: 620, rateLimited: 10 }), ...quiet]);
    expect(noise).toMatchObject({
      verdict: "noisy",
      tenants: [{ because: ["requests"], shares: { fair: 0.1 } }],
    });
    expect(noise.tenants[0]?.shares.ofRequests).toBeCloseTo(0.621, 3);
    expect(judge(Array.from({ length: 10 }, () => load({ requests: 100 })))).toEqual({
      verdict: "nobody",
      tenants: [],
    });
  });

  test("a greater weight is a greater fair share", () => {
    const others = Array.from({ length: 4 }, () => load({ requests: 100 }));
    const big = { requests: 400, inFlight: 0 };
    expect(judge([load(big), ...others]).verdict).toBe("noisy");
    expect(judge([load({ ...big, weight: 4 }), ...others]).verdict).toBe("nobody");
  });

  test("one that sends alone takes nothing from anybody, and too few requests say nothing", () => {
    expect(judge([load({ requests: 500 })]).verdict).toBe("nobody");
    expect(judge([load({ requests: 50 }), load({ requests: 5 })]).verdict).toBe("too_little");
    expect(judge([]).verdict).toBe("too_little");
  });

  test("slots at this moment and 429 answers count by themselves, also where requests are few or even", () => {
    const many = Array.from({ length: 5 }, () => load({ requests: 100 }));
    expect(judge([load({ requests: 100, inFlight: 12 }), ...many]).tenants).toMatchObject([
      { because: ["slots"], shares: { ofSlots: 0.75 } },
    ]);
    expect(judge([load({ requests: 100, rateLimited: 30 }), ...many]).tenants).toMatchObject([
      { because: ["rate_limited"], shares: { ofRateLimited: 1 } },
    ]);
    expect(judge([load({ requests: 100, inFlight: 3, rateLimited: 19 }), ...many], 4).verdict).toBe("nobody");
    expect(judge([load({ requests: 100, inFlight: 12 }), ...many], 0).verdict).toBe("nobody");
  });

  test("at most two are named, the loudest first, and none of them has its fair share or less", () => {
    const any = fc.record({
      weight: fc.integer({ min: 1, max: 100 }),
      requests: fc.integer({ min: 0, max: 2_000 }),
      rateLimited: fc.integer({ min: 0, max: 200 }),
      inFlight: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 12 }), fc.integer({ min: 0, max: 64 }), (loads, slots) => {
        const { verdict, tenants } = judge(loads, slots);
        const parts = tenants.map(({ shares }) => shares.ofRequests ?? 0);
        return (
          tenants.length <= MOST_NAMED &&
          (verdict === "noisy") === tenants.length > 0 &&
          (parts[1] ?? 0) <= (parts[0] ?? 0) &&
          tenants.every(({ shares: { ofRequests, ofSlots, ofRateLimited, fair } }) =>
            [ofRequests, ofSlots, ofRateLimited].some((part) => (part ?? 0) > fair),
          )
        );
      }),
    );
  });

  test("the bound is above every fair share below one", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (fair) => outsizedFrom(fair) > fair),
    );
    expect([0.001, 0.1, 0.25, 0.5].map(outsizedFrom)).toEqual([0.25, 0.25, 0.5, 0.75]);
  });
});
