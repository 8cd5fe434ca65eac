/**
 * The worker processes of a region, each behind its own proxy to Postgres, and the supervisor that starts a new one
 * in the place of one that ended. It remembers what the harness did to each process: that is evidence, and a process
 * that ended without our doing is a finding.
 */
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Pool } from "pg";
import type { Region } from "#domain/region.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { type SpawnedWorker, spawnWorker } from "#tests/support/worker-process.ts";
import { type DatabaseProxy, startProxy } from "#tests/support/worker-proxy.ts";
import type { Harm } from "./evidence.ts";
import { workerOf } from "./sql.ts";

const READY_MS = 60_000;
const READY_EVERY_MS = 100;
const START_AGAIN_MS = 300;
const STOP_MS = 40_000;
const SLOTS = "64";
const SKEWED_CLOCK = path.join(
  fileURLToPath(new URL("../tests/support/", import.meta.url)),
  "worker-skewed-clock.ts",
);
const SHOWN_CHARS = 2_000;
const MAX_WORDS_CHARS = 500_000;

/** Notes that concern the whole fleet. */
export interface FleetLog {
  readonly harms: Harm[];
  /** What each process has said (warnings and worse), by its worker id. */
  readonly words: Map<string, string>;
  /** Processes that ended although nobody told them to, with their last words. */
  readonly unexpectedExits: string[];
}

export class WorkerSlot {
  readonly name: string;
  readonly region: Region;
  readonly proxy: DatabaseProxy;
  /** A fault has this worker in its hands: no other may touch it. */
  busy = false;
  #lastWords = "";
  #process: SpawnedWorker | null = null;
  #workerId: string | null = null;
  #stoppedAtMs: number | null = null;
  readonly #pool: Pool;
  readonly #log: FleetLog;

  constructor(name: string, region: Region, proxy: DatabaseProxy, pool: Pool, log: FleetLog) {
    this.name = name;
    this.region = region;
    this.proxy = proxy;
    this.#pool = pool;
    this.#log = log;
  }

  get isUp(): boolean {
    return this.#workerId !== null && this.#process?.isRunning() === true;
  }

  /** @throws Error while no process runs here */
  get workerId(): string {
    if (this.#workerId === null) throw new Error(`${this.name} is not up`);
    return this.#workerId;
  }

  /** The end of what the last process here said. */
  get lastWords(): string {
    return this.#lastWords;
  }

  /**
   * Starts a process and waits until it has registered itself. One that ends before that (it met a database that was
   * away) is started again, as any supervisor would.
   */
  async start(clockSkewMs = 0): Promise<void> {
    for (const untilMs = performance.now() + READY_MS; ; await pause(START_AGAIN_MS)) {
      if (await this.#startOnce(clockSkewMs)) return;
      if (performance.now() > untilMs) {
        throw new Error(`${this.name} does not start: ${this.#process?.output().slice(-SHOWN_CHARS)}`);
      }
    }
  }

  async #startOnce(clockSkewMs: number): Promise<boolean> {
    const sinceMs = Date.now() - 1;
    const worker = spawnWorker({
      region: this.region,
      urls: { [this.region]: this.proxy.connectionString },
      env: {
        SLUICE_LOG_LEVEL: "warn",
        SLUICE_SLOTS: SLOTS,
        ...(clockSkewMs === 0 ? {} : { SLUICE_TEST_CLOCK_SKEW_MS: String(clockSkewMs) }),
      },
      imports: clockSkewMs === 0 ? [] : [SKEWED_CLOCK],
      // It ends when we are gone.
      ipc: true,
    });
    this.#process = worker;
    void worker.exited.then(() => {
      const { workerId } = registered;
      this.#lastWords = worker.output().slice(-SHOWN_CHARS);
      if (workerId !== null) this.#log.words.set(workerId, worker.output().slice(-MAX_WORDS_CHARS));
    });
    const registered: { workerId: string | null } = { workerId: null };
    await waitFor(
      async () => {
        if (!worker.isRunning()) return true;
        registered.workerId = await workerOf(this.#pool, worker.pid, sinceMs);
        this.#workerId = registered.workerId;
        return registered.workerId !== null;
      },
      { timeoutMs: READY_MS, intervalMs: READY_EVERY_MS, what: `${this.name} to register` },
    );
    return this.#workerId !== null;
  }

  /** SIGSTOP. Whoever does this lets `stoppedFor` follow, which notes it and ends it. */
  standStill(): void {
    this.#stoppedAtMs ??= Date.now();
    this.#process?.kill("SIGSTOP");
  }

  /** SIGKILL, and a new process in its place. */
  async killAndReplace(): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    const { workerId } = this;
    const atMs = Date.now();
    process.kill("SIGKILL");
    await process.exited;
    this.#log.harms.push({ workerId, what: "killed", fromMs: atMs, toMs: Number.POSITIVE_INFINITY });
    this.#workerId = null;
    await this.start();
  }

  /** SIGTERM, and a new process in its place. Returns the exit code; null when it had to be killed. */
  async stopAndReplace(clockSkewMs = 0): Promise<number | null> {
    const code = await this.stop();
    await this.start(clockSkewMs);
    return code;
  }

  /** SIGTERM. Returns the exit code; null when it did not end in time and was killed. */
  async stop(): Promise<number | null> {
    const process = this.#process;
    if (process === null) return 0;
    const { workerId } = this;
    process.kill("SIGTERM");
    const late = setTimeout(() => process.kill("SIGKILL"), STOP_MS);
    const { code } = await process.exited;
    clearTimeout(late);
    if (code === null) {
      this.#log.harms.push({ workerId, what: "killed", fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY });
    }
    this.#process = null;
    this.#workerId = null;
    return code;
  }

  /** Runs `meanwhile` while the process stands still, and notes for how long it did. */
  async stoppedFor(meanwhile: () => Promise<void>): Promise<void> {
    const { workerId } = this;
    this.standStill();
    const fromMs = this.#stoppedAtMs ?? Date.now();
    try {
      await meanwhile();
    } finally {
      this.#log.harms.push({ workerId, what: "stopped", fromMs, toMs: Date.now() });
      this.#stoppedAtMs = null;
      this.#process?.kill("SIGCONT");
    }
  }

  /** Runs `meanwhile` while nothing passes between the process and Postgres, and notes for how long that was. */
  async cutFor(meanwhile: () => Promise<void>): Promise<void> {
    const { workerId } = this;
    this.proxy.freeze();
    const fromMs = Date.now();
    try {
      await meanwhile();
    } finally {
      this.#log.harms.push({ workerId, what: "cut", fromMs, toMs: Date.now() });
      this.proxy.thaw();
    }
  }

  /** Puts a new process where one ended by itself, and notes that it did. */
  async revive(): Promise<void> {
    const process = this.#process;
    if (process === null || process.isRunning() || this.busy) return;
    this.busy = true;
    try {
      const { code, signal } = await process.exited;
      const words = process.output().slice(-SHOWN_CHARS);
      this.#log.unexpectedExits.push(`${this.name} ended with ${signal ?? code}: ${words}`);
      this.#workerId = null;
      await this.start();
    } finally {
      this.busy = false;
    }
  }
}

/** Starts the workers of a region, all at once. */
export async function startFleet(
  region: Region,
  count: number,
  databaseUrl: string,
  pool: Pool,
  log: FleetLog,
): Promise<WorkerSlot[]> {
  const slots = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const proxy = await startProxy(databaseUrl);
      return new WorkerSlot(`${region}-${index + 1}`, region, proxy, pool, log);
    }),
  );
  await Promise.all(slots.map((slot) => slot.start()));
  return slots;
}
