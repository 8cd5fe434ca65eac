/** A seed says everything: the same one gives the same run, another one another, and a failing one says how to run it alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { BUGS } from "#sim/bugs.ts";
import { runSeed } from "#sim/run-seed.ts";
import { runSeeds } from "#sim/run-seeds.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;

async function simulate(...given: string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [MAIN, ...given], { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out };
}

describe("a seed", () => {
  it("gives the same run each time, and in another process", async () => {
    const first = await runSeed(11, { steps: 300 });
    expect(await runSeed(11, { steps: 300 })).toEqual(first);
    const { out, code } = await simulate("--seed", "11", "--steps", "300", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      steps: first.steps,
      requests: first.requests,
      met: first.met,
      violations: 0,
    });
  });

  it("is another run than the next one", async () => {
    const [a, b] = [await runSeed(11, { steps: 300 }), await runSeed(12, { steps: 300 })];
    expect(a.steps).not.toBe(b.steps);
  });

  it("that fails is named, fails the command, and fails again when it runs alone", async () => {
    const bug = "sent_twice";
    const { code, out } = await simulate("--seeds", "3", "--json", "--bug", bug);
    expect(code).toBe(1);
    const summary = JSON.parse(out) as { violations: number; firstFailingSeed: number; seeds: number };
    expect(summary).toMatchObject({ seeds: 3, violations: 3, firstFailingSeed: 1 });
    const alone = await simulate("--seed", String(summary.firstFailingSeed), "--bug", bug);
    expect(alone.code).toBe(1);
    expect(alone.out).toContain("one_live_lease");
  });

  it("says in the report how to run it alone", async () => {
    const { out } = await simulate("--seeds", "1", "--bug", "sent_twice");
    expect(out).toContain("npm run simulate -- --seed 1");
  });

  it("with a bug and one without differ in nothing but the bug", async () => {
    const bug = BUGS.find(({ name }) => name === "sent_twice");
    const broken = await runSeeds(1, 1, { steps: 300, ...(bug === undefined ? {} : { bug }) });
    const whole = await runSeeds(1, 1, { steps: 300 });
    expect([broken.violations, whole.violations]).toEqual([1, 0]);
  });
});
