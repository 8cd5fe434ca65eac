/**
 * Puts a worker together, starts it and stops it in order. It refuses to start against another region's database or
 * with a lease shorter than a request may take. Extra tasks (the demo's) are handed in; nothing here knows them.
 */
import { randomBytes as systemRandomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { readPolicies } from "#db/queue/configuration.ts";
import { nextDue } from "#db/queue/discover.ts";
import { withQueueSession } from "#db/queue/session.ts";
import { writeWakeJob } from "#db/queue/wake-job.ts";
import { registerWorker, removeWorker } from "#db/queue/worker-process.ts";
import { assertRegion } from "#db/regions.ts";
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { uuidV7 } from "#domain/ids.ts";
import { resolvePolicy } from "#domain/policy.ts";
import { DatabaseClock } from "./clock.ts";
import type { WorkerSettings } from "./config.ts";
import { CutOff } from "./cut-off.ts";
import { START_MS } from "./deliver.ts";
import { DestinationCache } from "./destinations.ts";
import { Discovery } from "./discovery.ts";
import { Dispatch } from "./dispatch.ts";
import { createHttpClient } from "./exchange.ts";
import { FinishBatcher } from "./finish-batcher.ts";
import { type HealthFacts, startHealth } from "./health.ts";
import { InFlight, type InFlightKey } from "./in-flight.ts";
import { LaneBook } from "./lane-book.ts";
import { LimitsCache } from "./limits-cache.ts";
import { createLog, type Logger } from "./log.ts";
import type { WorkerParts } from "./parts.ts";
import { createRandomBytes } from "./random-bytes.ts";
import { type ExtraTask, Supervisor } from "./supervisor.ts";
import { startUpkeep, type Upkeep } from "./upkeep.ts";
import { DueTimer, HintListener, WakeSignal } from "./wake.ts";

const VERSION = "0.1.0";
const POOL_MAX = 12;
const STATEMENT_TIMEOUT_MS = 20_000;
/** Longer than the server's own limit, so that it speaks only when the connection is dead. */
const QUERY_TIMEOUT_MS = 25_000;
const CLAIM_OWNER = "sluice";
/** After the cut-off, how long outcomes may take to be recorded before the rest is left to the leases. */
const FLUSH_MS = 5_000;

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
  const cutOff = new CutOff();
  const { parts, dispatch, batcher } = await makeEngine(settings, id, log, pool, cutOff);
  const supervisor = new Supervisor(pool, () => dispatch.jobRan(), tasks, log);
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
    () => parts.wake.raise(true),
    log,
  );
  let stopping: Promise<void> | null = null;
  const upkeep = startUpkeep(parts, settings.probeMs);
  const facts = (): HealthFacts => ({
    region: settings.region,
    workerId: id,
    state: stopping === null ? "running" : "stopping",
    lastTurnMs: Math.round(parts.clock.monotonicMs() - dispatch.lastTurnAt),
    lastHeartbeatMs: upkeep.lastHeartbeatMs(),
    inFlight: parts.inFlight.size,
    slots: settings.slots,
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

  const running: Running = {
    settings,
    parts,
    dispatch,
    batcher,
    supervisor,
    listener,
    upkeep,
    health,
    turning,
    cutOff,
  };
  return {
    id,
    healthPort: health?.port ?? null,
    stop: () => {
      stopping ??= stopInOrder(running);
      return stopping;
    },
  };
}

interface Running {
  readonly settings: WorkerSettings;
  readonly parts: WorkerParts;
  readonly dispatch: Dispatch;
  readonly batcher: FinishBatcher;
  readonly supervisor: Supervisor;
  readonly listener: HintListener;
  readonly upkeep: Upkeep;
  readonly health: { close(): Promise<void> } | null;
  readonly turning: Promise<void>;
  readonly cutOff: CutOff;
}

/** The parts of dispatching, connected, before anything runs. */
async function makeEngine(
  settings: WorkerSettings,
  id: string,
  log: Logger,
  pool: Pool,
  cutOff: CutOff,
): Promise<{ parts: WorkerParts; dispatch: Dispatch; batcher: FinishBatcher }> {
  const clock = new DatabaseClock(() => performance.now());
  clock.sync((await nextDue(pool)).nowMs);
  const policies = await readPolicies(pool);
  const lease = leaseOf(policies);
  const wake = new WakeSignal();
  const book = new LaneBook();
  const parts: WorkerParts = {
    region: settings.region,
    workerId: id,
    owner: CLAIM_OWNER,
    ...lease,
    pool,
    clock,
    random: Math.random,
    randomBytes: createRandomBytes(),
    http: createHttpClient(lease.leaseMs - lease.leaseMarginMs),
    inFlight: new InFlight(settings.slots, (key) => onFree(key)),
    book,
    limits: new LimitsCache(),
    destinations: new DestinationCache(settings.keyring),
    wake,
    dueTimer: new DueTimer(
      () => clock.nowMs(),
      () => wake.raise(true),
    ),
    log,
    switches: settings.switches,
    cutOff,
  };
  parts.destinations.usePolicies(policies);
  const discovery = new Discovery(pool, clock, book);
  const batcher = new FinishBatcher(pool, log);
  const dispatch = new Dispatch(parts, discovery, batcher);
  const onFree = (key: InFlightKey) => dispatch.slotFreed(book.freed(key.destinationId));
  return { parts, dispatch, batcher };
}

async function stopInOrder(running: Running): Promise<void> {
  const { parts, settings } = running;
  const { log, pool } = parts;
  log.info({ event: "stopping", inFlight: parts.inFlight.size }, "worker stops");
  parts.dueTimer.clear();
  running.dispatch.stop();
  await Promise.all([
    running.upkeep.quiet(),
    running.supervisor.stop(),
    running.listener.close(),
    running.turning,
  ]);
  await drain(parts, settings.drainMs, running.cutOff);
  running.batcher.giveUp();
  // Others find what is due without waiting for their probe.
  await writeWakeJob(pool, settings.region, parts.clock.nowMs()).catch(() => undefined);
  await running.upkeep.stop();
  await removeWorker(pool, parts.workerId).catch(() => undefined);
  await parts.http.close().catch(() => undefined);
  await running.health?.close();
  await pool.end().catch(() => undefined);
  log.info({ event: "stopped" }, "worker stopped");
  log.flush();
}

/** Waits for requests in flight, then cuts them off, then for their outcomes to be recorded. */
async function drain(parts: WorkerParts, drainMs: number, cutOff: CutOff): Promise<void> {
  const idle = parts.inFlight.whenIdle().then(() => true);
  if (await Promise.race([idle, after(drainMs)])) return;
  parts.log.warn({ event: "cut_off", inFlight: parts.inFlight.size }, "requests in flight are cut off");
  cutOff.now();
  await Promise.race([idle, after(FLUSH_MS)]);
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}

function leaseOf(policies: ReadonlyMap<ServiceClass, unknown>): { leaseMs: number; leaseMarginMs: number } {
  // resolvePolicy refuses a lease that is shorter than deadline and margin, so a bad one ends the start here.
  const resolved = SERVICE_CLASSES.map((serviceClass) =>
    resolvePolicy(serviceClass, policies.get(serviceClass)),
  );
  const leaseMarginMs = Math.max(...resolved.map((policy) => policy.leaseMarginMs));
  const deadlineMs = Math.max(...resolved.map((policy) => policy.requestDeadlineMs));
  // One lease for all classes. Without room for the start, every row of a policy without slack would be released unsent.
  const neededMs = deadlineMs + leaseMarginMs + START_MS;
  return { leaseMs: Math.max(neededMs, ...resolved.map((policy) => policy.leaseMs)), leaseMarginMs };
}
