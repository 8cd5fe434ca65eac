/** What the API answers about replays beside a batch itself: curves, counts for badges, the policy, and what is out for banners. */
import { z } from "zod";
import type {
  ActiveBreakGlass,
  ActiveReplay,
  ReplayPoint,
  ReplayPolicyVersion,
  ReplayPolicyView,
  ReplaySeries,
  ReplaySummary,
  ReplaySummaryAnswer,
} from "#db/console/replay/replay-views.ts";
import { REGIONS } from "#domain/region.ts";
import { REPLAY_STATES } from "#domain/replay.ts";
import { regionAnswer } from "./responses-base.ts";
import { replayPolicy } from "./responses-replays.ts";

export const replayPoint: z.ZodType<ReplayPoint> = z.object({
  at: z.string().describe("The beginning of the step."),
  released: z.number().describe("Released in it and not recalled since."),
  requests: z.number(),
  delivered: z.number(),
  rateLimited: z.number(),
  failed: z.number().describe("Every attempt that did not deliver, 429 among them."),
  perMinute: z.number().describe("Requests, as if the step were a minute."),
  rateLimitedShare: z.number().nullable().describe("Of the requests; null without any."),
  failedShare: z.number().nullable(),
  dueLagMs: z.number().nullable().describe("The worst sample of the region; null when none was taken."),
  firstAttemptAgeMs: z.number().nullable(),
});

export const replaySeries: z.ZodType<ReplaySeries> = z.object({
  from: z.string(),
  to: z.string(),
  stepMs: z.number(),
  capPerMinute: z.number().nullable().describe("What the lanes that go on may release a minute."),
  rateLimitedLimit: z.number(),
  failedLimit: z.number(),
  dueLagLimitMs: z.number(),
  points: z.array(replayPoint).describe("At most 240; empty before the start."),
  marks: z
    .array(z.object({ at: z.string(), kind: z.string(), text: z.string() }))
    .describe("Oldest first, at most 100."),
});

export const replaySummary: z.ZodType<ReplaySummary> = z.object({
  needsReview: z.number(),
  awaitingMe: z.number().describe("Of them, those whose second person the caller may be."),
  running: z.number().describe("Approved and not ended."),
  autoPaused: z.number(),
  drafts: z.number(),
  finished: z.number().describe("Counted up to 1,000."),
  finishedMore: z.boolean(),
});

export const replaySummaryAnswer: z.ZodType<ReplaySummaryAnswer> = z.object({
  regions: z.array(regionAnswer(replaySummary)),
});

export const replayPolicyVersion: z.ZodType<ReplayPolicyVersion> = z.object({
  version: z.number(),
  changedBy: z.string(),
  changedAt: z.string(),
  reason: z.string(),
  body: z.unknown().describe("What the version says; everything else is the built-in one's."),
});

export const replayPolicyView: z.ZodType<ReplayPolicyView> = z.object({
  version: z.number().describe("Goes into If-Match; 0: the built-in one."),
  policy: replayPolicy,
  defaults: replayPolicy,
  changedBy: z.string().nullable(),
  changedAt: z.string().nullable(),
  reason: z.string().nullable(),
  history: z
    .array(replayPolicyVersion)
    .describe("Newest first, at most 20; empty for who does not see the region as a whole."),
});

export const activeReplay: z.ZodType<ActiveReplay> = z.object({
  id: z.string().describe("`rpl_...`"),
  name: z.string(),
  region: z.enum(REGIONS),
  state: z.enum(REPLAY_STATES),
  pausedBy: z.enum(["auto", "person"]).nullable(),
  cause: z.string().nullable().describe("Why it is paused or stops."),
  since: z.string().describe("Its start."),
  items: z.number(),
  delivered: z.number(),
});

export const activeBreakGlass: z.ZodType<ActiveBreakGlass> = z.object({
  id: z.string().describe("`rpl_...`"),
  name: z.string(),
  by: z.string(),
  reason: z.string().nullable(),
  at: z.string(),
  until: z.string().describe("When it is no longer told: 24 hours later."),
});
