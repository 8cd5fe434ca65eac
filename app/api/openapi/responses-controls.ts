/** What the API answers about controls, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import type {
  BoundedCount,
  DeliveryControlView,
  DeliveryRefusals,
  DestinationControlView,
  DrainInputs,
  HeldCount,
  LimitPolicy,
  PauseView,
  RegionControlView,
  ServiceTime,
  StepView,
  TenantControlView,
  ThrottleShare,
} from "#db/console/control-views.ts";
import { STATES } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";
import type { SafeLimit } from "#domain/safe-limit.ts";
import { blockerName, decision, permits } from "./responses-shared.ts";

export const deliveryRefusals: z.ZodType<DeliveryRefusals> = z.object({
  retryNow: z.string().nullable(),
  cancel: z.string().nullable(),
  willNotReplay: z.string().nullable(),
  erase: z.string().nullable(),
});

export const deliveryControlView: z.ZodType<DeliveryControlView> = z.object({
  id: z.string().describe("`dlv_...`"),
  region: z.enum(REGIONS),
  tenantId: z.string(),
  tenantName: z.string(),
  destinationId: z.string(),
  state: z.enum(STATES),
  version: z
    .number()
    .nullable()
    .describe("Goes into If-Match of `will-not-replay`: only a dead letter has one."),
  dueAt: z.string(),
  attempts: z.number(),
  inFlight: z.boolean(),
  blockers: z.array(blockerName).describe("Why it waits, the strongest first."),
  payload: z.object({
    id: z.string().describe("`pay_...`"),
    erased: z.boolean(),
    restricted: z.boolean().describe("Out of reach of every attempt, but kept: it can be given back."),
    sizeBytes: z.number().nullable(),
  }),
  refused: deliveryRefusals,
  permit: permits,
});

export const heldCount: z.ZodType<HeldCount> = z.object({
  why: z
    .enum(["tenant_paused", "destination_paused", "destination_disabled", "region_draining"])
    .nullable()
    .describe("The strongest decision that holds them; null when none does."),
  count: z.number(),
  more: z.boolean(),
  oldestMs: z.number(),
});

export const boundedCount: z.ZodType<BoundedCount> = z.object({
  count: z.number(),
  more: z.boolean(),
  oldestMs: z.number(),
});

export const limitPolicy: z.ZodType<LimitPolicy> = z.object({
  maxTenantConcurrency: z.number(),
  maxDestinationConcurrency: z.number(),
  maxRatePerSecond: z.number(),
});

export const regionControlView: z.ZodType<RegionControlView> = z.object({
  region: z.enum(REGIONS),
  version: z.number(),
  claims: z.enum(["stopped", "on"]),
  stopped: decision.nullable(),
  inFlight: z.number().describe("Of every tenant of the region: stopping claims stops them all."),
  expiredLeases: z
    .number()
    .describe("Of those: leases whose time is over and that no worker has taken back yet."),
  lastLeaseUntil: z
    .string()
    .nullable()
    .describe("When the last lease ends by itself, UTC; null: there is none."),
  drained: z
    .boolean()
    .describe(
      "Claims stopped and no lease left, in one snapshot. `GET .../drain` proves it behind a barrier.",
    ),
  workers: z.number(),
  held: heldCount,
  due: boundedCount,
  tenants: z
    .array(z.object({ id: z.string(), name: z.string(), inFlight: z.number() }))
    .describe("Tenants with work in flight, the most first, at most 20."),
  tenantCount: z.number().describe("Tenants of the region that are not deleted: whom stopping reaches."),
  requestDeadlineMs: z.number(),
  defaults: z.object({ tenantConcurrency: z.number(), destinationConcurrency: z.number() }),
  policy: limitPolicy,
  permit: permits,
});

export const safeLimit: z.ZodType<SafeLimit> = z.object({
  limit: z.number().nullable().describe("At least 1; null while R or L is unknown."),
  ratePerSecond: z.number().nullable(),
  serviceTimeMs: z.number().nullable(),
  margin: z.number(),
  missing: z.enum(["rate", "service_time", "rate_and_service_time"]).nullable(),
});

export const pauseView: z.ZodType<PauseView> = z.object({
  until: z.string().nullable().describe("UTC; null: not paused."),
  since: z.string().nullable(),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  resumedAt: z
    .string()
    .nullable()
    .describe("The last resume and the share that it began with; null once its ramp is over."),
  resumeShare: z.number().nullable(),
});

export const serviceTime: z.ZodType<ServiceTime> = z.object({
  p50Ms: z.number(),
  p95Ms: z.number(),
  samples: z.number().describe("Requests it was measured from."),
  windowMs: z.number().describe("They began no longer ago than this."),
});

export const throttleShare: z.ZodType<ThrottleShare> = z.object({
  share: z.number().nullable(),
  throttled: z.number(),
  requests: z.number(),
  windowMs: z.number(),
});

export const drainInputs: z.ZodType<DrainInputs> = z.object({
  waiting: z.number().describe("Due, held or gated now: what would have to leave."),
  waitingMore: z.boolean(),
  concurrency: z.number().describe("In force: the smaller of cap and adaptive limit."),
  ratePerSecond: z.number().nullable(),
  serviceTimeMs: z.number().nullable(),
});

export const stepView: z.ZodType<StepView> = z.object({
  nextRaiseAt: z
    .string()
    .nullable()
    .describe("UTC; a raise before this is refused. Null: one may be made now."),
  maxFactor: z.number().describe("A change may raise to at most this many times the value in force."),
  needsAcknowledge429: z.boolean().describe("True: a raise needs `acknowledge429: true`."),
});

/** Of a tenant and of a destination: both are steered in the same ways. */
const steered = {
  name: z.string(),
  region: z.enum(REGIONS),
  version: z.number().describe("Goes into If-Match."),
  pause: pauseView,
  inFlight: z.number().describe("Leased now. They end by themselves within `requestDeadlineMs`."),
  held: heldCount,
  due: boundedCount,
  gated: boundedCount,
  requestDeadlineMs: z.number(),
  serviceTime: serviceTime.nullable(),
  throttle: throttleShare,
  drain: drainInputs,
  step: stepView,
  policy: limitPolicy,
  permit: permits,
};

