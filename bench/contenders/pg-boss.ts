/**
 * pg-boss with one job per delivery, the body in the job: batches, several local workers, fetching on while batches are
 * full, a table of its own for the queue, as its documentation advises for throughput.
 */
import { createPool } from "#db/pool.ts";
import { analyzePeer, anyBossJobs } from "../lib/peer-sql/sql.ts";
import { loadPeer, peerVersion } from "../lib/peers.ts";
import { checkpoint } from "../lib/sql.ts";
import { untilTrue } from "../lib/wait.ts";
import { jobChunks, MAX_RUN_MS, type Tunable } from "./contender.ts";
import { type BenchJob, type SendContext, sendJob } from "./send.ts";

export interface BossSettings {
  readonly batchSize: number;
  readonly localConcurrency: number;
}

export const BOSS_CANDIDATES: readonly BossSettings[] = [
  { batchSize: 50, localConcurrency: 8 },
  { batchSize: 100, localConcurrency: 8 },
  { batchSize: 250, localConcurrency: 4 },
  { batchSize: 500, localConcurrency: 4 },
];

/** The part of its interface that is used here. */
interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean; close: boolean }): Promise<void>;
  createQueue(name: string, options: { partition: boolean }): Promise<void>;
  deleteAllJobs(name: string): Promise<unknown>;
  insert(name: string, jobs: { data: BenchJob }[]): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: { data: BenchJob }[]) => Promise<void>,
  ): Promise<string>;
  offWork(name: string): Promise<void>;
}
interface BossModule {
  readonly PgBoss: new (options: object) => Boss;
}

const QUEUE = "send";
const POOL_MAX = 20;
/** The shortest that it allows. */
const POLL_SECONDS = 0.5;
const POLL_MS = 5;

/** @param url an empty database of its own */
export async function createBoss(context: SendContext, url: string): Promise<Tunable<BossSettings>> {
  const { PgBoss } = await loadPeer<BossModule>("pg-boss");
  const pool = createPool({ connectionString: url, max: 2, applicationName: "bench-pg-boss-look" });
  const boss = new PgBoss({ connectionString: url, max: POOL_MAX, schedule: false, supervise: false });
  let failure: Error | null = null;
  boss.on("error", (error) => {
    failure = error;
  });
  await boss.start();
  await boss.createQueue(QUEUE, { partition: true });
  let settings = BOSS_CANDIDATES[0] as BossSettings;
  let sent = 0;
  const done = async (count: number) => {
    if (failure !== null) throw failure;
    return sent >= count;
  };
  return {
    name: "pg-boss",
    settings: () => ({
      ...settings,
      version: peerVersion("pg-boss"),
      burstWhenBatchFull: true,
      partition: true,
    }),
    use(value) {
      settings = value;
    },
    async prepare(count) {
      await boss.deleteAllJobs(QUEUE);
      await checkpoint(pool);
      for (const chunk of jobChunks(context, count)) {
        await boss.insert(
          QUEUE,
          chunk.map((data) => ({ data })),
        );
      }
      await analyzePeer(pool);
      sent = 0;
    },
    async drain(count) {
      const begunAt = performance.now();
      const options = { ...settings, burstWhenBatchFull: true, pollingIntervalSeconds: POLL_SECONDS };
      await boss.work(QUEUE, options, async (jobs) => {
        await Promise.all(jobs.map(({ data }) => sendJob(context, data)));
        sent += jobs.length;
      });
      await untilTrue(() => done(count), "pg-boss to send", MAX_RUN_MS, POLL_MS);
      await untilTrue(async () => !(await anyBossJobs(pool, QUEUE)), "pg-boss to complete", MAX_RUN_MS);
      return performance.now() - begunAt;
    },
    rest: () => boss.offWork(QUEUE),
    async close() {
      await boss.stop({ graceful: false, close: true });
      await pool.end();
    },
  };
}
