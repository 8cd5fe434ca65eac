/**
 * What a dialog shows before somebody steers: the present values with the version to base a change on, what is in flight,
 * held and due, what was measured, and what the caller may do here. Types only; the reads are read-*-control.ts beside
 * this file. No secret, no body and no full URL may ever stand in one of them.
 */
import type { BlockerName } from "#domain/held-reason.ts";
import type { Action, PermitWord } from "#domain/permissions.ts";
import type { HeldReason } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import type { SafeLimit } from "#domain/safe-limit.ts";

/**
 * What the caller may do here, by the names of domain/permissions.ts; only the actions that exist for this kind of row.
 * `reason` stands whenever `allowed` is false. `typed`: the region's name goes into the field `typed` of the body.
 */
export type Permits = Readonly<Partial<Record<Action, PermitWord>>>;

/** `count` is exact up to 10,000 (`COUNT_LIMIT`); `more` says that there are more than that. `oldestMs` is 0 when there is none. */
export interface BoundedCount {
  readonly count: number;
  readonly more: boolean;
  readonly oldestMs: number;
}

export interface HeldCount extends BoundedCount {
  /** The strongest decision that holds them; null when none does. */
  readonly why: HeldReason | null;
}

export interface PauseView {
  /** UTC; null: not paused. */
  readonly until: string | null;
  readonly since: string | null;
  readonly reason: string | null;
  readonly by: string | null;
  /** The last resume and the share that it began with; null once its ramp is over. */
  readonly resumedAt: string | null;
  readonly resumeShare: number | null;
}

/** Measured from the newest requests that were answered with a 2xx. Null: there was none in the window. */
export interface ServiceTime {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Requests it was measured from. */
  readonly samples: number;
  /** They began no longer ago than this. */
  readonly windowMs: number;
}

/** Answers of the last minutes. `share` is null when there was no request. */
export interface ThrottleShare {
  readonly share: number | null;
  readonly throttled: number;
  readonly requests: number;
  readonly windowMs: number;
}

/** What domain/drain-time.ts `drainTimeMs` needs; a preview puts the new limit or rate in. */
export interface DrainInputs {
  /** Due, held or gated now: what would have to leave. */
  readonly waiting: number;
  readonly waitingMore: boolean;
  /** In force: the smaller of cap and adaptive limit. */
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  readonly serviceTimeMs: number | null;
}

/** The bounds of the step rule as they stand now (domain/limit-steps.ts). */
export interface StepView {
  /** UTC; a raise before this is refused. Null: one may be made now. */
  readonly nextRaiseAt: string | null;
  /** A change may raise to at most this many times the value in force. */
  readonly maxFactor: number;
  /** True: a raise needs `acknowledge429: true`. */
  readonly needsAcknowledge429: boolean;
}

/** The region's bounds for those who may change limits only within policy. */
export interface LimitPolicy {
  readonly maxTenantConcurrency: number;
  readonly maxDestinationConcurrency: number;
  readonly maxRatePerSecond: number;
}

interface Steered {
  readonly name: string;
  readonly region: Region;
  /** Goes into If-Match. */
  readonly version: number;
  readonly pause: PauseView;
  /** Leased now. They end by themselves within `requestDeadlineMs`. */
  readonly inFlight: number;
  /** Due work that a decision of people keeps waiting. */
  readonly held: HeldCount;
  /** Due work that anybody with a slot could claim. */
  readonly due: BoundedCount;
  /** Work whose time has come behind a shut gate or an open breaker. */
  readonly gated: BoundedCount;
  readonly requestDeadlineMs: number;
  readonly serviceTime: ServiceTime | null;
  readonly throttle: ThrottleShare;
  readonly drain: DrainInputs;
  readonly step: StepView;
  readonly policy: LimitPolicy;
  readonly permit: Permits;
}

/** `permit`: pause, limits, configure. */
export interface TenantControlView extends Steered {
  /** `ten_...` */
  readonly id: string;
  readonly slug: string;
  readonly weight: number;
  readonly concurrency: {
    /** Its own cap; null inherits. */
    readonly limit: number | null;
    readonly inForce: number;
    readonly inherited: number;
  };
  /** Destinations of it that are not deleted. */
  readonly destinations: number;
  /** Its replayed attempts carry the batch's id in the header `webhook-replay`. */
  readonly replayHeader: boolean;
}

