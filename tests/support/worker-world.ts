/**
 * What the tests of workers have around them: a receiver for the file, a database for each test, and the workers that the test
 * starts, all of which are gone when it ends. It decides nothing of what is tested.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { endWorkers, type SpawnedWorker, type SpawnOptions, spawnReadyWorker } from "./worker-process.ts";
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "./worker-run.ts";

export interface WorkerWorld {
  readonly database: TestDatabase;
  readonly receiver: Receiver;
  /** Workers of this process that are running. */
  readonly workers: readonly TestWorker[];
  /** Starts workers in this process, all at once. */
  start(count?: number, options?: TestWorkerOptions): Promise<void>;
  /** Stops them again, as a test may want to in its middle. */
  stopAll(): Promise<void>;
  /** Starts a worker as a process of its own. */
  spawn(env?: Record<string, string>, more?: Partial<SpawnOptions>): Promise<SpawnedWorker>;
}

/**
 * For the top of a test file.
 * @param each hears of the world before each test, once its database is there
 */
export function useWorkerWorld(each: (world: WorkerWorld) => Promise<void> | void): WorkerWorld {
  let database: TestDatabase;
  let receiver: Receiver;
  const workers: TestWorker[] = [];
  const world: WorkerWorld = {
    get database() {
      return database;
    },
    get receiver() {
      return receiver;
    },
    workers,
    async start(count = 1, options = {}) {
      const here = () => startTestWorker(database, options);
      workers.push(...(await Promise.all(Array.from({ length: count }, here))));
    },
    async stopAll() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    },
    spawn: (env = {}, more = {}) =>
      spawnReadyWorker({ urls: { us: database.connectionString }, env, ...more }),
  };
  beforeAll(async () => {
    receiver = await createReceiver();
  });
  beforeEach(async () => {
    database = await createTestDatabase();
    await each(world);
  });
  afterEach(async () => {
    await world.stopAll();
    await endWorkers();
    receiver.reset();
    await database.drop();
  });
  afterAll(() => receiver.close());
  return world;
}
