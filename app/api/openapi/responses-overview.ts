/** What the API answers about overview, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { FirstAttempt } from "#db/console/ages.ts";
import type {
  ActiveControl,
  ActiveControls,
  ActiveControlsAnswer,
} from "#db/console/list-active-controls.ts";
import type { MatrixRow, TenantState } from "#db/console/queue-summary.ts";
import type { Overview, RegionOverview } from "#db/console/read-overview.ts";
import type { Series } from "#db/console/read-series.ts";
import type { Recent, Trends, TriedShare } from "#db/console/region-facts.ts";
import type { Annotation } from "#db/console/series-annotations.ts";
import type { CountPoint, Ends, SamplePoint } from "#db/console/series-points.ts";
import type { NoisyTenant, RegionNoise } from "#db/console/tenant-loads.ts";
import type { Verdict, VerdictLevel } from "#db/console/verdict.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { NOISE_CAUSES, NOISE_VERDICTS } from "#domain/noisy-tenant.ts";
import type { Thresholds } from "#domain/objectives.ts";
import { regionAnswer } from "./responses-base.ts";
import { activeBreakGlass, activeReplay } from "./responses-replays-more.ts";
import { countAndAge, heldWork, thresholds } from "./responses-shared.ts";

export const verdictLevel: z.ZodType<VerdictLevel> = z.enum([
  "on_time",
  "slow",
  "late",
  "stopped",
  "draining",
]);

export const verdict: z.ZodType<Verdict> = z.object({
  level: verdictLevel,
  because: z
    .enum(["draining", "first_attempt", "due_lag", "no_worker"])
    .nullable()
    .describe("What decided it."),
  firstAttempt: z
    .object({ serviceClass: z.enum(SERVICE_CLASSES), oldestMs: z.number(), targetMs: z.number() })
    .describe("The first attempt that is worst against its target; age 0 when none waits."),
  tenantsAffected: z.number(),
});

export const firstAttempt: z.ZodType<FirstAttempt> = z.object({
  serviceClass: z.enum(SERVICE_CLASSES),
  oldestMs: z.number(),
  tenantsLate: z.number().describe("Tenants whose oldest first attempt is past the target."),
});

export const tenantState: z.ZodType<TenantState> = z.enum([
  "active",
  "paused",
  "circuit_open",
  "rate_limited",
  "limited",
  "held",
]);

export const matrixRow: z.ZodType<MatrixRow> = z.object({
  id: z.string().describe("`ten_...`"),
  slug: z.string(),
  name: z.string(),
  state: tenantState,
  stateUntil: z.string().nullable().describe("When the state ends by itself, UTC."),
  stateReason: z.string().nullable(),
  firstAttemptMs: z.number(),
  firstAttemptClass: z
    .enum(SERVICE_CLASSES)
    .nullable()
    .describe("The class of the oldest one; null when none waits."),
  due: countAndAge,
  gated: z.number(),
  held: heldWork,
  ready: z.number(),
  delayed: z.number(),
  inFlight: z.number(),
  limit: z.number().describe("Most requests at once."),
  firstAttemptP95Ms: z
    .number()
    .nullable()
    .describe("Of the last 5 minutes; null when nothing was tried for the first time."),
  rateLimitedShare: z
    .number()
    .nullable()
    .describe("429 answers of all requests of the last 5 minutes; null when there was no request."),
  requestShare: z
    .number()
    .nullable()
    .describe(
      "Its part of all requests of the last 5 minutes, of the tenants in scope; null when there was no request.",
    ),
  deadLetters: countAndAge,
  lastDeliveredAt: z.string().nullable(),
});

export const noisyTenant: z.ZodType<NoisyTenant> = z.object({
  id: z.string().describe("`ten_...`"),
  slug: z.string(),
  name: z.string(),
  because: z.array(z.enum(NOISE_CAUSES)).describe("What it has an outsized part of; at least one."),
  requests: z.number().describe("Of the last minutes."),
  rateLimitedShare: z
    .number()
    .nullable()
    .describe("429 answers of its own requests; null when there was no request."),
  inFlight: z.number(),
  shares: z
    .object({
      ofRequests: z.number().nullable(),
      ofSlots: z.number().nullable().describe("What it has in flight, of the slots of the workers that run."),
      ofRateLimited: z.number().nullable().describe("Of all 429 answers."),
      fair: z.number().describe("By its weight among the tenants that send."),
    })
    .describe("Parts from 0 to 1 of what the tenants in scope did; null when there is nothing to divide."),
});

export const noise: z.ZodType<RegionNoise> = z.object({
  verdict: z
    .enum(NOISE_VERDICTS)
    .describe("`too_little`: too few requests to say so of anybody. `nobody`: no part is outsized."),
  minutes: z.number().describe("How far back requests and 429 answers were counted."),
  tenants: z.array(noisyTenant).describe("The one with the greatest part of the requests first; at most 2."),
});

export const recent: z.ZodType<Recent> = z.object({
  firstAttemptP95: z
    .object({ serviceClass: z.enum(SERVICE_CLASSES), ms: z.number(), targetMs: z.number() })
    .nullable()
    .describe("The class whose p95 is worst against its target."),
  rateLimitedShare: z.number().nullable().describe("429 answers of all requests, 5 minutes."),
  requests: z.number(),
  expiredLeases: z.number().describe("Leases that ended without a result, 15 minutes."),
  deliveredLastHour: z.number(),
});

export const triedShare: z.ZodType<TriedShare> = z.object({
  serviceClass: z.enum(SERVICE_CLASSES),
  targetMs: z.number(),
  tried: z.number().describe("First requests of the last 15 minutes."),
  within: z.number(),
  waitingLate: z
    .number()
    .describe(
      "Never tried and past the target at this moment; they count as missed. Bounded like all counts.",
    ),
  share: z.number().nullable().describe("Null when there was nothing to try."),
});

export const trends: z.ZodType<Trends> = z.object({
  oldestMs: z.array(z.number().nullable()),
  firstAttemptP95Ms: z.array(z.number().nullable()),
  dueMs: z.array(z.number().nullable()),
  due: z.array(z.number().nullable()),
  dead: z.array(z.number().nullable()),
  inFlight: z.array(z.number().nullable()),
  rateLimitedShare: z.array(z.number().nullable()),
  expiredLeases: z.array(z.number().nullable()),
});

export const regionThresholds: z.ZodType<Thresholds> = z.object({
  ...thresholds,
  triedShareTarget: z.number().describe("Part of new deliveries to be tried within their class's target."),
  delayedLagTargetMs: z.number(),
  rateLimitedShare: z.object({ warn: z.number(), act: z.number() }),
  deadLetterWarnMs: z.number(),
});

export const regionOverview: z.ZodType<RegionOverview> = z.object({
  verdict: verdict,
  thresholds: regionThresholds.describe("What the region's numbers are compared with."),
  firstAttempt: z.array(firstAttempt),
  due: countAndAge,
  delayedLag: countAndAge,
  gated: z.number().describe("Due work whose destination's gate is shut."),
  ready: z.number(),
  delayed: z.number(),
  inFlight: z.number(),
  slots: z.number().describe("Slots of the workers that are running."),
  deadLetters: z
    .object({
      count: z.number(),
      oldestMs: z.number().describe("Age of the oldest; 0 when there is none."),
      added: z.number(),
    })
    .describe("Dead letters that wait for a person; `added` in the last 24 hours."),
  amplification: z.number().nullable().describe("Requests / distinct deliveries of the last 15 minutes."),
  held: z.array(
    z.object({
      why: z.string(),
      count: z.number(),
      oldestMs: z.number().describe("Age of the oldest; 0 when there is none."),
    }),
  ),
  pausedTenants: z.number(),
  workers: z.object({ running: z.number(), lastHeartbeatAt: z.string().nullable() }),
  draining: z.object({ since: z.string().nullable(), reason: z.string().nullable() }).nullable(),
  lastSampleAt: z.string().nullable(),
  countedAt: z
    .string()
    .nullable()
    .describe("Until when attempts were counted for rates and shares; null before the first count."),
  tenants: z.array(matrixRow),
  tenantsLeftOut: z.number().describe("Tenants with live work or dead letters that the matrix leaves out."),
  noise: noise.describe("Which tenants take an outsized part of the region, among those in scope."),
  recent: recent,
  triedShares: z.array(triedShare),
  trends: trends,
});

export const overview: z.ZodType<Overview> = z.object({
  regions: z.array(regionAnswer(regionOverview)),
  amplificationAlert: z.number(),
  countLimit: z.number().describe("A count above it is known only to be above it."),
  tenantDeadLimit: z.number().describe("The same for the dead letters of one tenant."),
});

export const samplePoint: z.ZodType<SamplePoint> = z.object({
  t: z.number().describe("Start of the step, milliseconds since 1970."),
  oldestMs: z.number().nullable().describe("Oldest first attempt that waits."),
  dueMs: z.number().nullable(),
  dueCount: z.number().nullable(),
  heldMs: z.number().nullable(),
  heldCount: z.number().nullable(),
  inFlight: z.number().nullable(),
  dead: z.number().nullable().describe("Dead letters that wait for a person."),
});

export const countPoint: z.ZodType<CountPoint> = z.object({
  t: z.number(),
  minutes: z.number().describe("Minutes of the step that are over; counts are of these."),
  outcomes: z
    .object({
      delivered: z.number(),
      rateLimited: z.number(),
      permanent: z.number(),
      serverError: z.number(),
      network: z.number(),
      blocked: z.number(),
    })
    .nullable(),
  requests: z.number().nullable(),
  firstP50Ms: z
    .number()
    .nullable()
    .describe(
      "Of deliveries whose first request began in the step, from their due time; null when none did.",
    ),
  firstP95Ms: z.number().nullable(),
  firstMaxMs: z.number().nullable(),
  serviceP50Ms: z.number().nullable(),
  serviceP95Ms: z.number().nullable(),
  deadIn: z
    .number()
    .nullable()
    .describe("Deliveries that became dead letters, and dead letters that stopped waiting."),
  deadOut: z.number().nullable(),
});

export const ends: z.ZodType<Ends> = z.object({ counts: z.array(z.number()), mean: z.number().nullable() });

export const annotation: z.ZodType<Annotation> = z.object({
  id: z.string().describe("`aud_...`"),
  t: z.number().describe("Milliseconds since 1970."),
  action: z.string(),
  target: z.string().nullable().describe("The tenant's or destination's name; null for the region."),
  actor: z.string(),
  reason: z.string(),
});

export const series: z.ZodType<Series> = z.object({
  level: z.enum(["region", "tenant", "destination"]).describe("What the numbers are of."),
  range: z.enum(["15m", "1h", "6h", "24h", "7d"]),
  fromMs: z.number(),
  toMs: z.number(),
  sampleStepMs: z.number().describe("Width of a sample point."),
  samples: z
    .array(samplePoint)
    .describe("Ages and depths, oldest first; empty for a destination, which is not sampled."),
  countStepMs: z.number().describe("Width of a counted point."),
  counts: z
    .array(countPoint)
    .describe("Outcomes, first-attempt ages of tried deliveries, service times, oldest first."),
  ends: ends,
  amplification: z.object({
    now: z
      .number()
      .nullable()
      .describe("Requests / distinct deliveries of the last minutes; null when there was no request."),
    minutes: z.number(),
    reference: z.number(),
    alert: z.number(),
  }),
  annotations: z.array(annotation),
  sampling: z
    .boolean()
    .describe('False when no sample was stored lately: the line ends and the page says "no data".'),
  lastSampleAt: z.string().nullable(),
  ...thresholds,
});

export const activeControl: z.ZodType<ActiveControl> = z.object({
  kind: z.enum(["tenant_paused", "destination_paused", "destination_disabled"]),
  id: z.string().describe("`ten_...` or `dst_...`."),
  name: z.string(),
  tenantId: z.string(),
  tenantSlug: z.string(),
  by: z.string().nullable().describe("A person, or `worker` for what the product did by its rules."),
  reason: z.string(),
  since: z.string(),
  until: z.string().nullable().describe("When it ends by itself; null for what only a person ends."),
});

export const activeControls: z.ZodType<ActiveControls> = z.object({
  claimsStopped: z
    .object({ by: z.string().nullable(), reason: z.string().nullable(), since: z.string().nullable() })
    .nullable()
    .describe("Null while claims are on. Who and why are told only to those who see the region as a whole."),
  controls: z.array(activeControl).describe("Those that end next first; what has no end comes last."),
  pausedTenants: z.number(),
  pausedDestinations: z.number(),
  disabledDestinations: z.number(),
  nextEnd: z.string().nullable().describe("When the next pause ends."),
  replays: z.array(activeReplay).describe("Batches that are out, the last started first; at most 100."),
  replaysRunning: z.number().describe("All that are out and not paused."),
  replaysPaused: z.number(),
  replaysAutoPaused: z.number(),
  breakGlass: z
    .array(activeBreakGlass)
    .describe("Batches that went without their second person in the last 24 hours."),
  awaitingMe: z.number().describe("Batches under review whose second person the caller may be."),
});

export const activeControlsAnswer: z.ZodType<ActiveControlsAnswer> = z.object({
  regions: z.array(regionAnswer(activeControls)),
});
