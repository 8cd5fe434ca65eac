/**
 * Where a drain spends its CPU: this process by file and package, Postgres by function. It is no row of the table and not
 * part of `all`: it explains one. Run it when a ratio is missed.
 */
import { oneRun } from "../contenders/contender.ts";
import { createSluice } from "../contenders/sluice.ts";
import { sendContext, withBench } from "../lib/context.ts";
import { readCpu } from "../lib/cpu.ts";
import { profileCpu } from "../lib/cpu-profile.ts";
import { machineFacts } from "../lib/machine.ts";
import { checkExactlyOnce, readSeen, receiverCpuMs } from "../lib/receiver.ts";
import { beside, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { round } from "../lib/stats.ts";
import { sleep } from "../lib/wait.ts";
import { functionTimes, resetCounters, trackFunctions } from "../profile/sql.ts";

const US_PER_MS = 1_000;
const SHOWN = 25;
/** Sessions report their counters late. */
const COUNTERS_MS = 1_500;

export const profile: Scenario = {
  name: "profile",
  title: "CPU of a drain by file, package and database function (not part of `all`)",
  defaults: {},
  run: (options) =>
    withBench(0, async (bench) => {
      const { database, receiver } = bench;
      const context = await sendContext(bench, options);
      const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
      await trackFunctions(database.pool);
      const sluice = createSluice(context, { database, tenant, receiver, slots: options.slots, clear: true });
      await oneRun(sluice, options.deliveries);
      await sluice.prepare(options.deliveries);
      await resetCounters(database.pool);
      const seen = await readSeen(receiver);
      const receiverBefore = await receiverCpuMs(receiver);
      const before = readCpu(database.serverPid);
      let tookMs = 0;
      const places = await profileCpu(async () => {
        tookMs = await sluice.drain(options.deliveries);
      });
      const after = readCpu(database.serverPid);
      const receiverMs = (await receiverCpuMs(receiver)) - receiverBefore;
      checkExactlyOnce(options.deliveries, seen, await readSeen(receiver));
      await sleep(COUNTERS_MS);
      const functions = await functionTimes(database.pool);
      await sluice.rest();
      const perDelivery = (ms: number) => round((ms * US_PER_MS) / options.deliveries, 2);
      const node = places.slice(0, SHOWN).map(([place, ms]) => beside(`us in ${place}`, perDelivery(ms)));
      const postgres = functions.map(({ name, calls, totalMs }) =>
        beside(`us in sluice.${name} (${calls} calls)`, perDelivery(totalMs)),
      );
      return {
        goals: [
          beside("us of CPU a delivery: this process", perDelivery(after.nodeMs - before.nodeMs)),
          beside(
            "us of CPU a delivery: Postgres",
            perDelivery((after.postgresMs ?? Number.NaN) - (before.postgresMs ?? Number.NaN)),
          ),
          beside("us of CPU a delivery: receiver", perDelivery(receiverMs)),
          ...node,
          ...postgres,
        ],
        facts: {
          deliveries: options.deliveries,
          profiledPerSecond: round((options.deliveries / tookMs) * 1_000),
          ...machineFacts(database),
        },
      };
    }),
};
