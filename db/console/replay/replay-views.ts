/** What pages and the API are told of a replay batch. Types only: nothing here runs. Times are UTC, ids public. */
import type { ReplayCounts, ReplayItemState, ReplayState } from "#domain/replay.ts";
import type { ReplayPlan, ReplayPolicy } from "#domain/replay-plan.ts";
import type { ConditionState } from "#domain/replay-stop.ts";

export interface ReplayRow {
  /** `rpl_...` */
  id: string;
  name: string;
  state: ReplayState;
  version: number;
  reason: string;
  ticket: string | null;
  requestedBy: string;
  approvedBy: string | null;
  breakGlassBy: string | null;
  tenants: number;
  items: number;
  counts: ReplayCounts;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  /** Why it is paused, or why it ended. */
  cause: string | null;
}

export interface ReplayPage {
  rows: ReplayRow[];
  next: string | null;
}

export interface ReplayLaneView {
  destinationId: string;
  destinationName: string | null;
  tenantId: string;
  ratePerSecond: number;
  counts: ReplayCounts;
  heldWhy: string | null;
  stoppedAt: string | null;
  stopCondition: string | null;
  stopText: string | null;
  /** Whether the cause seems to be gone, looked up now: the last ten minutes of the destination. */
  probe: ReplayProbe;
}

export interface ReplayProbe {
  succeeded: number;
  failed: number;
  rateLimited: number;
  circuitOpen: boolean;
  gateUntil: string | null;
  /** Circuit closed, no 429, and a success and no failure in ten minutes. Null: nothing was sent, so nobody knows. */
  causeGone: boolean | null;
}

export interface ReplayEventView {
  at: string;
  kind: string;
  actor: string;
  from: ReplayState | null;
  to: ReplayState | null;
  detail: string | null;
  facts: Readonly<Record<string, unknown>>;
}

export interface ReplayItemView {
  /** `dlv_...` */
  id: string;
  tenantId: string;
  destinationId: string;
  reason: string;
  state: ReplayItemState;
  why: string | null;
  canary: boolean;
  seq: number | null;
  recalls: number;
  diedAt: string | null;
  releasedAt: string | null;
  endedAt: string | null;
}

export interface ReplayItemPage {
  rows: ReplayItemView[];
  next: string | null;
}

export interface ReplayDetail extends ReplayRow {
  rootCause: string | null;
  fixUrl: string | null;
  checklist: unknown;
  selection: unknown;
  /** Entries that were left out of the selection, by reason. */
  excluded: Readonly<Record<string, number>>;
  plan: ReplayPlan;
  policy: ReplayPolicy;
  rateCap: number | null;
  /** Hex, of the frozen set; null for a draft. */
  sha256: string | null;
  editors: readonly string[];
  inspected: readonly string[];
  pausedFrom: ReplayState | null;
  autoPauses: number;
  submittedAt: string | null;
  approvedAt: string | null;
  approvalComment: string | null;
  /** When review or approval ends unused; null in other states. */
  expiresAt: string | null;
  /** When the canary's hold is over; null outside of it. */
  holdEndsAt: string | null;
  /** Every stop condition with its present value: a red one cannot start. */
  conditions: readonly ConditionState[];
  lanes: readonly ReplayLaneView[];
  /** Newest first, at most 200. */
  events: readonly ReplayEventView[];
  /** The author's sample, and the second person's own of entries that the author did not see. */
  sample: readonly ReplayItemView[];
  reviewSample: readonly ReplayItemView[];
  /** `312 of 500 delivered`. */
  progress: string;
  /** Always true: a replayed delivery can arrive after newer ones. */
  orderCanChange: true;
}

/** What came of an ended batch. It never changes again. */
export interface ReplayReport {
  id: string;
  name: string;
  state: ReplayState;
  sha256: string | null;
  total: number;
  counts: ReplayCounts;
  byDestination: readonly {
    destinationId: string;
    destinationName: string | null;
    counts: ReplayCounts;
    stopText: string | null;
  }[];
  byReason: readonly { reason: string; counts: ReplayCounts }[];
  /** Requests of the batch for each delivery that it sent; null when it sent none. */
  amplification: number | null;
  requests: number;
  durationMs: number | null;
  people: {
    requestedBy: string;
    editors: readonly string[];
    approvedBy: string | null;
    breakGlassBy: string | null;
  };
  stops: readonly ReplayEventView[];
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  cause: string | null;
  /** Still dead letters, untouched by this batch. */
  left: number;
}
