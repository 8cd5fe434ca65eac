/**
 * One seed, one run: a world drawn from it, a number of steps with faults, then calm until everything has ended.
 * The answer depends on the seed and the options alone.
 */
import { createKeyring, sealSecret } from "#db/secrets.ts";
import { REGIONS } from "#domain/region.ts";
import type { Logger } from "#worker/log.ts";
import type { Bug } from "./bugs.ts";
import { judgeEnd } from "./check/final.ts";
import { addMet, countMet, type Met, nothingMet } from "./check/met.ts";
import { type Violation, Violations } from "./check/violations.ts";
import { SeededRandom } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { SimRegion } from "./world/region.ts";
import { drawScenario } from "./world/scenario.ts";
import { CALM, drawWeather, type Weather } from "./world/weather.ts";

const SECOND = 1_000_000;
/** 2027-01-01, at noon. Any moment would do. */
const START_US = Date.UTC(2027, 0, 1, 12) * 1_000;
/** Once it is calm, everything has to end within this time, whatever its limits; in a long run, in that many times it. */
const CALM_LIMIT_US = 30 * SECOND;
const MAX_STEPS = 200_000;
const TWO_REGIONS_CHANCE = 0.15;

const KEY = Buffer.alloc(32, 7).toString("base64");
const KEYRING = createKeyring({ keys: { sim: KEY }, current: "sim" });
const SEALED_SECRET = sealSecret(KEYRING, `whsec_${Buffer.alloc(32, 9).toString("base64")}`);

export interface SeedOptions {
  /** Steps with faults. */
  readonly steps: number;
  readonly bug?: Bug;
  readonly log?: (line: string) => void;
}

export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly met: Met;
  readonly violations: readonly Violation[];
}

export async function runSeed(seed: number, options: SeedOptions): Promise<SeedResult> {
  const scheduler = new Scheduler(START_US);
  const violations = new Violations(() => ({ atUs: scheduler.nowUs, step: scheduler.steps }));
  const random = new SeededRandom(seed);
  let weather: Weather = drawWeather(random);
  const regions = (random.chance(TWO_REGIONS_CHANCE) ? REGIONS : REGIONS.slice(0, 1)).map(
    (region, stream) => {
      const own = new SeededRandom(seed, stream + 1);
      return new SimRegion({
        region,
        scenario: drawScenario(own),
        scheduler,
        random: own,
        weather: () => weather,
        violations,
        keyring: KEYRING,
        sealedSecret: SEALED_SECRET,
        log: logOf(scheduler, options.log),
        bug: options.bug ?? null,
      });
    },
  );
  for (const region of regions) region.begin();
  const length = Math.max(...regions.map((region) => region.length));
  const steps = options.steps * length;
  while (scheduler.steps < steps && !violations.any && (await scheduler.step()));
  weather = CALM;
  for (const region of regions) region.calm();
  const untilUs = scheduler.nowUs + CALM_LIMIT_US * length;
  const waits = () =>
    scheduler.nowUs < untilUs && scheduler.steps < MAX_STEPS && regions.some(({ hasWork }) => hasWork);
  while (waits() && !violations.any && (await scheduler.step()));
  if (!violations.any) judge(regions, violations);
  return {
    seed,
    steps: scheduler.steps,
    deliveries: sum(regions, ({ watch }) => watch.enqueued.size),
    requests: sum(regions, ({ watch }) =>
      [...watch.requests.sent.values()].reduce((n, { size }) => n + size, 0),
    ),
    met: metOf(regions),
    violations: violations.list,
  };
}

function judge(regions: readonly SimRegion[], violations: Violations): void {
  for (const region of regions) {
    const { tables, watch, erased } = region;
    const left = [...tables.deliveries.values()].map(
      ({ id, state, lane }) => `${id.slice(-6)} ${state} ${lane}`,
    );
    if (left.length > 0)
      violations.add("liveness", `${left.length} have not ended: ${left.slice(0, 5).join(", ")}`);
    judgeEnd({
      tables,
      watch,
      violations,
      erased,
      receiverOf: (id) => region.receiverOf(id),
      maxFailures: region.maxFailures,
    });
  }
}

function metOf(regions: readonly SimRegion[]): Met {
  const met = nothingMet();
  for (const { tables, receivers } of regions) addMet(met, countMet(tables, receivers));
  return met;
}

function sum<T>(list: readonly T[], of: (item: T) => number): number {
  return list.reduce((total, item) => total + of(item), 0);
}

function logOf(scheduler: Scheduler, write: SeedOptions["log"]): Logger {
  const line = (level: string) => (fields: object, text: string) => {
    write?.(
      `${((scheduler.nowUs - START_US) / 1_000).toFixed(3)} ms #${scheduler.steps} ${level} ${text} ${JSON.stringify(fields)}`,
    );
  };
  const levels = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  return { ...levels, isLevelEnabled: () => write !== undefined, flush() {} } as unknown as Logger;
}
