/**
 * Keeps graphile-worker's runner alive for as long as we are: a database restart ends its pool, and then a new one is
 * started with backoff. The dispatch job only wakes the dispatcher and returns, so graphile's own job locks (4 hours
 * after a kill) never matter. No named queue and no localQueue may be used.
 */
import { EventEmitter } from "node:events";
import {
  Logger as GraphileLogger,
  type Runner,
  run,
  runMigrations,
  type Task,
  type WorkerEvents,
} from "graphile-worker";
import type { Pool } from "pg";
import { DISPATCH_TASK, isWakeJobOverdue } from "#db/queue/wake-job.ts";
import { releasingOnce } from "./graphile-pool.ts";
import type { Logger } from "./log.ts";

const CONCURRENT_JOBS = 4;
const POLL_MS = 2_000;
const FIRST_BACKOFF_MS = 200;
const BACKOFF_CAP_MS = 5_000;
/** A due wake-up that nobody fetches for this long, seen twice, means that the runner is alive in name only. */
const SILENCE_MS = 5_000;
const SILENCE_CHECK_MS = 3_000;
/** A runner that lived this long starts the backoff anew. */
const HEALTHY_MS = 10_000;

/**
 * Without batches graphile-worker does not look at how the completion of a job ends: a connection that is lost just then
 * would be an unhandled rejection and end the process. With them it ends the runner, and we start the next one.
 */
const BATCHED = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

/** A job of another room that runs in this worker, such as the demo's hold sweep. */
export interface ExtraTask {
  readonly identifier: string;
  readonly task: Task;
  /** A line of graphile-worker's crontab, or null for none. */
  readonly crontab: string | null;
}

export class Supervisor {
  #runner: Runner | null = null;
  #stopping = false;
  #loop: Promise<void> | null = null;
  #wakeUp: (() => void) | null = null;
  readonly #pool: Pool;
  readonly #tasks: Record<string, Task>;
  readonly #crontab: string;
  readonly #log: Logger;
  readonly #logger: GraphileLogger;

  constructor(pool: Pool, onDispatch: () => void, extra: readonly ExtraTask[], log: Logger) {
    this.#pool = pool;
    this.#log = log;
    this.#tasks = { [DISPATCH_TASK]: async () => onDispatch() };
    for (const { identifier, task } of extra) this.#tasks[identifier] = task;
    this.#crontab = extra
      .map(({ crontab }) => crontab)
      .filter((line) => line !== null)
      .join("\n");
    this.#logger = new GraphileLogger(() => (level, message) => {
      // Its messages may hold a job's error; ours are only worth a line when they are errors.
      if (level === "error")
        log.warn({ event: "graphile", message: message.slice(0, 500) }, "graphile-worker");
    });
  }

  /** Installs or migrates graphile-worker's schema. Two workers that start at once both come up. */
  async install(): Promise<void> {
    await runMigrations({ pgPool: this.#pool, logger: this.#logger });
  }

  start(): void {
    this.#loop = this.#keepRunning();
  }

  /** Ends the runner; running tasks are waited for. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wakeUp?.();
    await this.#runner?.stop().catch(() => undefined);
    await this.#loop;
  }

  async #keepRunning(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!this.#stopping) {
      const begunAt = performance.now();
      const events: WorkerEvents = new EventEmitter();
      const stuck = this.#stuck(events);
      try {
        this.#runner = await run({
          events,
          pgPool: releasingOnce(this.#pool),
          taskList: this.#tasks,
          crontab: this.#crontab,
          concurrency: CONCURRENT_JOBS,
          pollInterval: POLL_MS,
          noHandleSignals: true,
          preset: BATCHED,
          logger: this.#logger,
        });
        // Told to stop while this one was starting: there was nothing to stop yet.
        if (this.#stopping) await this.#runner.stop();
        await Promise.race([this.#runner.promise, stuck, this.#silence(this.#runner.promise)]);
      } catch (error) {
        if (!this.#stopping)
          this.#log.warn({ event: "runner_failed", error: String(error) }, "graphile-worker's runner failed");
      }
      this.#runner = null;
      if (this.#stopping) return;
      backoffMs =
        performance.now() - begunAt > HEALTHY_MS ? FIRST_BACKOFF_MS : Math.min(backoffMs * 2, BACKOFF_CAP_MS);
      this.#log.warn(
        { event: "runner_ended", againInMs: backoffMs },
        "graphile-worker's runner ended; starting a new one",
      );
      await this.#pause(backoffMs);
    }
  }

  /**
   * Resolves when the runner can never fetch again. graphile-worker looks its tasks up once for each runner and keeps the
   * promise: when the connection breaks in that moment, every later fetch fails with that same error, for ever. A look-up
   * that is repeated gives an error of its own each time, so the same object twice is the sign. The old runner is told to
   * stop and not waited for.
   */
  async #stuck(events: WorkerEvents): Promise<void> {
    const error = await sameErrorTwice(events);
    if (this.#stopping) return;
    this.#log.warn(
      { event: "runner_stuck", error: String(error) },
      "graphile-worker's runner keeps a failed look-up of its tasks",
    );
    void this.#runner?.stop().catch(() => undefined);
  }

  /**
   * A net for what nobody thought of: resolves when the runner lives but fetches nothing, by a wake-up that is due and
   * stays. The old one is told to stop and not waited for.
   */
  async #silence(ended: Promise<void>): Promise<void> {
    let over = false;
    const done = () => {
      over = true;
    };
    ended.then(done, done);
    for (let overdue = 0; !over && !this.#stopping; ) {
      await new Promise((resolve) => setTimeout(resolve, SILENCE_CHECK_MS).unref());
      overdue = (await isWakeJobOverdue(this.#pool, SILENCE_MS).catch(() => false)) ? overdue + 1 : 0;
      if (over || this.#stopping || overdue < 2) continue;
      this.#log.warn({ event: "runner_silent" }, "graphile-worker's runner fetches nothing");
      void this.#runner?.stop().catch(() => undefined);
      return;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Resolves a moment after the second fetch that failed with one and the same error object. */
function sameErrorTwice(events: WorkerEvents): Promise<object> {
  const seen = new WeakSet<object>();
  return new Promise((resolve) => {
    events.on("worker:getJob:error", ({ error }) => {
      if (typeof error !== "object" || error === null) return;
      // All of its workers hear of it now, one after the other; stopped in between, the rest would end with the error.
      if (seen.has(error)) setImmediate(resolve, error);
      seen.add(error);
    });
  });
}
