import { runSeed } from "#sim/run-seed.ts";
for (let seed=1; seed<=25; seed++) {
const counts: Record<string, number> = {}; let sched: any;
const r = await runSeed(seed, { steps: 500, bug: { name: "x", what: "", caughtBy: "liveness", breakStore: (store, { scheduler }) => { sched=scheduler; return Object.fromEntries(Object.entries(store).map(([k, f]: any) => [k, (...a: any[]) => { const x = f(...a); if (scheduler.steps > 500) { counts[k] = (counts[k] ?? 0) + 1; if (k === "claim") for (const e of x.entries) { const b = "  " + (e.blocker ?? "none") + (e.taken ? " taken" : ""); counts[b] = (counts[b] ?? 0) + 1; }  } return x; }])) as any } }});
console.log(seed, r.steps, r.deliveries, r.requests, ((sched.nowUs/1e6)%86400-43200).toFixed(1), Object.entries(counts).sort((a,b)=>b[1]-a[1]).slice(0,9).map(x=>x.join(" ")).join(", "));
}
