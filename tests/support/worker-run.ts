/**
 * A worker inside the test's own process, with its real database, real graphile-worker and real sockets.
 * Its log goes into memory. Stop every worker before its database is dropped.
 */
import { Writable } from "node:stream";
import pino from "pino";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { ALL_ON, type WorkerSettings, type WorkerSwitches } from "#worker/config.ts";
import type { Logger } from "#worker/log.ts";
import { type RunningWorker, startWorker } from "#worker/start-worker.ts";
import type { TestDatabase } from "./database.ts";
import { TEST_KEYRING } from "./factories.ts";

export type LogLine = Readonly<Record<string, unknown>>;

export interface CapturedLog {
  readonly log: Logger;
  /** Every line so far, parsed. */
  lines(): LogLine[];
  /** Every line so far as it would stand on standard output. */
  text(): string;
}

/** A log like the worker's own that keeps its lines. */
export function captureLog(level = "info"): CapturedLog {
  const chunks: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString("utf8"));
      done();
    },
  });
  const log = Object.assign(pino({ level, base: null }, sink), { flush: () => {} });
  return {
    log,
    lines: () =>
      chunks
        .join("")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as LogLine),
    text: () => chunks.join(""),
  };
}

export interface TestWorkerOptions extends Partial<Omit<WorkerSettings, "switches">> {
  /** Parts to switch off; all others are on. */
  readonly off?: readonly (keyof WorkerSwitches)[];
}

export interface TestWorker extends RunningWorker {
  readonly captured: CapturedLog;
}

/** Starts a worker on the database. Probe, timers, hints, reconciler and sampler are on unless switched off. */
export async function startTestWorker(
  database: Pick<TestDatabase, "region" | "connectionString">,
  options: TestWorkerOptions = {},
): Promise<TestWorker> {
  const { off = [], ...given } = options;
  const captured = captureLog();
  const worker = await startWorker(
    {
      region: database.region,
      connectionString: database.connectionString,
      directConnectionString: database.connectionString,
      keyring: TEST_KEYRING,
      sendingRules: LOCAL_SENDING_RULES,
      slots: 64,
      drainMs: 1_000,
      probeMs: 100,
      healthPort: null,
      logLevel: "info",
      switches: { ...ALL_ON, ...Object.fromEntries(off.map((name) => [name, false])) },
      ...given,
    },
    { log: captured.log },
  );
  return { ...worker, captured };
}
