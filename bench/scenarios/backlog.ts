/**
 * Does a full database slow the drain? Two databases on one server, one empty, one with a million deliveries that wait for
 * later and ten million finished ones with their attempts; the same drain on each, in turns. Nothing is emptied between
 * the rounds, in either. Loading takes minutes: `--delayed` and `--archived` make it smaller.
 */
import { type BacklogPart, countBacklog, loadBacklog, vacuumAll } from "../backlog/sql.ts";
import type { BenchOptions } from "../config.ts";
import { oneRun } from "../contenders/contender.ts";
import type { SendContext } from "../contenders/send.ts";
import { createSluice } from "../contenders/sluice.ts";
import { type Bench, sendContext, withBench } from "../lib/context.ts";
import type { BenchDatabase } from "../lib/database.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atLeast, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { compare, described, type Entry, ratio } from "./compare.ts";

const GOAL = 0.97;
const EMPTY = "sluice-empty";
const FULL = "sluice-full";
const BACKLOG_DESTINATIONS = 1_000;
const PARTS: readonly BacklogPart[] = ["delayed", "archived", "attempts"];

export const backlog: Scenario = {
  name: "backlog",
  title:
    "the drain with 1,000,000 delayed, 10,000,000 archived and 10,000,000 attempts, beside an empty database",
  defaults: {},
  run: (options) =>
    withBench(0, async (bench) => {
      const context = await sendContext(bench, options);
      const full = await bench.database.openSecond("full");
      const loaded = await load(full, bench, options);
      const entries: Entry[] = [
        await contender(EMPTY, context, bench, bench.database, options),
        await contender(FULL, context, bench, full, options),
      ];
      for (const { contender: each } of entries) await oneRun(each, options.deliveries);
      const rounds = await compare(entries, options.rounds, bench.receiver, bench.database.serverPid);
      const after = await countBacklog(full.pool);
      if (after.delayed !== loaded.delayed) {
        throw new Error(`${after.delayed} of ${loaded.delayed} delayed rows are left`);
      }
      return {
        goals: [atLeast("drain rate divided by an empty database's", ratio(rounds, FULL, EMPTY), GOAL)],
        facts: {
          ratioToEmpty: ratio(rounds, FULL, EMPTY),
          ...loaded,
          deliveries: options.deliveries,
          rounds: options.rounds,
          ...machineFacts(bench.database),
          contenders: described(entries, rounds),
        },
      };
    }),
};

async function load(full: BenchDatabase, bench: Bench, options: BenchOptions) {
  const tenant = await makeBenchTenant(full.pool, bench.receiver.url, BACKLOG_DESTINATIONS);
  const counts = { delayed: options.delayed, archived: options.archived, attempts: options.archived };
  for (const part of PARTS) {
    await loadBacklog(full.pool, part, counts[part], tenant, (done) => {
      progress(`loading ${part}: ${done} of ${counts[part]}`);
    });
  }
  progress("vacuum");
  await vacuumAll(full.pool);
  const stood = await countBacklog(full.pool);
  for (const part of PARTS) {
    if (stood[part] !== counts[part])
      throw new Error(`${stood[part]} of ${counts[part]} ${part} were loaded`);
  }
  return stood;
}

async function contender(
  name: string,
  context: SendContext,
  { receiver }: Bench,
  database: BenchDatabase,
  options: BenchOptions,
): Promise<Entry> {
  const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
  const settings = { name, database, tenant, receiver, slots: options.slots, clear: false };
  return { contender: createSluice(context, settings), deliveries: options.deliveries };
}
