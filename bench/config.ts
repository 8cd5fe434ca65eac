/** Settings of the bench from the command line and the environment; sizes have bounds so that a run always ends. */
import { parseArgs } from "node:util";
import { type Environment, readRegionUrl } from "#db/config.ts";
import type { Region } from "#domain/region.ts";

export interface BenchOptions {
  readonly rounds: number;
  readonly deliveries: number;
  readonly destinations: number;
  readonly bodyBytes: number;
  readonly slots: number;
  readonly perSecond: number;
  /** Of each destination, in `replay`. */
  readonly replayed: number;
  readonly seconds: number;
  readonly minutes: number;
  /** Rows that only wait, in `backlog`. */
  readonly delayed: number;
  /** Finished deliveries, and as many attempts, in `backlog` and `console`. */
  readonly archived: number;
  /** Tenants and live deliveries of `console`. */
  readonly tenants: number;
  readonly live: number;
  /** Calls of each read of `console`. */
  readonly calls: number;
  /** `console`: fill the databases of DATABASE_URL_US and DATABASE_URL_EU and leave them. */
  readonly seedOnly: boolean;
  /** `console`: measure on those databases, which were filled before. */
  readonly seeded: boolean;
  /** Whether other queues are measured too. */
  readonly peers: boolean;
}

export interface BenchCommand {
  readonly scenario: string;
  readonly json: boolean;
  /** File that gets a JSON line for each result; null for none. */
  readonly out: string | null;
  /** What was given on the command line, without the defaults. */
  readonly given: Partial<BenchOptions>;
  /** The same as words, for a child. */
  readonly givenArgs: readonly string[];
}

export const GENERAL_DEFAULTS: BenchOptions = {
  rounds: 5,
  deliveries: 20_000,
  destinations: 1_000,
  bodyBytes: 1_024,
  slots: 1_024,
  perSecond: 150,
  replayed: 1,
  seconds: 20,
  minutes: 30,
  delayed: 1_000_000,
  archived: 10_000_000,
  tenants: 1_000,
  live: 200_000,
  calls: 60,
  seedOnly: false,
  seeded: false,
  peers: true,
};

const SWITCHES = { seedOnly: "seed-only", seeded: "seeded" } as const;
type NumberOption = Exclude<keyof BenchOptions, "peers" | keyof typeof SWITCHES>;

/** Name on the command line and the largest value of each size. */
const SIZES: Readonly<Record<NumberOption, { readonly flag: string; readonly max: number }>> = {
  rounds: { flag: "rounds", max: 25 },
  deliveries: { flag: "deliveries", max: 500_000 },
  destinations: { flag: "destinations", max: 50_000 },
  bodyBytes: { flag: "body-bytes", max: 262_144 },
  slots: { flag: "slots", max: 2_000 },
  perSecond: { flag: "per-second", max: 2_000 },
  replayed: { flag: "replayed-per-second", max: 50 },
  seconds: { flag: "seconds", max: 600 },
  minutes: { flag: "minutes", max: 240 },
  delayed: { flag: "delayed", max: 10_000_000 },
  archived: { flag: "archived", max: 100_000_000 },
  tenants: { flag: "tenants", max: 10_000 },
  live: { flag: "live", max: 5_000_000 },
  calls: { flag: "calls", max: 1_000 },
};
const NUMBERS = Object.keys(SIZES) as NumberOption[];

/** A server to bench on, in place of an embedded one. Only scratch databases beside the named one are used. */
export function givenDatabaseUrl(env: NodeJS.ProcessEnv = process.env): string | null {
  return env.DATABASE_URL_US ? readRegionUrl("us", env) : null;
}

/**
 * The two region databases that `console` fills and reads when they are given, in place of scratch ones.
 * @throws Error when one is missing
 */
export function givenConsoleUrls(env: Environment = process.env): Readonly<Record<Region, string>> {
  return { us: readRegionUrl("us", env), eu: readRegionUrl("eu", env) };
}

/** The environment of the console that is measured: this one's without databases and sign-in, plus what is given. */
export function consoleEnvironment(
  extra: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const {
    DATABASE_URL_US: _us,
    DATABASE_URL_EU: _eu,
    CONSOLE_DATABASE_URL: _console,
    SLUICE_OIDC_ISSUER: _issuer,
    ...rest
  } = env;
  return { ...rest, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...extra };
}

/** Where programs are looked for. */
export function searchPath(env: NodeJS.ProcessEnv = process.env): string {
  return env.PATH ?? "";
}

/** @throws Error with one line for bad arguments */
export function readCommand(args: readonly string[]): BenchCommand {
  const option = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      out: option,
      "no-peers": { type: "boolean", default: false },
      ...Object.fromEntries(
        Object.values(SWITCHES).map((flag) => [flag, { type: "boolean" as const, default: false }]),
      ),
      ...Object.fromEntries(NUMBERS.map((name) => [SIZES[name].flag, option])),
    },
  });
  if (positionals.length > 1) throw new Error(`one scenario at a time, not ${positionals.join(", ")}`);
  const texts = values as Readonly<Record<string, string | boolean | undefined>>;
  const given: Partial<Record<keyof BenchOptions, number | boolean>> = {};
  const givenArgs: string[] = [];
  for (const name of NUMBERS) {
    const { flag, max } = SIZES[name];
    const text = texts[flag];
    if (text === undefined) continue;
    const value = Number(text);
    if (text === "" || !Number.isInteger(value) || value < 1 || value > max) {
      throw new Error(`--${flag} must be a whole number from 1 to ${max}`);
    }
    given[name] = value;
    givenArgs.push(`--${flag}`, String(value));
  }
  for (const name of Object.keys(SWITCHES) as (keyof typeof SWITCHES)[]) {
    if (texts[SWITCHES[name]] !== true) continue;
    given[name] = true;
    givenArgs.push(`--${SWITCHES[name]}`);
  }
  if (values["no-peers"] === true) {
    given.peers = false;
    givenArgs.push("--no-peers");
  }
  return {
    scenario: positionals[0] ?? "all",
    json: values.json === true,
    out: typeof values.out === "string" ? values.out : null,
    given: given as Partial<BenchOptions>,
    givenArgs,
  };
}

/** What was given wins over the scenario's own sizes, and those over the general ones. */
export function optionsFor(defaults: Partial<BenchOptions>, given: Partial<BenchOptions>): BenchOptions {
  return { ...GENERAL_DEFAULTS, ...defaults, ...given };
}
