import { BUGS } from "#sim/bugs.ts";
import { runSeed } from "#sim/run-seed.ts";
for (const bug of BUGS.filter(b => !process.argv[2] || b.name===process.argv[2])) {
  const found: string[] = []; const begun = performance.now();
  let n = 0; let first = 0;
  for (let seed = 1; seed <= 300 && n < 5; seed++) {
    const { violations } = await runSeed(seed, { steps: 500, bug });
    const v = violations[0];
    if (v) { n++; first ||= seed; found.push(`${seed}:${v.invariant}${v.invariant === bug.caughtBy ? "" : " !! " + v.detail}`); }
  }
  console.log(bug.name, n ? "" : "NOT CAUGHT", found.join(" | "), Math.round(performance.now() - begun));
}
