/** The limit of a tenant in words. */
import { expect, test } from "vitest";
import { limitText } from "./limit-words.ts";

test.each([
  [{ limit: null, desired: 100, effective: 100, why: null }, "Limit 100, inherited from the region."],
  [{ limit: 20, desired: 20, effective: 20, why: null }, "Limit 20, its own."],
  [
    { limit: 20, desired: 20, effective: 4, why: "resume_ramp" as const },
    "Limit 20, its own. 4 now: what was due before the resume leaves slowly at first.",
  ],
  [
    { limit: 20, desired: 20, effective: 0, why: "paused" as const },
    "Limit 20, its own. 0 now: the tenant is paused.",
  ],
])("%o", (concurrency, text) => {
  expect(limitText(concurrency)).toBe(text);
});
