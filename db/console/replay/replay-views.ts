/** What pages and the API are told of a replay batch. Types only: nothing here runs. Times are UTC, ids public. */
import type { Region } from "#domain/region.ts";
import type { ReplayCounts, ReplayItemState, ReplayState } from "#domain/replay.ts";
import type { ReplayActions } from "#domain/replay-actions.ts";
import type { FieldChange, SetChange } from "#domain/replay-diff.ts";
import type { ReplayPlan, ReplayPolicy } from "#domain/replay-plan.ts";
import type { ConditionState } from "#domain/replay-stop.ts";
import type { TenantName } from "../names.ts";
import type { RegionAnswer } from "../read-region.ts";

/** Whose a batch is. A name stands where there is only one. */
export interface ReplayScope {
  tenants: number;
  destinations: number;
  tenant: TenantName | null;
  destination: { id: string; name: string } | null;
}

/** Another batch that this one has to do with. */
export interface ReplayLink {
  /** `rpl_...` */
  id: string;
  name: string;
  state: ReplayState;
}

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
  /** Who approved it or broke the glass. */
  reviewer: string | null;
  scope: ReplayScope;
  /** Releases per second of all lanes that go on, under the cap; null before the freeze. */
  ratePerSecond: number | null;
  /** `312 of 500 delivered`. */
  progress: string;
  /** Items that have ended, of all. */
  finishedShare: number;
  /** Delivered of delivered and dead again; null while there is neither. */
  successShare: number | null;
  /** Who paused it; null unless it is paused. */
  pausedBy: "auto" | "person" | null;
  /** Its last step or turn. */
  updatedAt: string;
  /** The batch whose dead again entries it takes. */
  parentId: string | null;
  /** It waits for a second person, and the caller may be it. */
  mayReview: boolean;
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
  items: number;
  /** What holds it at this moment, of domain/replay-stop.ts LANE_HOLDS; null: nothing. */
  hold: string | null;
  /** What stops it now, or would at the start, of LANE_STOPS; null: nothing. */
  trouble: string | null;
  /** Under the cap and the ramp; 0 for a lane that has stopped, or is not running. */
  effectiveRatePerSecond: number;
  /** What the plan gives it; after the freeze what was frozen. */
  plannedRatePerSecond: number;
  /** Its successes per second of seven days; null when there were none. */
  normalPerSecond: number | null;
  /** Its own limit; null when it has none. */
  limitPerSecond: number | null;
  /** Equal failures in a row at this moment; at `limit` the lane stops. */
  equalFailures: { count: number; limit: number; text: string | null };
  canary: { items: number; delivered: number; open: number };
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
  /** Of the delivery in all its cycles; null when it is stored no longer. */
  attempts: number | null;
  lastStatus: number | null;
  lastOutcome: string | null;
}

export interface ReplayItemPage {
  rows: ReplayItemView[];
  next: string | null;
}

/** What is different from the set that was sent back. */
export interface ReplayDiff extends SetChange {
  /** When that set was frozen. */
  frozenAt: string;
  /** Who asked for changes, when, and what they wrote; null when nobody did. */
  requestedBy: string | null;
  requestedAt: string | null;
  comment: string | null;
  fields: readonly FieldChange[];
}

/** What the batch asks of the region, at its full rate. */
export interface ReplayEstimate {
  /** Canary, holds and ramp apart: the slowest lane decides. */
  durationMs: number;
  /** The same of what is not released yet. */
  leftMs: number;
  ratePerSecond: number;
  /** Most of it that is out at once. */
  concurrency: number;
  /** Of the region's live workers; null when there is none. */
  slots: number | null;
  slotShare: number | null;
  /** What the region delivered per second in the last hour; null when nothing. */
  regionPerSecond: number | null;
  regionShare: number | null;
}

