/**
 * The parts of dispatching, connected, before anything runs. Everything that touches the world comes in as a port: the
 * store, the HTTP client, timers, the monotonic clock, chance. Nothing here may open a connection or read a setting.
 */
import type { QueueStore } from "#db/queue/store.ts";
import type { Keyring } from "#db/secrets.ts";
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import type { SendingRules } from "#domain/destination-url.ts";
import { lightReserveOf } from "#domain/fair-share.ts";
import { resolvePolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { Alarms, ClaimTimes } from "./alarms.ts";
import { AtMost } from "./at-most.ts";
import { DatabaseClock } from "./clock.ts";
import type { WorkerSwitches } from "./config.ts";
import { CutOff } from "./cut-off.ts";
import { START_MS } from "./deliver.ts";
import { DestinationCache } from "./destinations.ts";
import { Discovery } from "./discovery.ts";
import { Dispatch } from "./dispatch.ts";
import { FinishBatcher } from "./finish-batcher.ts";
import { InFlight, type InFlightKey } from "./in-flight.ts";
import { LaneBook } from "./lane-book.ts";
import { LimitsCache } from "./limits-cache.ts";
import type { Logger } from "./log.ts";
import { Pacer } from "./pacer.ts";
import type { HttpClient, WorkerParts } from "./parts.ts";
import { ReceiverHealth } from "./receiver-health.ts";
import type { Timers } from "./timers.ts";
import { DueTimer, WakeSignal } from "./wake.ts";

/** Gates that are shut at once: a storm of 429 must leave connections for claims, and two cores have no use for more. */
const MAX_GATES_AT_ONCE = 4;
/** The claim owner that this program is. */
const CLAIM_OWNER = "sluice";

export interface EnginePorts {
  readonly store: QueueStore;
  readonly timers: Timers;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Makes the client; its connections may take this long. */
  readonly http: (connectTimeoutMs: number) => HttpClient;
  readonly log: Logger;
}

export interface EngineSettings {
  readonly region: Region;
  readonly workerId: string;
  readonly slots: number;
  readonly keyring: Keyring;
  readonly sendingRules: SendingRules;
  readonly switches: WorkerSwitches;
}

export interface Engine {
  readonly parts: WorkerParts;
  readonly dispatch: Dispatch;
  readonly batcher: FinishBatcher;
}

/**
 * Reads the database's time and the policies, and puts the engine together.
 * @throws SluiceError `lease_too_short` or `bad_policy`, or the store's error
 */
export async function createEngine(settings: EngineSettings, ports: EnginePorts): Promise<Engine> {
  const { store, timers, log } = ports;
  const clock = new DatabaseClock(() => timers.monotonicMs());
  clock.sync((await store.nextDue()).nowMs);
  const policies = await store.readPolicies();
  const lease = leaseOf(policies);
  const wake = new WakeSignal();
  const book = new LaneBook();
  const parts: WorkerParts = {
    region: settings.region,
    workerId: settings.workerId,
    owner: CLAIM_OWNER,
    ...lease,
    store,
    clock,
    timers,
    random: ports.random,
    randomBytes: ports.randomBytes,
    http: ports.http(lease.leaseMs - lease.leaseMarginMs),
    inFlight: new InFlight(settings.slots, (key) => onFree(key), lightReserveOf(settings.slots)),
    book,
    limits: new LimitsCache(),
    health: new ReceiverHealth(),
    pacer: new Pacer(),
    gates: new AtMost(MAX_GATES_AT_ONCE),
    destinations: new DestinationCache(settings.keyring, settings.sendingRules),
    wake,
    dueTimer: new DueTimer(
      () => clock.nowMs(),
      () => wake.raise(true),
      timers,
    ),
    alarms: new Alarms(),
    claimTimes: new ClaimTimes(),
    log,
    switches: settings.switches,
    cutOff: new CutOff(),
  };
  parts.destinations.usePolicies(policies);
  const discovery = new Discovery(store, clock, book, {
    onFound: () => wake.raise(false),
    onNewsLater: (afterMs) => {
      if (settings.switches.timers) parts.dueTimer.at(clock.nowMs() + afterMs);
    },
  });
  const batcher = new FinishBatcher(store, log, timers);
  const dispatch = new Dispatch(parts, discovery, batcher);
  const onFree = (key: InFlightKey) => dispatch.slotFreed(book.freed(key.destinationId));
  return { parts, dispatch, batcher };
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
