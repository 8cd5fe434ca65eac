/** Settings of the bench from the command line and the environment; sizes have bounds so that a run always ends. */
import { parseArgs } from "node:util";
import { readRegionUrl } from "#db/config.ts";

export interface BenchOptions {
  readonly scenario: string;
  readonly json: boolean;
  readonly rounds: number;
  readonly deliveries: number;
  readonly destinations: number;
  readonly bodyBytes: number;
  readonly slots: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const DEFAULTS = {
  rounds: 5,
  deliveries: 20_000,
  destinations: 1_000,
  "body-bytes": 1_024,
  slots: 1_024,
  "per-second": 150,
  seconds: 20,
} as const;
const MAX: Readonly<Record<keyof typeof DEFAULTS, number>> = {
  rounds: 25,
  deliveries: 500_000,
  destinations: 100_000,
  "body-bytes": 262_144,
  slots: 2_000,
  "per-second": 2_000,
  seconds: 600,
};

/** A server to bench on, in place of an embedded one. Only scratch databases beside the named one are used. */
export function givenDatabaseUrl(env: NodeJS.ProcessEnv = process.env): string | null {
  return env.DATABASE_URL_US ? readRegionUrl("us", env) : null;
}

/** @throws Error with one line for bad arguments */
export function readOptions(args: readonly string[]): BenchOptions {
  const option = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      rounds: option,
      deliveries: option,
      destinations: option,
      "body-bytes": option,
      slots: option,
      "per-second": option,
      seconds: option,
    },
  });
  const number = (name: keyof typeof DEFAULTS): number => {
    const value = Number(values[name] ?? DEFAULTS[name]);
    if (!Number.isInteger(value) || value < 1 || value > MAX[name]) {
      throw new Error(`--${name} must be a whole number from 1 to ${MAX[name]}`);
    }
    return value;
  };
  return {
    scenario: positionals[0] ?? "all",
    json: values.json,
    rounds: number("rounds"),
    deliveries: number("deliveries"),
    destinations: number("destinations"),
    bodyBytes: number("body-bytes"),
    slots: number("slots"),
    perSecond: number("per-second"),
    seconds: number("seconds"),
  };
}
