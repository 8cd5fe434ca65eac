/**
 * BullMQ on a Redis of its own with one job per delivery, the body in the job: one worker with high concurrency, finished
 * jobs removed, as its documentation advises for throughput.
 */
import { loadPeer, peerVersion } from "../lib/peers.ts";
import type { BenchRedis } from "../lib/redis.ts";
import { untilTrue } from "../lib/wait.ts";
import { jobChunks, MAX_RUN_MS, type Tunable } from "./contender.ts";
import { type BenchJob, type SendContext, sendJob } from "./send.ts";

export interface BullSettings {
  readonly concurrency: number;
}

export const BULL_CANDIDATES: readonly BullSettings[] = [
  { concurrency: 50 },
  { concurrency: 100 },
  { concurrency: 200 },
  { concurrency: 400 },
];

/** The part of its interface that is used here. */
interface BullQueue {
  addBulk(jobs: { name: string; data: BenchJob }[]): Promise<unknown>;
  getJobCounts(...types: string[]): Promise<Record<string, number>>;
  obliterate(options: { force: boolean }): Promise<void>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}
interface BullWorker {
  on(event: "error", listener: (error: Error) => void): void;
  run(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}
interface BullModule {
  readonly Queue: new (name: string, options: object) => BullQueue;
  readonly Worker: new (
    name: string,
    send: (job: { data: BenchJob }) => Promise<void>,
    options: object,
  ) => BullWorker;
}

const QUEUE = "send";
const POLL_MS = 5;
/** Whatever is not removed yet. */
const LIVE = ["waiting", "active", "delayed", "prioritized", "failed"];

export async function createBull(context: SendContext, redis: BenchRedis): Promise<Tunable<BullSettings>> {
  const { Queue, Worker } = await loadPeer<BullModule>("bullmq");
  const connection = { host: "127.0.0.1", port: redis.port, maxRetriesPerRequest: null };
  const removed = { removeOnComplete: { count: 0 } };
  const queue = new Queue(QUEUE, { connection });
  await queue.waitUntilReady();
  let settings = BULL_CANDIDATES[0] as BullSettings;
  let worker: BullWorker | null = null;
  let sent = 0;
  let failure: Error | null = null;
  const empty = async () => {
    const counts = await queue.getJobCounts(...LIVE);
    return Object.values(counts).every((count) => count === 0);
  };
  return {
    name: "bullmq",
    settings: () => ({ ...settings, version: peerVersion("bullmq"), redis: "appendonly, everysec" }),
    use(value) {
      settings = value;
    },
    async prepare(count) {
      await queue.obliterate({ force: true });
      for (const chunk of jobChunks(context, count)) {
        await queue.addBulk(chunk.map((data) => ({ name: QUEUE, data })));
      }
      const send = async ({ data }: { data: BenchJob }) => {
        await sendJob(context, data);
        sent++;
      };
      worker = new Worker(QUEUE, send, { connection, autorun: false, ...settings, ...removed });
      worker.on("error", (error) => {
        failure = error;
      });
      await worker.waitUntilReady();
      sent = 0;
    },
    async drain(count) {
      const begunAt = performance.now();
      worker?.run().catch((error: Error) => {
        failure = error;
      });
      const done = async () => {
        if (failure !== null) throw failure;
        return sent >= count;
      };
      await untilTrue(done, "bullmq to send", MAX_RUN_MS, POLL_MS);
      await untilTrue(empty, "bullmq to complete", MAX_RUN_MS);
      return performance.now() - begunAt;
    },
    async rest() {
      await worker?.close();
      worker = null;
    },
    close: () => queue.close(),
  };
}
