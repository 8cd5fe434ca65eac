/** What the API answers about replay batches, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { ReplayPreview } from "#db/console/replay/preview.ts";
import type {
  ReplayDetail,
  ReplayDiff,
  ReplayEstimate,
  ReplayEventView,
  ReplayItemPage,
  ReplayItemView,
  ReplayLaneView,
  ReplayLink,
  ReplayPage,
  ReplayProbe,
  ReplayReport,
  ReplayRow,
} from "#db/console/replay/replay-views.ts";
import { EXCLUSIONS, REPLAY_ITEM_STATES, REPLAY_STATES, type ReplayCounts } from "#domain/replay.ts";
import { REPLAY_VERBS } from "#domain/replay-actions.ts";
import type { ReplayPlan, ReplayPolicy, ReplayThresholds } from "#domain/replay-plan.ts";
import { type ConditionState, STOP_CONDITIONS } from "#domain/replay-stop.ts";

const state = z.enum(REPLAY_STATES);

export const replayCounts: z.ZodType<ReplayCounts> = z
  .record(z.enum(REPLAY_ITEM_STATES), z.number())
  .describe("Items by state; every state stands in it.");

const row = {
  id: z.string().describe("`rpl_...`"),
  name: z.string(),
  state,
  version: z.number().describe("Goes into If-Match."),
  reason: z.string(),
  ticket: z.string().nullable(),
  requestedBy: z.string(),
  approvedBy: z.string().nullable(),
  breakGlassBy: z.string().nullable().describe("Who went without the second person; null: nobody."),
  tenants: z.number(),
  items: z.number(),
  counts: replayCounts,
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  cause: z.string().nullable().describe("Why it is paused, or why it ended."),
  reviewer: z.string().nullable().describe("Who approved it or broke the glass."),
  scope: z
    .object({
      tenants: z.number(),
      destinations: z.number(),
      tenant: z.object({ id: z.string(), slug: z.string(), name: z.string() }).nullable(),
      destination: z.object({ id: z.string(), name: z.string() }).nullable(),
    })
    .describe("Whose it is. A name stands where there is only one."),
  ratePerSecond: z
    .number()
    .nullable()
    .describe("Of all lanes that go on, under the cap; null before the freeze."),
  progress: z.string().describe("`312 of 500 delivered`"),
  finishedShare: z.number().describe("Items that have ended, of all."),
  successShare: z
    .number()
    .nullable()
    .describe("Delivered of delivered and dead again; null while there is neither."),
  pausedBy: z.enum(["auto", "person"]).nullable().describe("Null unless it is paused."),
  updatedAt: z.string().describe("Its last step or turn."),
  parentId: z.string().nullable().describe("The batch whose dead again entries it takes."),
  mayReview: z.boolean().describe("It waits for a second person, and the caller may be it."),
};

export const replayRow: z.ZodType<ReplayRow> = z.object(row);

export const replayPage: z.ZodType<ReplayPage> = z.object({
  rows: z.array(replayRow).describe("Newest first."),
  next: z.string().nullable(),
});

export const replayProbe: z.ZodType<ReplayProbe> = z.object({
  succeeded: z.number(),
  failed: z.number(),
  rateLimited: z.number(),
  circuitOpen: z.boolean(),
  gateUntil: z.string().nullable(),
  causeGone: z
    .boolean()
    .nullable()
    .describe(
      "Circuit closed, no 429, and a success and no failure in ten minutes. Null: nothing was sent, so nobody knows.",
    ),
});

export const replayLaneView: z.ZodType<ReplayLaneView> = z.object({
  destinationId: z.string().describe("`dst_...`"),
  destinationName: z.string().nullable(),
  tenantId: z.string().describe("`ten_...`"),
  ratePerSecond: z.number().describe("0 before the freeze."),
  counts: replayCounts,
  heldWhy: z.string().nullable(),
  stoppedAt: z.string().nullable(),
  stopCondition: z.string().nullable(),
  stopText: z.string().nullable(),
  items: z.number(),
  hold: z.string().nullable().describe("What holds it at this moment; null: nothing."),
  trouble: z.string().nullable().describe("What stops it now, or would at the start; null: nothing."),
  effectiveRatePerSecond: z.number().describe("Under the cap and the ramp; 0 when it is not running."),
  plannedRatePerSecond: z.number().describe("What the plan gives it; after the freeze what was frozen."),
  normalPerSecond: z
    .number()
    .nullable()
    .describe("Its successes of seven days; looked up before the start, of at most 100 destinations."),
  limitPerSecond: z.number().nullable().describe("Its own limit; null when it has none."),
  equalFailures: z
    .object({ count: z.number(), limit: z.number(), text: z.string().nullable() })
    .describe("Equal failures in a row at this moment; at `limit` the lane stops."),
  canary: z.object({ items: z.number(), delivered: z.number(), open: z.number() }),
  probe: replayProbe,
});

export const replayLink: z.ZodType<ReplayLink> = z.object({
  id: z.string().describe("`rpl_...`"),
  name: z.string(),
  state,
});

export const replayEventView: z.ZodType<ReplayEventView> = z.object({
  at: z.string(),
  kind: z.string(),
  actor: z.string(),
  from: state.nullable(),
  to: state.nullable(),
  detail: z.string().nullable(),
  facts: z.record(z.string(), z.unknown()),
});

export const replayItemView: z.ZodType<ReplayItemView> = z.object({
  id: z.string().describe("`dlv_...`: a dead letter is the same delivery."),
  tenantId: z.string().describe("`ten_...`"),
  destinationId: z.string().describe("`dst_...`"),
  reason: z.string().describe("Why it was dead when it was selected."),
  state: z.enum(REPLAY_ITEM_STATES),
  why: z.string().nullable().describe("Why it was skipped, recalled or not released."),
  canary: z.boolean(),
  seq: z.number().nullable().describe("Its place in the order of release; null before the freeze."),
  recalls: z.number(),
  diedAt: z.string().nullable(),
  releasedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  attempts: z.number().nullable().describe("Of the delivery in all its cycles; null when it is gone."),
  lastStatus: z.number().nullable(),
  lastOutcome: z.string().nullable(),
});

export const replayItemPage: z.ZodType<ReplayItemPage> = z.object({
  rows: z.array(replayItemView),
  next: z.string().nullable(),
});

const thresholds = {
  urgentFirstP95Ms: z.number(),
  routineFirstP95Ms: z.number(),
  dueLagMs: z.number(),
  rateLimitedShare: z.number().describe("429 answers among its attempts, from `rateLimitedMin` attempts on."),
  rateLimitedMin: z.number(),
  failedShare: z.number().describe("Failures among its attempts, from `failedMin` attempts on."),
  failedMin: z.number(),
  equalFailures: z.number().describe("Equal failures in a row of one destination, which stop its lane."),
  maxRunMs: z.number(),
  metricsMaxAgeMs: z.number(),
};

export const replayThresholds: z.ZodType<ReplayThresholds> = z
  .object(thresholds)
  .describe("Numbers of the stop conditions: less is stricter.");

export const replayPlan: z.ZodType<ReplayPlan> = z.object({
  ratePerSecond: z.number().nullable().describe("Of each destination; null: each one's own default."),
  concurrency: z.number(),
  attemptBudget: z.number(),
  startsAfter: z.string().nullable(),
  endsBefore: z.string().nullable(),
  stop: replayThresholds,
});

export const replayPolicy: z.ZodType<ReplayPolicy> = z.object({
  ...thresholds,
  windowAttempts: z.number(),
  windowMs: z.number(),
  canaryHoldMs: z.number(),
  canaryAuto: z.boolean().describe("True: it goes on by itself after a clean hold."),
  canaryShare: z.number(),
  rampHoldMs: z.number(),
  reviewMs: z.number(),
  approvalMs: z.number(),
  maxAutoPauses: z.number().describe("The pause of this number ends the batch."),
});

export const replayCondition: z.ZodType<ConditionState> = z.object({
  condition: z.enum(STOP_CONDITIONS),
  value: z
    .number()
    .nullable()
    .describe("In its own unit, milliseconds or a share; null when nothing can be said."),
  limit: z.number(),
  breached: z.boolean(),
  text: z.string().describe("`429 share 14 % > 10 %`"),
});

const actionWord = z.object({
  allowed: z.boolean(),
  reason: z.string().nullable().describe("Stands whenever it is not allowed."),
});

export const replayDiff: z.ZodType<ReplayDiff> = z.object({
  frozenAt: z.string(),
  requestedBy: z.string().nullable().describe("Who asked for changes."),
  requestedAt: z.string().nullable(),
  comment: z.string().nullable(),
  fields: z
    .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }))
    .describe("`rootCause`, `plan.stop.dueLagMs`, `lanes.dst_...`; at most 200."),
  added: z.number(),
  removed: z.number(),
  addedIds: z.array(z.string()).describe("At most 20."),
  removedIds: z.array(z.string()).describe("At most 20."),
});

export const replayEstimate: z.ZodType<ReplayEstimate> = z.object({
  durationMs: z.number().describe("Canary, holds and ramp apart: the slowest lane decides."),
  leftMs: z.number().describe("The same of what is not released yet."),
  ratePerSecond: z.number(),
  concurrency: z.number().describe("Most of it that is out at once."),
  slots: z.number().nullable().describe("Of the region's live workers; null when there is none."),
  slotShare: z.number().nullable(),
  regionPerSecond: z.number().nullable().describe("What the region delivered in the last hour."),
  regionShare: z.number().nullable(),
});

export const replayDetail: z.ZodType<ReplayDetail> = z.object({
  ...row,
  actions: z
    .record(z.enum([...REPLAY_VERBS, "follow-up", "raise-rate"]), actionWord)
    .describe("What the caller may do now, and why not the rest. The commands ask again."),
  mine: z.boolean().describe("The caller wrote it."),
  edited: z.boolean().describe("The caller wrote or changed it, and cannot approve it."),
  parent: z.object({ id: z.string(), name: z.string(), state, rootCause: z.string().nullable() }).nullable(),
  followUps: z.array(replayLink).describe("At most 20."),
  followUpItems: z.number().describe("Dead again and still dead letters: what a follow-up would take."),
  diff: replayDiff.nullable().describe("Before the start, against the set that was sent back; else null."),
  estimate: replayEstimate.nullable().describe("Null once it has ended."),
  canarySize: z.number().nullable(),
  rampShare: z.number().nullable().describe("Part of the rate that is used now; null unless it runs."),
  rampNextAt: z.string().nullable(),
  eventsMore: z.boolean(),
  reviewSampleUnseen: z.number().describe("How many of `reviewSample` the author has never seen."),
  submittedBy: z.string().nullable(),
  breakGlassAt: z.string().nullable(),
  turnAgeMs: z.number().nullable().describe("Since the runner's last turn; null before the first."),
  rootCause: z.string().nullable(),
  fixUrl: z.string().nullable(),
  checklist: z.unknown().describe("As it was annotated; null before."),
  selection: z.unknown().describe("As it was drafted. It is never run again."),
  excluded: z
    .record(z.string(), z.number())
    .describe("Entries that were left out of the selection, by reason."),
  plan: replayPlan,
  policy: replayPolicy,
  rateCap: z.number().nullable(),
  sha256: z.string().nullable().describe("Hex, of the frozen set; null for a draft."),
  editors: z.array(z.string()).describe("None of them may approve it."),
  inspected: z.array(z.string()),
  pausedFrom: state.nullable(),
  autoPauses: z.number(),
  submittedAt: z.string().nullable(),
  approvedAt: z.string().nullable(),
  approvalComment: z.string().nullable(),
  expiresAt: z.string().nullable().describe("When review or approval ends unused; null in other states."),
  holdEndsAt: z.string().nullable().describe("When the canary's hold is over; null outside of it."),
  conditions: z.array(replayCondition).describe("With their present values: a red one cannot start."),
  lanes: z.array(replayLaneView),
  events: z.array(replayEventView).describe("Newest first, at most 200."),
  sample: z.array(replayItemView).describe("What its author should look at. Empty once it was started."),
  reviewSample: z.array(replayItemView).describe("The second person's own, of what the author did not see."),
  orderCanChange: z.literal(true).describe("A replayed delivery can arrive after newer ones."),
});

export const replayReport: z.ZodType<ReplayReport> = z.object({
  id: z.string().describe("`rpl_...`"),
  name: z.string(),
  state,
  sha256: z.string().nullable(),
  total: z.number(),
  counts: replayCounts,
  byDestination: z.array(
    z.object({
      destinationId: z.string().describe("`dst_...`"),
      destinationName: z.string().nullable(),
      counts: replayCounts,
      stopText: z.string().nullable(),
    }),
  ),
  byReason: z.array(z.object({ reason: z.string(), counts: replayCounts })),
  amplification: z
    .number()
    .nullable()
    .describe("Requests for each delivery that it sent; null when it sent none."),
  requests: z.number(),
  durationMs: z.number().nullable(),
  people: z.object({
    requestedBy: z.string(),
    editors: z.array(z.string()),
    approvedBy: z.string().nullable(),
    breakGlassBy: z.string().nullable(),
  }),
  stops: z.array(replayEventView),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  cause: z.string().nullable(),
  left: z.number().describe("Still dead letters, untouched by this batch."),
  reason: z.string(),
  ticket: z.string().nullable(),
  rootCause: z.string().nullable(),
  fixUrl: z.string().nullable(),
  parentId: z.string().nullable(),
  followUps: z.array(replayLink).describe("At most 20."),
  followUpItems: z.number(),
  policyVersion: z.number().describe("When it was frozen; 0: the built-in one."),
  timings: z.object({
    createdAt: z.string(),
    submittedAt: z.string().nullable(),
    approvedAt: z.string().nullable(),
    startedAt: z.string().nullable(),
    canaryEndedAt: z.string().nullable(),
    endedAt: z.string().nullable(),
  }),
});

export const replayPreview: z.ZodType<ReplayPreview> = z.object({
  matching: z.number().describe("All that match and that the caller may see, whatever their state."),
  matchingIsLowerBound: z.boolean(),
  limit: z.number().describe("The oldest so many are taken."),
  items: z.number().describe("Would be in the batch."),
  excluded: z.partialRecord(z.enum(EXCLUSIONS), z.number()).describe("Would be left out, by reason."),
  tenants: z.array(z.string()),
  destinations: z.array(z.string()),
  reasons: z.record(z.string(), z.number()),
  oldestDiedAt: z.string().nullable(),
  newestDiedAt: z.string().nullable(),
  payloadBytes: z.number(),
});
