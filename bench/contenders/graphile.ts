/**
 * graphile-worker with one job per delivery, in three forms. Tuned after its own page on performance (localQueue, batched
 * completion, the same undici dispatcher), the body in the job and nothing recorded. Recorded: tuned alike, and each job
 * reads its delivery's row and records the attempt, as Sluice does. Defaults: as its documentation starts, with fetch.
 */
import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from "graphile-worker";
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { analyzePeer, anyGraphileJobs, clearGraphile } from "../lib/peer-sql/sql.ts";
import { checkpoint } from "../lib/sql.ts";
import { untilTrue } from "../lib/wait.ts";
import { type Contender, jobChunks, MAX_RUN_MS, type Tunable } from "./contender.ts";
import {
  clearRecords,
  insertDeliveries,
  makeRecordTables,
  readDelivery,
  recordDelivered,
} from "./recorded/sql.ts";
import { type BenchJob, fetchJob, type SendContext, sendJob, sendOne } from "./send.ts";

export interface GraphileSettings {
  readonly concurrentJobs: number;
  readonly localQueueSize: number;
  readonly completeJobBatchDelayMs: number;
}

export const GRAPHILE_CANDIDATES: readonly GraphileSettings[] = [
  { concurrentJobs: 64, localQueueSize: 500, completeJobBatchDelayMs: 0 },
  { concurrentJobs: 128, localQueueSize: 500, completeJobBatchDelayMs: 0 },
  { concurrentJobs: 128, localQueueSize: 1_000, completeJobBatchDelayMs: 5 },
  { concurrentJobs: 256, localQueueSize: 2_000, completeJobBatchDelayMs: 5 },
];
const TASK = "send";
const POOL_MAX = 20;
const DEFAULT_POOL_MAX = 10;
const DRAINED_POLL_MS = 5;
const SILENT = new Logger(() => () => {});

/** How one form of it puts deliveries in place and sends them. */
interface Form {
  readonly name: string;
  readonly poolMax: number;
  /** Part of its preset for the settings in force. */
  preset(settings: GraphileSettings): object;
  /** Empties and prepares its own tables, where it has any. */
  clear?(pool: Pool): Promise<void>;
  /** Writes its own rows for jobs that are about to be added; returns the jobs' payloads. */
  write?(pool: Pool, jobs: readonly BenchJob[]): Promise<readonly unknown[]>;
  send(pool: Pool, payload: unknown): Promise<void>;
}

function tuned(settings: GraphileSettings): object {
  return {
    worker: {
      concurrentJobs: settings.concurrentJobs,
      localQueue: { size: settings.localQueueSize },
      completeJobBatchDelay: settings.completeJobBatchDelayMs,
      failJobBatchDelay: settings.completeJobBatchDelayMs,
    },
  };
}

/** @param url an empty database of its own. @throws what Postgres throws when the schema cannot be installed */
export function createTunedGraphile(context: SendContext, url: string): Promise<Tunable<GraphileSettings>> {
  return open(context, url, {
    name: "graphile-tuned",
    poolMax: POOL_MAX,
    preset: tuned,
    send: (_pool, payload) => sendJob(context, payload as BenchJob),
  });
}

/** The same with a row for each delivery and one for each attempt. @param url an empty database of its own */
export function createRecordedGraphile(
  context: SendContext,
  url: string,
): Promise<Tunable<GraphileSettings>> {
  let made = false;
  return open(context, url, {
    name: "graphile-recorded",
    poolMax: POOL_MAX,
    preset: tuned,
    async clear(pool) {
      if (!made) await makeRecordTables(pool);
      made = true;
      await clearRecords(pool);
    },
    async write(pool, jobs) {
      await insertDeliveries(pool, jobs);
      return jobs.map(({ id }) => ({ id }));
    },
    async send(pool, payload) {
      const { id } = payload as { id: string };
      const { n, body } = await readDelivery(pool, id);
      const begunAt = performance.now();
      await sendOne(context, id, n, body);
      await recordDelivered(pool, id, performance.now() - begunAt);
    },
  });
}

/** As a first reader of its documentation has it: 1 job at a time, 2 s poll, Node's fetch. */
export async function createDefaultGraphile(context: SendContext, url: string): Promise<Contender> {
  const graphile = await open(context, url, {
    name: "graphile-defaults",
    poolMax: DEFAULT_POOL_MAX,
    preset: () => ({}),
    send: (_pool, payload) => fetchJob(context, payload as BenchJob),
  });
  return { ...graphile, settings: () => ({ concurrentJobs: "default (1)", http: "fetch" }) };
}

async function open(context: SendContext, url: string, form: Form): Promise<Tunable<GraphileSettings>> {
  const { name, poolMax } = form;
  const pool = createPool({ connectionString: url, max: poolMax, applicationName: `bench-${name}` });
  const utils: WorkerUtils = await makeWorkerUtils({ pgPool: pool, logger: SILENT });
  await utils.migrate();
  let settings = GRAPHILE_CANDIDATES[0] as GraphileSettings;
  let runner: Runner | null = null;
  let sent = 0;
  const task = async (payload: unknown) => {
    await form.send(pool, payload);
    sent++;
  };
  return {
    name,
    settings: () => ({ ...settings, poolMax, http: "the same undici dispatcher" }),
    use(value) {
      settings = value;
    },
    async prepare(count) {
      await clearGraphile(pool);
      await form.clear?.(pool);
      await checkpoint(pool);
      for (const chunk of jobChunks(context, count)) {
        const payloads = (await form.write?.(pool, chunk)) ?? chunk;
        await utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload })));
      }
      await analyzePeer(pool);
      await warm(pool, poolMax);
      sent = 0;
    },
    async drain(count) {
      const begunAt = performance.now();
      runner = await run({
        pgPool: pool,
        taskList: { [TASK]: task },
        preset: form.preset(settings),
        noHandleSignals: true,
        logger: SILENT,
      });
      await untilTrue(async () => sent >= count, `${name} to send`, MAX_RUN_MS, DRAINED_POLL_MS);
      await untilTrue(async () => !(await anyGraphileJobs(pool)), `${name} to complete`, MAX_RUN_MS);
      return performance.now() - begunAt;
    },
    async rest() {
      await runner?.stop();
      runner = null;
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}

/** Opens the pool's connections beforehand: a running system has them. */
async function warm(pool: Pool, count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  for (const client of clients) client.release();
}
