/**
 * Sluice as a contender: rows in a region's database and one worker in this process, with the product's own settings but
 * for the slots. The worker first sends a few deliveries to open its sockets; the measured ones are written in one
 * transaction, and it begins with the commit.
 */
import type { RunningWorker } from "#worker/start-worker.ts";
import type { BenchDatabase } from "../lib/database.ts";
import type { ReceiverProcess } from "../lib/receiver.ts";
import {
  anyDue,
  type BenchTenant,
  checkpoint,
  clearRun,
  fillDeliveries,
  holdDeliveries,
} from "../lib/sql.ts";
import { untilCount, untilTrue } from "../lib/wait.ts";
import { startBenchWorker } from "../lib/worker.ts";
import { type Contender, MAX_RUN_MS } from "./contender.ts";
import type { SendContext } from "./send.ts";

export interface SluiceSettings {
  readonly name?: string;
  readonly database: BenchDatabase;
  readonly tenant: BenchTenant;
  readonly receiver: ReceiverProcess;
  readonly slots: number;
  /** Deliveries that open the worker's sockets before the measured ones; as many as slots when absent. */
  readonly warmUp?: number;
  /** False keeps what earlier rounds left: a table that is to stay full is not emptied. */
  readonly clear: boolean;
}

export function createSluice(context: SendContext, settings: SluiceSettings): Contender {
  const { database, tenant, receiver } = settings;
  const { pool } = database;
  const warmUp = settings.warmUp ?? settings.slots;
  let worker: RunningWorker | null = null;
  let release = async () => {};
  const requests = async () => (await receiver.client.totals()).requests;
  const untilDone = async (deliveries: number) => {
    await untilCount(requests, deliveries, MAX_RUN_MS);
    await untilTrue(async () => !(await anyDue(pool)), "the last outcomes", MAX_RUN_MS);
  };
  return {
    name: settings.name ?? "sluice",
    settings: () => ({ slots: settings.slots }),
    async prepare(count) {
      if (settings.clear) await clearRun(pool);
      const before = await requests();
      if (warmUp > 0) await fillDeliveries(pool, tenant, warmUp, context.body);
      worker = await startBenchWorker(database.url, settings.slots);
      await untilDone(before + warmUp);
      await checkpoint(pool);
      release = await holdDeliveries(pool, tenant, count, context.body);
    },
    async drain(count) {
      const before = await requests();
      const begunAt = performance.now();
      await release();
      await untilDone(before + count);
      return performance.now() - begunAt;
    },
    async rest() {
      await worker?.stop();
      worker = null;
    },
    async close() {},
  };
}
