import { runSeed } from "#sim/run-seed.ts";
const from = Number(process.argv[2] ?? 1), n = Number(process.argv[3] ?? 100), verbose = process.argv[4] === "v";
const cpu=process.cpuUsage(); const begun = performance.now(); let steps = 0, bad = 0, requests=0; const kinds: Record<string, number[]> = {};
const met: Record<string,number>={}; let max=0,maxSeed=0;
for (let seed = from; seed < from + n; seed++) {
  const r = await runSeed(seed, { steps: 500, ...(verbose ? { log: (l: string) => console.log(l) } : {}) });
  steps += r.steps; requests+=r.requests; for (const [k,v] of Object.entries(r.met)) met[k]=(met[k]??0)+v; if (r.steps>max){max=r.steps;maxSeed=seed}
  if (r.violations.length) { bad++; const v = r.violations[0]!; (kinds[v.invariant + ": " + v.detail.replace(/[0-9a-f]{6}|\d+/g, "#")] ??= []).push(seed); if (verbose) console.log(r.violations); }
}
const ms = performance.now() - begun;
console.log({ n, bad, steps, requests, ms: Math.round(ms), cpuMs: Math.round(process.cpuUsage(cpu).user/1000), usPerStep: (ms * 1000 / steps).toFixed(1), max, maxSeed });
console.log(JSON.stringify(met)); for (const [k, v] of Object.entries(kinds).sort((a, b) => b[1].length - a[1].length)) console.log(v.length, k, v.slice(0, 4).join(","));
