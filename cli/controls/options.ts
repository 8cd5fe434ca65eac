/**
 * The options that all control verbs share, and how an answer is printed. It must never print a change as applied that
 * was not proven.
 */
import { parseArgs } from "node:util";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import { isRegion, parseRegion, type Region } from "#domain/region.ts";
import { UsageError } from "../command.ts";

/** For the help of a verb. */
export const SHARED_HELP = `  --region <us|eu>       the region; each has its own controls
  --reason <text>        why, 10 to 500 characters; kept in the audit
  --ticket <text>        the ticket it belongs to
  --if-version <n>       refuse when the row has another version; default: the version read a moment before
  --json                 print JSON, one object for each change

With a service token in SLUICE_TOKEN it goes through the API at SLUICE_CONSOLE_URL, as that token. Without one, or with an
empty one, it goes to the region's database as cli:<your user>: the way for a night on which the console is down.`;

const SHARED = {
  region: { type: "string" },
  reason: { type: "string" },
  ticket: { type: "string" },
  "if-version": { type: "string" },
  json: { type: "boolean", default: false },
} as const;

type OptionTypes = Readonly<
  Record<string, { readonly type: "string" | "boolean"; readonly default?: boolean }>
>;

export interface ControlArgs {
  readonly region: Region;
  readonly words: readonly string[];
  readonly json: boolean;
  /** Undefined when it was not given: the command says what is missing. */
  readonly reason: string | undefined;
  readonly ticket: string | undefined;
  readonly ifVersion: number | undefined;
  /** The verb's own options. */
  text(name: string): string | undefined;
  flag(name: string): boolean;
}

/** @throws UsageError when the region is missing or wrong, or the number of words does not fit */
export function readControlArgs(
  args: string[],
  wanted: { readonly words: readonly string[]; readonly options?: OptionTypes },
): ControlArgs {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...SHARED, ...wanted.options },
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const region = given.region;
  if (typeof region !== "string") throw new UsageError("--region is missing: us or eu");
  if (!isRegion(region.toLowerCase())) throw new UsageError("--region must be us or eu");
  if (positionals.length !== wanted.words.length) {
    throw new UsageError(`expected ${wanted.words.join(" ")}, got ${positionals.length} words`);
  }
  const text = (name: string) => (typeof given[name] === "string" ? given[name] : undefined);
  return {
    region: parseRegion(region),
    words: positionals,
    json: given.json === true,
    reason: text("reason"),
    ticket: text("ticket"),
    ifVersion: readVersion(text("if-version")),
    text,
    flag: (name) => given[name] === true,
  };
}

/** What every change carries, with the version that was asked for or else the one that was read. */
export function changeOf(
  args: ControlArgs,
  version: number,
): { version: number; reason: string; ticket?: string } {
  if (args.reason === undefined)
    throw new UsageError("--reason is missing: say why, in 10 to 500 characters");
  return {
    version: args.ifVersion ?? version,
    reason: args.reason,
    ...(args.ticket === undefined ? {} : { ticket: args.ticket }),
  };
}

/** Reason and ticket, for what has no version. */
export function reasonOf(args: ControlArgs): { reason: string; ticket?: string } {
  const { version: _version, ...rest } = changeOf(args, 1);
  return rest;
}

/**
 * Prints what was done. `sentence` is the change in words, without a full stop.
 * @returns the exit code: 1 when the change is stored but the barrier could not be passed in time
 */
export function printAnswer(args: ControlArgs, sentence: string, answer: CommandAnswer): number {
  if (args.json) {
    console.log(JSON.stringify({ region: args.region, ...answer }));
  } else {
    const version = answer.version === null ? "" : `version ${answer.version}, `;
    console.log(`${args.region}: ${sentence} (${version}audit ${answer.auditId})`);
  }
  if (answer.applied) return 0;
  console.error(
    "sluice: the change is stored and counts for every new claim, but older claims were still going on after 10 s; nothing is proven yet",
  );
  return 1;
}

function readVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError("--if-version must be a whole number");
  return Number(text);
}

/** `concurrencyInForce` -> "concurrency in force". */
function inWords(field: string): string {
  return field.replace(/[A-Z0-9]+/g, (part) => ` ${part.toLowerCase()}`);
}

/** Prints the values that stand: words for people, the fields as they are called for programs. */
export function show(asked: ControlArgs, control: object): number {
  if (asked.json) {
    console.log(JSON.stringify({ region: asked.region, ...control }));
    return 0;
  }
  for (const [field, value] of Object.entries(control))
    console.log(`${inWords(field).padEnd(24)}${value ?? "-"}`);
  return 0;
}
