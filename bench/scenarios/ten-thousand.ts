/** As many destinations as deliveries: every lane has one row. Held against the drain to a tenth of the destinations. */
import { oneRun } from "../contenders/contender.ts";
import { createSluice } from "../contenders/sluice.ts";
import { sendContext, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { atLeast, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { compare, described, type Entry, ratio } from "./compare.ts";

const GOAL = 0.65;
const BASE = "sluice";
const SPREAD = "sluice-one-each";

export const tenThousand: Scenario = {
  name: "ten-thousand",
  title: "10,000 destinations x 1 delivery, beside the drain of 20,000 deliveries to 1,000 destinations",
  defaults: { destinations: 10_000 },
  run: (options) =>
    withBench(0, async (bench) => {
      const { database, receiver } = bench;
      const context = await sendContext(bench, options);
      const common = { database, receiver, slots: options.slots, clear: true };
      const fewer = Math.max(1, Math.round(options.destinations / 10));
      const base = await makeBenchTenant(database.pool, receiver.url, fewer);
      const spread = await makeBenchTenant(database.pool, receiver.url, options.destinations);
      const entries: Entry[] = [
        {
          contender: createSluice(context, { ...common, name: BASE, tenant: base }),
          deliveries: options.deliveries,
        },
        {
          contender: createSluice(context, { ...common, name: SPREAD, tenant: spread }),
          deliveries: options.destinations,
        },
      ];
      for (const { contender, deliveries } of entries) await oneRun(contender, deliveries);
      const rounds = await compare(entries, options.rounds, receiver, database.serverPid);
      return {
        goals: [
          atLeast("rate divided by that of 20,000 to 1,000 destinations", ratio(rounds, SPREAD, BASE), GOAL),
        ],
        facts: {
          ratioToDrain: ratio(rounds, SPREAD, BASE),
          destinations: options.destinations,
          rounds: options.rounds,
          ...machineFacts(database),
          contenders: described(entries, rounds),
        },
      };
    }),
};
