/** graphile-worker's runner: other rooms' tasks run in it, what they do cannot end it, and it comes back when it ended. */
import type { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { DISPATCH_TASK } from "#db/queue/wake-job.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { startProxy } from "#tests/support/worker-proxy.ts";
import { terminateSessions } from "#tests/support/worker-rows/sql.ts";
import { type CapturedLog, captureLog } from "#tests/support/worker-run.ts";
import { type ExtraTask, Supervisor } from "./supervisor.ts";

const LONG_MS = 150_000;

let database: TestDatabase;
let pool: Pool;
let captured: CapturedLog;
let supervisors: Supervisor[];
let dispatched: number;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({
    connectionString: database.connectionString,
    max: 6,
    applicationName: "supervisor-test",
  });
  captured = captureLog();
  supervisors = [];
  dispatched = 0;
});
afterEach(async () => {
  await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
  await pool.end();
  await database.drop();
});

function supervisor(tasks: readonly ExtraTask[] = [], on: Pool = pool): Supervisor {
  const made = new Supervisor(
    on,
    () => {
      dispatched += 1;
    },
    tasks,
    captured.log,
  );
  supervisors.push(made);
  return made;
}

const events = () => captured.lines().map(({ event }) => event);

const addJob = (identifier: string) =>
  database.pool.query("SELECT graphile_worker.add_job($1, '{}'::json)", [identifier]);

describe("Supervisor", () => {
  it("fault 103: installs graphile-worker's schema, also twice at once", async () => {
    const bare = await createTestDatabase({ bare: true });
    try {
      await expect(bare.pool.query("SELECT * FROM graphile_worker.jobs")).rejects.toThrow(/does not exist/);
      await Promise.all([supervisor([], bare.pool).install(), supervisor([], bare.pool).install()]);
      expect((await bare.pool.query("SELECT * FROM graphile_worker.jobs")).rows).toEqual([]);
    } finally {
      await bare.drop();
    }
  });

  it("wakes the dispatcher by a job, runs the tasks that it was given, and takes their crontab", async () => {
    let ran = 0;
    const task = async () => {
      ran += 1;
    };
    const mine = supervisor([{ identifier: "errand", task, crontab: "0 0 1 1 * errand ?id=errand" }]);
    await mine.install();
    mine.start();
    await addJob(DISPATCH_TASK);
    await addJob("errand");
    await waitFor(() => dispatched === 1 && ran === 1, { timeoutMs: LONG_MS });
    const { rows } = await database.pool.query(
      "SELECT identifier FROM graphile_worker._private_known_crontabs",
    );
    expect(rows).toEqual([{ identifier: "errand" }]);
  });

  it("goes on when a task fails, and prints nothing of its payload", async () => {
    const mine = supervisor([
      {
        identifier: "fails",
        task: async () => {
          throw new Error("a fault in the task");
        },
        crontab: null,
      },
    ]);
    await mine.install();
    mine.start();
    await database.pool.query(
      `SELECT graphile_worker.add_job('fails', '{"pan":"marker-4111"}'::json, max_attempts => 1)`,
    );
    await waitFor(async () => {
      const { rows } = await database.pool.query("SELECT 1 FROM graphile_worker.jobs WHERE attempts = 1");
      return rows.length === 1;
    });
    await addJob(DISPATCH_TASK);
    await waitFor(() => dispatched === 1, { timeoutMs: LONG_MS });
    expect(captured.text()).not.toContain("marker-4111");
  });

  it("fault 49: is back after all its connections were ended, and runs jobs again", async () => {
    const mine = supervisor();
    await mine.install();
    mine.start();
    await addJob(DISPATCH_TASK);
    await waitFor(() => dispatched === 1, { timeoutMs: LONG_MS });
    for (let round = 2; round < 4; round++) {
      await terminateSessions(database.pool, "supervisor-test");
      await addJob(DISPATCH_TASK);
      await waitFor(() => dispatched === round, { timeoutMs: LONG_MS });
    }
  });

  it("fault 49: does not live on with a look-up of its tasks that failed: a new runner takes its place at once", async () => {
    const proxy = await startProxy(database.connectionString);
    const own = createPool({
      connectionString: proxy.connectionString,
      max: 6,
      applicationName: "stuck-test",
    });
    const mine = supervisor([], own);
    try {
      await mine.install();
      const lost = proxy.loseAnswerTo("_private_tasks as tasks (identifier)");
      mine.start();
      await lost;
      await waitFor(() => events().includes("runner_stuck"), { timeoutMs: LONG_MS });
      await addJob(DISPATCH_TASK);
      await waitFor(() => dispatched === 1, { timeoutMs: LONG_MS });
      // Not the watchdog, which looks for work that stays undone.
      expect(events()).not.toContain("runner_silent");
    } finally {
      await mine.stop();
      await own.end();
      await proxy.close();
    }
  });

  it("stops also while it is starting, and while it is starting again", async () => {
    const first = supervisor();
    await first.install();
    first.start();
    await first.stop();
    const second = supervisor();
    second.start();
    await addJob(DISPATCH_TASK);
    await waitFor(() => dispatched === 1, { timeoutMs: LONG_MS });
    await terminateSessions(database.pool, "supervisor-test");
    await second.stop();
    await waitFor(() => pool.idleCount === pool.totalCount);
  });

  it("stops once, and starts nothing new afterwards", async () => {
    const mine = supervisor();
    await mine.install();
    mine.start();
    await addJob(DISPATCH_TASK);
    await waitFor(() => dispatched === 1, { timeoutMs: LONG_MS });
    await Promise.all([mine.stop(), mine.stop()]);
    await waitFor(() => pool.idleCount === pool.totalCount);
    expect(captured.lines().map(({ event }) => event)).not.toContain("runner_ended");
  });
});
