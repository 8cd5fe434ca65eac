/**
 * What a run is about, drawn from its seed: tenants, destinations with their limits and receivers, deliveries and when
 * they are written, processes, policy. Small, so that everything meets everything within a few hundred steps.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import type { SeededRandom } from "#sim/random.ts";
import type { Profile } from "./receiver.ts";

/** One policy for both classes, short enough that retries, leases and gates come round many times. */
export interface SimPolicy {
  readonly requestDeadlineMs: number;
  readonly leaseMarginMs: number;
  readonly leaseMs: number;
  readonly maxFailures: number;
  readonly retryAfter: {
    minMs: number;
    maxMs: number;
    jitterShare: number;
    jitterFloorMs: number;
    jitterCapMs: number;
  };
  readonly backoff: { baseMs: number; factor: number; capMs: number; jitter: number };
  readonly gate: { baseMs: number; factor: number; capMs: number; jitter: number };
}

export interface TenantPlan {
  readonly weight: number;
  readonly concurrencyLimit: number | null;
}

export interface DestinationPlan {
  readonly tenant: number;
  readonly concurrencyLimit: number | null;
  readonly ratePerSecond: number | null;
  readonly rateBurst: number;
  readonly profile: Profile;
  readonly honoursKeys: boolean;
}

export interface DeliveryPlan {
  readonly destination: number;
  readonly serviceClass: ServiceClass;
  /** When its business transaction commits, and how long after that it is due. */
  readonly writtenAfterUs: number;
  readonly dueAfterUs: number;
  /** The tick that writes it fires twice for its window. */
  readonly twice: boolean;
  /** Belongs to a replay batch, which runs from time to time. */
  readonly replayed: boolean;
  /** Its payload is erased at some time. */
  readonly erased: boolean;
  /** A body that kills the process that sends it. */
  readonly deadly: boolean;
}

export interface Scenario {
  readonly policy: SimPolicy;
  readonly defaultTenantConcurrency: number;
  readonly defaultDestinationConcurrency: number;
  readonly tenants: readonly TenantPlan[];
  readonly destinations: readonly DestinationPlan[];
  readonly deliveries: readonly DeliveryPlan[];
  readonly processes: number;
  readonly slots: number;
  readonly probeMs: number;
  readonly drainMs: number;
  /** Gaps between faults of processes and between controls; null: there are none. */
  readonly faultEveryUs: number | null;
  readonly controlEveryUs: number | null;
  /** Steps with faults, in multiples of what was asked for. */
  readonly length: number;
}

/** Receivers that limit and fail are what a run is about. */
const PROFILE_MIX: readonly Profile[] = [
  ...["healthy", "rejecting", "redirecting", "gone"],
  ...["throttling", "throttling", "throttling", "unavailable", "unavailable"],
  ...["crowded", "crowded", "flaky", "flaky", "flaky", "flaky", "down", "down"],
] as Profile[];
const MS = 1_000;
const SECOND = 1_000_000;
/** Deliveries are written during this time. */
const WRITING_US = SECOND / 2;
const STORM_CHANCE = 0.06;
const STORM_STEP_US = SECOND / 8;
const STORM_FAILURES = 40;
const STORM_LENGTH = 5;
/** Time for reading and starting a claimed row; the worker keeps the same. */
const START_MS = 1_000;

export function drawScenario(random: SeededRandom): Scenario {
  const scenario = drawMixed(random);
  return random.chance(STORM_CHANCE) ? asStorm(scenario) : scenario;
}

/** One destination that is down, with everything going there: long enough for its breaker. */
function asStorm(scenario: Scenario): Scenario {
  const [destination] = scenario.destinations as [DestinationPlan];
  const down = { ...destination, profile: "down", ratePerSecond: null, concurrencyLimit: null } as const;
  const backoff = { baseMs: 1_500, factor: 2, capMs: 3_000, jitter: 0.2 };
  const deliveries = scenario.deliveries.map((plan, n) => ({
    ...plan,
    destination: 0,
    dueAfterUs: n * STORM_STEP_US,
    replayed: false,
  }));
  const policy = { ...scenario.policy, backoff, maxFailures: STORM_FAILURES };
  return {
    ...scenario,
    policy,
    destinations: [down],
    deliveries,
    processes: 1,
    controlEveryUs: null,
    faultEveryUs: null,
    length: STORM_LENGTH,
  };
}

function drawMixed(random: SeededRandom): Scenario {
  const tenants = Array.from({ length: random.int(1, 3) }, () => drawTenant(random));
  const destinations = Array.from({ length: random.int(2, 6) }, () =>
    drawDestination(random, tenants.length),
  );
  const count = random.pick([5, 10, 16, 28]);
  return {
    policy: drawPolicy(random),
    defaultTenantConcurrency: random.pick([2, 5, 100]),
    defaultDestinationConcurrency: random.pick([2, 4, 10]),
    tenants,
    destinations,
    deliveries: Array.from({ length: count }, () => drawDelivery(random, destinations.length)),
    processes: random.int(1, 3),
    slots: random.pick([1, 2, 4, 16, 64]),
    probeMs: random.pick([250, 1_000]),
    drainMs: random.pick([0, 100, 1_000]),
    faultEveryUs: random.pick([null, 500 * MS, 2 * SECOND]),
    controlEveryUs: random.pick([null, 100 * MS, 500 * MS, 2 * SECOND]),
    length: 1,
  };
}

function drawPolicy(random: SeededRandom): SimPolicy {
  const requestDeadlineMs = random.pick([100, 300, 600]);
  const leaseMarginMs = random.pick([20, 100, 300]);
  const backoff = () => ({ baseMs: random.pick([20, 100, 400]), factor: 2, capMs: 1_000, jitter: 0.2 });
  return {
    requestDeadlineMs,
    leaseMarginMs,
    leaseMs: requestDeadlineMs + leaseMarginMs + START_MS,
    maxFailures: random.int(2, 8),
    retryAfter: {
      minMs: 20,
      maxMs: 3_000,
      jitterShare: 0.1,
      jitterFloorMs: random.pick([0, 50]),
      jitterCapMs: 300,
    },
    backoff: backoff(),
    gate: backoff(),
  };
}

function drawTenant(random: SeededRandom): TenantPlan {
  return { weight: random.pick([1, 1, 2, 4]), concurrencyLimit: random.pick([null, null, 1, 2, 6]) };
}

function drawDestination(random: SeededRandom, tenants: number): DestinationPlan {
  const rated = random.chance(0.35);
  return {
    tenant: random.int(0, tenants - 1),
    concurrencyLimit: random.pick([null, null, 1, 2, 3, 8]),
    ratePerSecond: rated ? random.pick([10, 30, 60, 200]) : null,
    rateBurst: rated ? random.pick([1, 1, 2, 5]) : 1,
    profile: random.pick(PROFILE_MIX),
    honoursKeys: random.chance(0.7),
  };
}

function drawDelivery(random: SeededRandom, destinations: number): DeliveryPlan {
  return {
    destination: random.int(0, destinations - 1),
    serviceClass: random.chance(0.3) ? "urgent" : "routine",
    writtenAfterUs: random.int(0, WRITING_US),
    dueAfterUs: random.chance(0.7) ? 0 : random.int(0, SECOND),
    twice: random.chance(0.1),
    replayed: random.chance(0.2),
    erased: random.chance(0.04),
    deadly: random.chance(0.02),
  };
}