export interface GateView {
  /** UTC. Goes into the body of `open-gate` as `gateUntil`. */
  readonly until: string;
  readonly since: string | null;
  readonly why: string | null;
  readonly status: number | null;
  /** As received, bounded. */
  readonly retryAfter: string | null;
  readonly consecutive: number;
}

/** `permit`: pause, limits, destination_disable, open_gate, rotate_secret, test_event, configure. */
export interface DestinationControlView extends Steered {
  /** `dst_...` */
  readonly id: string;
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly tenantName: string;
  /** Host and port; never path, query or credentials. */
  readonly host: string;
  readonly concurrency: {
    readonly limit: number | null;
    /** The smaller of the cap and the adaptive limit. */
    readonly inForce: number;
    readonly inherited: number;
  };
  readonly rate: { readonly perSecond: number | null; readonly burst: number };
  readonly adaptive: {
    /** Null: only the cap limits. */
    readonly limit: number | null;
    readonly safeLimit: number | null;
    readonly pinned: boolean;
    readonly why: string | null;
  };
  /** FAIR-9: R x L x s, with L the median service time. A starting point, not a proof. */
  readonly suggestion: SafeLimit;
  /** Null: not shut. */
  readonly gate: (GateView & { readonly waiting: BoundedCount }) | null;
  /** One request at a time until one has an outcome. */
  readonly probing: boolean;
  /** Null: closed. */
  readonly breaker: { readonly until: string | null; readonly why: string | null } | null;
  readonly disabled: {
    readonly at: string;
    readonly reason: string | null;
    readonly by: string | null;
  } | null;
  readonly secret: {
    readonly setAt: string;
    /** Until when the previous secret signs too; null: it has ended. */
    readonly previousUntil: string | null;
  };
  /** UTC; the next test event is refused before this. Null: one may be sent now. */
  readonly nextTestEventAt: string | null;
}

/** `permit`: region_claims, policies. Typing the region's name is asked for with `typed`. */
export interface RegionControlView {
  readonly region: Region;
  readonly version: number;
  readonly claims: "on" | "stopped";
  readonly stopped: {
    readonly at: string;
    readonly reason: string | null;
    readonly by: string | null;
  } | null;
  /** Of every tenant of the region: stopping claims stops them all. */
  readonly inFlight: number;
  /** Of those: leases whose time is over and that no worker has taken back yet. */
  readonly expiredLeases: number;
  /** When the last lease ends by itself, UTC; null: there is none. */
  readonly lastLeaseUntil: string | null;
  /** Claims stopped and no lease left, in one snapshot. `GET .../drain` proves it behind a barrier. */
  readonly drained: boolean;
  readonly workers: number;
  readonly held: HeldCount;
  readonly due: BoundedCount;
  /** Tenants with work in flight, the most first, at most 20. */
  readonly tenants: readonly { readonly id: string; readonly name: string; readonly inFlight: number }[];
  /** Tenants of the region that are not deleted: whom stopping reaches. */
  readonly tenantCount: number;
  readonly requestDeadlineMs: number;
  readonly defaults: {
    readonly tenantConcurrency: number;
    readonly destinationConcurrency: number;
  };
  readonly policy: LimitPolicy;
  readonly permit: Permits;
}

/** Why a command on this delivery would be refused by its state, in words; null: it would not. */
export interface DeliveryRefusals {
  readonly retryNow: string | null;
  readonly cancel: string | null;
  readonly willNotReplay: string | null;
  readonly erase: string | null;
}

/** `permit`: retry_now, cancel, will_not_replay, erase_payload. */
export interface DeliveryControlView {
  /** `dlv_...` */
  readonly id: string;
  readonly region: Region;
  readonly tenantId: string;
  readonly tenantName: string;
  readonly destinationId: string;
  readonly state: "ready" | "leased" | "delayed" | "dead" | "delivered" | "cancelled";
  /** Goes into If-Match of `will-not-replay`: only a dead letter has one. */
  readonly version: number | null;
  readonly dueAt: string;
  readonly attempts: number;
  readonly inFlight: boolean;
  /** Why it waits, the strongest first. */
  readonly blockers: readonly BlockerName[];
  readonly payload: {
    /** `pay_...` */
    readonly id: string;
    readonly erased: boolean;
    /** Out of reach of every attempt, but kept: it can be given back. */
    readonly restricted: boolean;
    readonly sizeBytes: number | null;
  };
  readonly refused: DeliveryRefusals;
  readonly permit: Permits;
}
