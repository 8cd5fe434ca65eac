import { runSeed } from "#sim/run-seed.ts";
const seed = Number(process.argv[2]);
const counts: Record<string, number> = {}; 
const r = await runSeed(seed, { steps: 500, bug: { name: "x", what: "", caughtBy: "liveness", breakStore: (store, { scheduler }) => Object.fromEntries(Object.entries(store).map(([k, f]: any) => [k, (...a: any[]) => { const x = f(...a); if (scheduler.steps < 500) { counts[k] = (counts[k] ?? 0) + 1; if (k === "claim") for (const e of x.entries) { const b = "  " + (e.blocker ?? "none") + (e.taken ? " taken" : ""); counts[b] = (counts[b] ?? 0) + 1; } if (k==="claim"&&x.entries.length===0) counts.empty=(counts.empty??0)+1 } return x; }])) as any } });
console.log(r.steps, r.deliveries, r.requests, counts);
