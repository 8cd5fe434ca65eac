#!/usr/bin/env node
/**
 * The command line: finds the verb and runs it. Each verb is loaded only when it is called, so that `--help` needs
 * neither a database nor the framework. It must never hold a verb's work itself.
 */
import { readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isSluiceError } from "#domain/errors.ts";
import { type Command, Refused, UsageError } from "./command.ts";
import { adoptRunningSystem, ROOT } from "./config.ts";

interface Verb {
  summary: string;
  load(): Promise<Command>;
}

const VERBS: Readonly<Record<string, Verb>> = {
  up: {
    summary: "start everything here: database, migrations, demo data, console, workers, receiver, traffic",
    load: () => import("./commands/up.ts"),
  },
  migrate: {
    summary: "apply the migrations to one region or both",
    load: () => import("./commands/migrate.ts"),
  },
  seed: { summary: "write the demo's tenants and destinations", load: () => import("./commands/seed.ts") },
  worker: { summary: "run a worker of one region", load: () => import("./commands/worker.ts") },
  receiver: { summary: "run the demo's receiving endpoint", load: () => import("./commands/receiver.ts") },
  traffic: { summary: "create demo business in both regions", load: () => import("./commands/traffic.ts") },
  secrets: {
    summary: "which keys seal the signing secrets, and sealing them anew",
    load: () => import("./commands/secrets.ts"),
  },
  console: { summary: "serve the built console", load: () => import("./commands/console.ts") },
  users: { summary: "people, their roles and scopes", load: () => import("./commands/users.ts") },
  token: { summary: "service tokens for programs", load: () => import("./commands/token.ts") },
  doctor: { summary: "check this machine and the databases", load: () => import("./commands/doctor.ts") },
  pause: {
    summary: "hold a tenant, a destination or a region's claims",
    load: () => import("./commands/pause.ts"),
  },
  resume: { summary: "end a pause; what has piled up ramps", load: () => import("./commands/resume.ts") },
  limits: {
    summary: "show or change limits of a tenant or destination",
    load: () => import("./commands/limits.ts"),
  },
  gate: { summary: "open a destination's gate before its time", load: () => import("./commands/gate.ts") },
  destination: {
    summary: "enable or disable a destination",
    load: () => import("./commands/destination.ts"),
  },
  drain: {
    summary: "stop a region's claims and prove that no lease is left",
    load: () => import("./commands/drain.ts"),
  },
  erase: {
    summary: "erase or restrict a payload in its one place",
    load: () => import("./commands/erase.ts"),
  },
  delivery: {
    summary: "one delivery: retry, cancel, will-not-replay",
    load: () => import("./commands/delivery.ts"),
  },
  "retry-now": {
    summary: "make a delayed delivery due now",
    load: () => import("./commands/retry-now.ts"),
  },
  cancel: {
    summary: "end a waiting delivery without sending it",
    load: () => import("./commands/cancel.ts"),
  },
  "will-not-replay": {
    summary: "say of a dead letter that it will not be sent again",
    load: () => import("./commands/will-not-replay.ts"),
  },
  replay: {
    summary: "reviewed batches that send dead letters again, by the API",
    load: () => import("./commands/replay.ts"),
  },
  rehearse: {
    summary: "run a drill against a running console: a reviewed replay from its dead letters to its report",
    load: () => import("./commands/rehearse.ts"),
  },
};

const EXIT_USAGE = 2;

/** Runs one command line and returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) return complain('no command given; "sluice --help" lists them', EXIT_USAGE);
  if (name === "--help" || name === "-h" || name === "help") {
    console.log(helpText());
    return 0;
  }
  if (name === "--version" || name === "-v") {
    console.log(version());
    return 0;
  }
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (!verb)
    return complain(`unknown command "${name.slice(0, 40)}"; "sluice --help" lists them`, EXIT_USAGE);
  return runVerb(name, verb, rest);
}

async function runVerb(name: string, verb: Verb, args: string[]): Promise<number> {
  try {
    if (name !== "up") adoptRunningSystem();
    const command = await verb.load();
    if (args.includes("--help") || args.includes("-h")) {
      console.log(command.help);
      return 0;
    }
    return await command.run(args);
  } catch (error) {
    if (error instanceof UsageError || isParseArgsError(error)) {
      return complain(
        `${name}: ${firstLine(error.message)}; "sluice ${name} --help" explains it`,
        EXIT_USAGE,
      );
    }
    if (isSluiceError(error)) return complain(error.detail, 1);
    if (error instanceof Refused) return complain(error.message, 1);
    const outside = outsideReason(error);
    if (outside !== null) return complain(outside, 1);
    throw error;
  }
}

/** What the system, the network or Postgres said; null for an error of our own making, which shows its stack. */
function outsideReason(error: unknown): string | null {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return null;
  const { code } = first as NodeJS.ErrnoException;
  return typeof code === "string" && /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code) ? firstLine(first.message) : null;
}

function complain(message: string, exitCode: number): number {
  console.error(`sluice: ${message}`);
  return exitCode;
}

function helpText(): string {
  const width = Math.max(...Object.keys(VERBS).map((name) => name.length)) + 2;
  const lines = Object.entries(VERBS).map(([name, verb]) => `  ${name.padEnd(width)}${verb.summary}`);
  return [
    "Usage: sluice <command> [options]",
    "",
    ...lines,
    "",
    '"sluice <command> --help" shows its options.',
  ].join("\n");
}

function version(): string {
  const manifest: { version?: string } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  return manifest.version ?? "unknown";
}

function isParseArgsError(error: unknown): error is Error {
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS");
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").replace(/\.$/, "");
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2));
}