export interface ReplayDetail extends ReplayRow {
  /** What the caller may do now, and why not the rest. */
  actions: ReplayActions;
  /** The caller wrote it. */
  mine: boolean;
  /** The caller wrote or changed it, and cannot approve it. */
  edited: boolean;
  parent: (ReplayLink & { rootCause: string | null }) | null;
  followUps: readonly ReplayLink[];
  /** Dead again and still dead letters: what a follow-up would take. */
  followUpItems: number;
  /** Before the start, when it was sent back once; else null. */
  diff: ReplayDiff | null;
  /** Null once it has ended. */
  estimate: ReplayEstimate | null;
  canarySize: number | null;
  /** Part of the rate that is used now, and when the next part comes; null unless it runs. */
  rampShare: number | null;
  rampNextAt: string | null;
  /** There are more than `events` has. */
  eventsMore: boolean;
  /** How many of `reviewSample` the author has never seen. */
  reviewSampleUnseen: number;
  submittedBy: string | null;
  breakGlassAt: string | null;
  /** Since the runner's last turn; null before the first. */
  turnAgeMs: number | null;
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
  /**
   * The author's sample, and the second person's own: entries that the author did not see, and when there are fewer than
   * five of them, others too.
   */
  sample: readonly ReplayItemView[];
  reviewSample: readonly ReplayItemView[];
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
  reason: string;
  ticket: string | null;
  rootCause: string | null;
  fixUrl: string | null;
  parentId: string | null;
  followUps: readonly ReplayLink[];
  followUpItems: number;
  /** Of replay_policy when it was frozen; 0: the built-in one. */
  policyVersion: number;
  timings: {
    createdAt: string;
    submittedAt: string | null;
    approvedAt: string | null;
    startedAt: string | null;
    canaryEndedAt: string | null;
    endedAt: string | null;
  };
}

/** One step of the curves. Counts are of the step. */
export interface ReplayPoint {
  /** Its beginning. */
  at: string;
  /** Released in it and not recalled since. */
  released: number;
  requests: number;
  delivered: number;
  rateLimited: number;
  /** Every attempt that did not deliver, 429 among them. */
  failed: number;
  /** Requests, as if the step were a minute. */
  perMinute: number;
  /** Of the requests; null without any. */
  rateLimitedShare: number | null;
  failedShare: number | null;
  /** The worst sample of the region in the step; null when none was taken. */
  dueLagMs: number | null;
  firstAttemptAgeMs: number | null;
}

export interface ReplaySeries {
  from: string;
  to: string;
  stepMs: number;
  /** What the lanes that go on may release a minute; null before the freeze. */
  capPerMinute: number | null;
  /** The batch's own stop conditions, to be drawn as lines. */
  rateLimitedLimit: number;
  failedLimit: number;
  dueLagLimitMs: number;
  /** Empty before the start. */
  points: readonly ReplayPoint[];
  /** Steps, pauses and stops of lanes in the span. */
  marks: readonly { at: string; kind: string; text: string }[];
}

/** How many batches stand in each tab, for badges. */
export interface ReplaySummary {
  needsReview: number;
  /** Of them, those whose second person the caller may be. */
  awaitingMe: number;
  running: number;
  autoPaused: number;
  drafts: number;
  /** Counted up to 1,000. */
  finished: number;
  finishedMore: boolean;
}

export interface ReplaySummaryAnswer {
  regions: RegionAnswer<ReplaySummary>[];
}

/** A batch that is out, for banners. */
export interface ActiveReplay {
  readonly id: string;
  readonly name: string;
  readonly region: Region;
  readonly state: ReplayState;
  readonly pausedBy: "auto" | "person" | null;
  /** Why it is paused or stops. */
  readonly cause: string | null;
  /** Its start. */
  readonly since: string;
  readonly items: number;
  readonly delivered: number;
}

/** A batch that went without its second person in the last 24 hours. */
export interface ActiveBreakGlass {
  readonly id: string;
  readonly name: string;
  readonly by: string;
  readonly reason: string | null;
  readonly at: string;
  /** When it is no longer told. */
  readonly until: string;
}

export interface ReplayPolicyVersion {
  version: number;
  changedBy: string;
  changedAt: string;
  reason: string;
  /** What the row says; everything else is the built-in one's. */
  body: unknown;
}

export interface ReplayPolicyView {
  /** 0: the built-in one. The next version goes on from it: If-Match. */
  version: number;
  policy: ReplayPolicy;
  defaults: ReplayPolicy;
  changedBy: string | null;
  changedAt: string | null;
  reason: string | null;
  /** Newest first, at most 20; empty for who does not see the region as a whole. */
  history: readonly ReplayPolicyVersion[];
}
