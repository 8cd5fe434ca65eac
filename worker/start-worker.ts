/**
 * Puts a worker together, starts it and stops it in order. It refuses to start against another region's database or
 * with a lease shorter than a request may take. Extra tasks (the demo's) are handed in; nothing here knows them.
 */
import { randomBytes as systemRandomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { withQueueSession } from "#db/queue/session.ts";
import { postgresStore } from "#db/queue/store.ts";
import { registerWorker } from "#db/queue/worker-process.ts";
import { assertRegion } from "#db/regions.ts";
import { assertKeysFor } from "#db/secrets-rekey.ts";
import { uuidV7 } from "#domain/ids.ts";
import { CONTROLS_TOPIC } from "#domain/wake.ts";
import { choresOf } from "./chores.ts";
import type { WorkerSettings } from "./config.ts";
import { createEngine, type EnginePorts } from "./engine.ts";
import { createHttpClient } from "./exchange.ts";
import { type HealthFacts, startHealth } from "./health.ts";
import { createLog, type Logger } from "./log.ts";
import type { WorkerParts } from "./parts.ts";
import { createRandomBytes } from "./random-bytes.ts";
import { replayTask } from "./replay-runner.ts";
import { stopInOrder } from "./stop-worker.ts";
import { type ExtraTask, Supervisor } from "./supervisor.ts";
import { systemTimers } from "./timers.ts";
import { startUpkeep } from "./upkeep.ts";
import { HintListener } from "./wake.ts";

const VERSION = "0.1.0";
const POOL_MAX = 12;
const STATEMENT_TIMEOUT_MS = 20_000;
/** Longer than the server's own limit, so that it speaks only when the connection is dead. */
const QUERY_TIMEOUT_MS = 25_000;

export interface RunningWorker {
  readonly id: string;
  /** Port of the health page; null when there is none. */
  readonly healthPort: number | null;
  /** Drains and ends the worker. A second call gives the same promise. */
  stop(): Promise<void>;
}

export interface WorkerExtras {
  readonly tasks?: readonly ExtraTask[];
  readonly log?: Logger;
}

/**
 * @throws SluiceError `region_mismatch`, `lease_too_short`, `bad_policy`, or a connection error of Postgres
 */
export async function startWorker(
  settings: WorkerSettings,
  extras: WorkerExtras = {},
): Promise<RunningWorker> {
  const id = uuidV7(Date.now(), systemRandomBytes);
  const log = extras.log ?? createLog(settings.logLevel, { region: settings.region, worker: id });
  const pool = createPool({
    connectionString: withQueueSession(settings.connectionString),
    max: POOL_MAX,
    applicationName: `sluice-worker-${settings.region}`,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError: (error) => log.warn({ event: "pool_error", error: error.message }, "a pooled connection broke"),
  });
  try {
    await assertRegion(pool, settings.region);
    await assertKeysFor(pool, settings.keyring);
    return await assemble(settings, extras.tasks ?? [], id, log, pool);
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw error;
  }
}

async function assemble(
  settings: WorkerSettings,
  tasks: readonly ExtraTask[],
  id: string,
  log: Logger,
  pool: Pool,
): Promise<RunningWorker> {
  const engine = await createEngine({ ...settings, workerId: id }, systemPorts(pool, log, settings));
  const { parts, dispatch } = engine;
  const ours = [replayTask(pool, id, log), ...tasks];
  const supervisor = new Supervisor(pool, () => dispatch.jobRan(), ours, log);
  await supervisor.install();
  await registerWorker(pool, {
    id,
    region: settings.region,
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    slots: settings.slots,
  });
  const listener = new HintListener(
    settings.directConnectionString,
    `sluice-worker-${settings.region}-hints`,
    (topic) => hear(parts, topic),
    log,
  );
  let stopping: Promise<void> | null = null;
  const chores = choresOf(pool, settings.region, id, settings.switches, parts);
  const upkeep = startUpkeep(parts, settings.probeMs, chores);
  const facts = (): HealthFacts => ({
    region: settings.region,
    workerId: id,
    state: stopping === null ? "running" : "stopping",
    lastTurnMs: Math.round(parts.clock.monotonicMs() - dispatch.lastTurnAt),
    lastHeartbeatMs: upkeep.lastHeartbeatMs(),
    inFlight: parts.inFlight.size,
    slots: settings.slots,
    claimP95Ms: roundedOrNull(parts.claimTimes.p95Ms()),
    alarms: parts.alarms.list(),
  });
  const health = settings.healthPort === null ? null : await startHealth(settings.healthPort, facts);
  if (settings.switches.listen) void listener.open();
  supervisor.start();
  const turning = dispatch.run();
  parts.wake.raise(true);
  log.info(
    { event: "started", slots: settings.slots, pid: process.pid, healthPort: health?.port },
    "worker started",
  );

  return {
    id,
    healthPort: health?.port ?? null,
    stop: () => {
      stopping ??= stopInOrder({
        engine,
        upkeep,
        wakers: [() => supervisor.stop(), () => listener.close()],
        turning,
        drainMs: settings.drainMs,
        close: async () => {
          await health?.close();
          await pool.end().catch(() => undefined);
        },
      });
      return stopping;
    },
  };
}

function roundedOrNull(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}

/** A hint: new work, or a control that changed what the caches say. */
function hear(parts: WorkerParts, topic: string): void {
  if (topic === CONTROLS_TOPIC) {
    parts.limits.forget();
    parts.book.askAgain();
  }
  parts.wake.raise(true);
}

/** The world as a process has it. */
function systemPorts(pool: Pool, log: Logger, { sendingRules }: WorkerSettings): EnginePorts {
  return {
    store: postgresStore(pool),
    timers: systemTimers,
    random: Math.random,
    randomBytes: createRandomBytes(),
    http: (connectTimeoutMs) => createHttpClient(connectTimeoutMs, { rules: sendingRules }),
    log,
  };
}
