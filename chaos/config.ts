/** Settings of a chaos run from the command line and the environment. Every number has a bound, so a run always ends. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { type Environment, readRegionUrls } from "#db/config.ts";
import { ALL_KINDS, type FaultKind, SERVER_KINDS } from "./kinds.ts";

export interface ChaosOptions {
  /** Faults that must take effect. */
  readonly faults: number;
  /** The load goes on at least this long. */
  readonly seconds: number;
  /** Deliveries written each second, both regions together. */
  readonly perSecond: number;
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  /** Worker processes of each region. */
  readonly workers: number;
  readonly json: boolean;
  /** File that takes the whole evidence as JSON, for a look at what a check has found. */
  readonly evidenceFile: string | null;
  /** Every line of what happens goes to standard error. */
  readonly verbose: boolean;
  /** Databases beside these are used in place of an embedded server; then it cannot be restarted. */
  readonly serverUrls: { readonly us: string; readonly eu: string } | null;
}

/** The load is kept up until there are this many deliveries for each fault: 200 faults, 50,000 deliveries. */
export const DELIVERIES_PER_FAULT = 250;
const DEFAULT_FAULTS = 200;
const DEFAULT_PER_SECOND = 300;
const DEFAULT_WORKERS = 3;
const MAX_FAULTS = 5_000;
const MAX_SECONDS = 7_200;
const MAX_PER_SECOND = 2_000;
const MAX_WORKERS = 8;
const MAX_SEED = 2 ** 31;

/** @throws Error with one line for arguments that make no sense */
export function readOptions(args: readonly string[], env: Environment = process.env): ChaosOptions {
  const option = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      faults: option,
      seconds: option,
      seed: option,
      kinds: option,
      workers: option,
      "per-second": option,
      evidence: option,
      json: { type: "boolean", default: false },
      verbose: { type: "boolean", default: false },
    },
  });
  const number = (
    name: "faults" | "seconds" | "seed" | "workers" | "per-second",
    most: number,
    preset: number,
  ) => {
    const value = values[name] === undefined ? preset : Number(values[name]);
    const least = name === "seed" ? 0 : 1;
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
    }
    return value;
  };
  const faults = number("faults", MAX_FAULTS, DEFAULT_FAULTS);
  const serverUrls = env.DATABASE_URL_US && env.DATABASE_URL_EU ? readRegionUrls(env) : null;
  return {
    faults,
    seconds: number("seconds", MAX_SECONDS, faults),
    perSecond: number("per-second", MAX_PER_SECOND, DEFAULT_PER_SECOND),
    seed: number("seed", MAX_SEED, randomInt(MAX_SEED)),
    workers: number("workers", MAX_WORKERS, DEFAULT_WORKERS),
    kinds: readKinds(values.kinds, faults, serverUrls !== null),
    json: values.json,
    evidenceFile: values.evidence ?? null,
    verbose: values.verbose,
    serverUrls,
  };
}

function readKinds(text: string | undefined, faults: number, isGivenServer: boolean): FaultKind[] {
  const possible = ALL_KINDS.filter((kind) => !isGivenServer || !SERVER_KINDS.has(kind));
  const kinds = text === undefined ? possible : text.split(",").map((word) => word.trim());
  for (const kind of kinds) {
    if (!possible.includes(kind as FaultKind))
      throw new Error(`--kinds: ${kind} is none of ${possible.join(", ")}`);
  }
  if (kinds.length > faults) {
    throw new Error(
      `--faults ${faults} is too few for ${kinds.length} kinds: each must happen (or name --kinds)`,
    );
  }
  return kinds as FaultKind[];
}
