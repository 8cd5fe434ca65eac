/** The simulator's own test: bugs on purpose, each caught within the seeds of `npm test` by the invariant that is about it. */
import { describe, expect, it } from "vitest";
import { BUGS } from "#sim/bugs.ts";
import { runSeed } from "#sim/run-seed.ts";
import { TEST_SEEDS, TEST_STEPS } from "#sim/run-seeds.ts";

const TIMEOUT_MS = 300_000;
/** All of them are found long before the last seed of the tests. */
const MAX_SEEDS = TEST_SEEDS / 4;

describe("a bug on purpose", () => {
  it("comes in more than ten kinds, each with a name of its own", () => {
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
    expect(BUGS.length).toBeGreaterThanOrEqual(10);
  });

  it.each(BUGS.map((bug) => [bug.name, bug.what, bug] as const))(
    "is caught: %s (%s)",
    async (_name, _what, bug) => {
      const found: string[] = [];
      for (let seed = 1; seed <= MAX_SEEDS && !found.includes(bug.caughtBy); seed++) {
        const { violations } = await runSeed(seed, { steps: TEST_STEPS, bug });
        if (violations[0] !== undefined) found.push(violations[0].invariant);
      }
      expect(found).toContain(bug.caughtBy);
    },
    TIMEOUT_MS,
  );
});
