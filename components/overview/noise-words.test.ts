/** Who is noisy in words: every number beside the fair share, and silence never called quiet. */
import { expect, test } from "vitest";
import type { NoisyTenant } from "#db/console/tenant-loads.ts";
import { noisyText, quietText } from "./noise-words.ts";

const BAZAAR: NoisyTenant = {
  id: "ten_1",
  slug: "noisy-bazaar",
  name: "Noisy Bazaar",
  because: ["requests"],
  requests: 620,
  rateLimitedShare: 0.18,
  inFlight: 12,
  shares: { ofRequests: 0.62, ofSlots: 0.75, ofRateLimited: 0.4, fair: 0.1 },
};

test("a noisy tenant is told by its part of requests, its 429 answers, its slots and its fair share", () => {
  expect(noisyText(BAZAAR, 5, 16)).toBe(
    "sent 62 % of the requests of the last 5 m, 18 % of them 429, takes 12 of 16 slots. Its fair share is 10 %.",
  );
  const hammering: NoisyTenant = { ...BAZAAR, because: ["rate_limited"], inFlight: 0 };
  expect(noisyText(hammering, 5, 16)).toBe(
    "sent 62 % of the requests of the last 5 m, 18 % of them 429, 40 % of all 429 answers. Its fair share is 10 %.",
  );
});

test("one that is noisy by its slots alone is not said to have sent anything", () => {
  const shares = { ofRequests: 0, ofSlots: 0.75, ofRateLimited: null, fair: 0.1 };
  const waiting: NoisyTenant = { ...BAZAAR, because: ["slots"], requests: 0, rateLimitedShare: null, shares };
  expect(noisyText(waiting, 5, 16)).toBe("takes 12 of 16 slots. Its fair share is 10 %.");
});

test("nobody is noisy, or nobody can be named: the two are not the same", () => {
  expect(quietText({ verdict: "nobody", minutes: 5, tenants: [] })).toBe(
    "Noisy: nobody. No tenant took much more than its fair share in the last 5 m.",
  );
  expect(quietText({ verdict: "too_little", minutes: 5, tenants: [] })).toContain("so few requests");
});
