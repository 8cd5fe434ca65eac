/**
 * Is the console quick on a large region? A thousand tenants, ten thousand destinations, live and archived deliveries, dead
 * letters, roll-ups and samples as workers leave them; then the built console, every read of its API, the overview in a
 * real browser, and what each page loads first. Seeding takes long: `--seed-only` does it once, `--seeded` measures on it.
 */
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { REGIONS } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import { type BenchOptions, givenConsoleUrls } from "../config.ts";
import { buildConsole, makePerson, startConsole } from "../console/console-process.ts";
import { medianMs, timeOverview, weighPages } from "../console/pages.ts";
import { readsOf } from "../console/reads.ts";
import { type RegionUrls, seedConsole } from "../console/seed.ts";
import { beat, countSeeded, readKnown, sampleAll, sumAll } from "../console/sql.ts";
import { type Timed, timeReads } from "../console/time-reads.ts";
import { closeAll, closeLater } from "../lib/cleanup.ts";
import { openBenchDatabase } from "../lib/database.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, beside, type Scenario, type ScenarioResult } from "../lib/scenario.ts";

const READ_GOAL_MS = 100;
const USABLE_GOAL_MS = 1_500;
const SCRIPT_GOAL_KB = 250;
/** How often a worker asks for a sample, twice for each: the database keeps one for each moment. */
const SAMPLE_EVERY_MS = 2_500;
const OPENINGS = 5;

export const consoleReads: Scenario = {
  name: "console",
  title:
    "every read of the console, the overview in a browser, and the script of each page, on a large region",
  defaults: { destinations: 10_000 },
  async run(options) {
    try {
      const urls = await databases(options);
      if (options.seedOnly) return seedOnly(urls, options);
      if (!options.seeded) await seedConsole(urls, options);
      return await measure(urls, options);
    } finally {
      await closeAll();
    }
  },
};

/** The named ones where they are to stay or were filled before, else scratch ones. */
async function databases({ seedOnly, seeded }: BenchOptions): Promise<RegionUrls> {
  if (seedOnly || seeded) return givenConsoleUrls();
  const us = await openBenchDatabase();
  closeLater(() => us.close());
  const eu = await us.openSecond("eu", "eu");
  return { us: us.url, eu: eu.url };
}

async function seedOnly(urls: RegionUrls, options: BenchOptions): Promise<ScenarioResult> {
  const counts = await seedConsole(urls, options);
  return {
    goals: [beside("deliveries that were archived by the seeding", counts.archived ?? 0)],
    facts: counts,
  };
}

async function measure(urls: RegionUrls, options: BenchOptions): Promise<ScenarioResult> {
  const pools = { us: openPool(urls.us), eu: openPool(urls.eu) };
  closeLater(() => Promise.all(Object.values(pools).map((pool) => pool.end())));
  // Databases that an earlier version has filled are brought to this one's.
  for (const region of REGIONS) await migrate({ connectionString: urls[region], region });
  for (const pool of Object.values(pools)) await sumAll(pool);
  const known = await readKnown(pools.us);
  const counts = await countSeeded(pools.us);
  const version = await pools.us.query<{ server_version: string }>("SHOW server_version");
  progress("building the console");
  await buildConsole();
  const person = await makePerson(pools.us);
  closeLater(keepSampling(pools));
  const server = await startConsole(urls);
  closeLater(() => server.stop());
  progress(`${options.calls} calls of each read`);
  const reads = await timeReads(server, person, readsOf(known), options.calls);
  for (const read of reads) progress(wordsOf(read));
  const scripts = await weighPages(server, person, known);
  progress("the overview in a browser");
  const openings = await timeOverview(server, person, OPENINGS);
  const worst = reads.toSorted((one, two) => two.p95Ms - one.p95Ms)[0];
  const heaviest = scripts.toSorted((one, two) => two.kB - one.kB)[0];
  return {
    goals: [
      ...reads.map((read) => atMost(`${read.name}: p95, ms`, read.p95Ms, READ_GOAL_MS)),
      atMost(
        "calls that were not answered as they should",
        reads.reduce((sum, { failures }) => sum + failures, 0),
        0,
      ),
      atMost(`slowest read (${worst?.name}): p95, ms`, worst?.p95Ms ?? Number.NaN, READ_GOAL_MS),
      atMost("overview usable in a browser: median, ms", medianMs(openings), USABLE_GOAL_MS),
      atMost(
        `first script of the heaviest page (${heaviest?.page}), kB`,
        heaviest?.kB ?? Number.NaN,
        SCRIPT_GOAL_KB,
      ),
    ],
    facts: {
      ...counts,
      ...machineFacts({ version: version.rows[0]?.server_version ?? "unknown" }),
      reads,
      openingsMs: openings.map(Math.round),
      scripts,
    },
  };
}

function wordsOf({ name, p50Ms, p95Ms, coldMs, failures, failure }: Timed): string {
  const failed = failures > 0 ? `, ${failures} FAILED: ${failure}` : "";
  return `${name}: p50 ${p50Ms} p95 ${p95Ms} cold ${coldMs} ms${failed}`;
}

function openPool(connectionString: string): Pool {
  return createPool({ connectionString, max: 2, applicationName: "sluice-bench" });
}

/** What a worker does beside sending: without it the region would look dead, and its samples would end. Returns how to stop it. */
function keepSampling(pools: { readonly us: Pool; readonly eu: Pool }): () => Promise<void> {
  let stopped = false;
  let wake: () => void = () => undefined;
  const loop = async () => {
    while (!stopped) {
      for (const region of ["us", "eu"] as const) {
        await beat(pools[region], region);
        await sampleAll(pools[region], region);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, SAMPLE_EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop().catch((error: unknown) => progress(`the sampling ended: ${String(error)}`));
  return async () => {
    stopped = true;
    wake();
    await running;
  };
}
