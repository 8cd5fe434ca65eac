import { runSeed } from "#sim/zz-run.ts";
for (const steps of [500, 1000]) {
 let req=0, all=0, st=0;
 for (let seed=1; seed<=100; seed++){ const r=await runSeed(seed,{steps}); req+=(r as any).calmRequests; all+=r.requests; st+=r.steps; (globalThis as any).t=((globalThis as any).t??0)+(r as any).calmMs }
 console.log(steps, req/100, all/100, st/100, (globalThis as any).t/100); (globalThis as any).t=0;
}