export const destinationControlView: z.ZodType<DestinationControlView> = z.object({
  id: z.string().describe("`dst_...`"),
  tenantId: z.string(),
  tenantSlug: z.string(),
  tenantName: z.string(),
  host: z.string().describe("Host and port; never path, query or credentials."),
  concurrency: z.object({
    limit: z.number().nullable(),
    inForce: z.number().describe("The smaller of the cap and the adaptive limit."),
    inherited: z.number(),
  }),
  rate: z.object({ perSecond: z.number().nullable(), burst: z.number() }),
  adaptive: z.object({
    limit: z.number().nullable().describe("Null: only the cap limits."),
    safeLimit: z.number().nullable(),
    pinned: z.boolean(),
    why: z.string().nullable(),
  }),
  suggestion: safeLimit,
  gate: z
    .object({
      until: z.string().describe("UTC. Goes into the body of `open-gate` as `gateUntil`."),
      since: z.string().nullable(),
      why: z.string().nullable(),
      status: z.number().nullable(),
      retryAfter: z.string().nullable().describe("As received, bounded."),
      consecutive: z.number(),
      waiting: boundedCount,
    })
    .nullable()
    .describe("Null: not shut."),
  probing: z.boolean().describe("One request at a time until one has an outcome."),
  breaker: z
    .object({ until: z.string().nullable(), why: z.string().nullable() })
    .nullable()
    .describe("Null: closed."),
  disabled: decision.nullable(),
  secret: z.object({
    setAt: z.string(),
    previousUntil: z
      .string()
      .nullable()
      .describe("Until when the previous secret signs too; null: it has ended."),
  }),
  nextTestEventAt: z
    .string()
    .nullable()
    .describe("UTC; the next test event is refused before this. Null: one may be sent now."),
  ...steered,
});

export const tenantControlView: z.ZodType<TenantControlView> = z.object({
  id: z.string().describe("`ten_...`"),
  slug: z.string(),
  weight: z.number(),
  concurrency: z.object({
    limit: z.number().nullable().describe("Its own cap; null inherits."),
    inForce: z.number(),
    inherited: z.number(),
  }),
  destinations: z.number().describe("Destinations of it that are not deleted."),
  replayHeader: z
    .boolean()
    .describe("Its replayed attempts carry the batch's id in the header `webhook-replay`."),
  ...steered,
});

export const drainStatus: z.ZodType<DrainStatus> = z.object({
  region: z.enum(REGIONS),
  asOf: z.string().describe("The database's time of the count, UTC."),
  claims: z.enum(["stopped", "on"]),
  reason: z.string().nullable(),
  stoppedBy: z.string().nullable(),
  stoppedAt: z.string().nullable(),
  version: z.number(),
  leases: z
    .number()
    .describe("Deliveries under a lease, those included whose lease has ended but was not taken back yet."),
  expiredLeases: z
    .number()
    .describe("Of those: leases whose time is over. A living worker takes them back within seconds."),
  lastLeaseUntil: z
    .string()
    .nullable()
    .describe("When the last lease ends by itself; null when there is none."),
  workers: z.number().describe("Processes with a fresh heartbeat."),
  drained: z
    .boolean()
    .describe(
      "True: claims were stopped and not one lease was left at `asOf`, counted after the barrier. Nothing of this region is being sent, and nothing will be until claims are started.",
    ),
});
