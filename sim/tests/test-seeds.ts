/** The seeds of `npm test`: shipped dispatching under faults, all invariants after every run. Shared by four test files. */
import { describe, expect, it } from "vitest";
import { explain, runSeeds, TEST_SEEDS, TEST_STEPS } from "#sim/run-seeds.ts";

const PARTS = 4;
const TIMEOUT_MS = 600_000;

export function testSeeds(part: number): void {
  const count = TEST_SEEDS / PARTS;
  const from = 1 + (part - 1) * count;
  describe(`seeds ${from} to ${from + count - 1}`, () => {
    it(
      "PROOF-3, PROOF-4, PROOF-6: nothing lost, one lease, limits kept, one effect for each key, and everything ends, under every fault",
      async () => {
        const summary = await runSeeds(from, count, { steps: TEST_STEPS });
        expect(summary.failures.map(explain).join("\n")).toBe("");
        expect(summary.violations).toBe(0);
        expect(summary.steps).toBeGreaterThanOrEqual(count * TEST_STEPS);
        // A check that had nothing to look at proves nothing.
        const neverMet = Object.entries(summary.met).filter(([, times]) => times === 0);
        expect(neverMet).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}
