/** What the API answers about tenants, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { DestinationPage } from "#db/console/list-destinations.ts";
import type { Scope } from "#db/console/list-scope.ts";
import type { TenantList, TenantRegion, TenantRow } from "#db/console/list-tenants.ts";
import type {
  BreakerState,
  DestinationAnswer,
  DestinationDetail,
  GateEvidence,
  TestEventResult,
} from "#db/console/read-destination.ts";
import type { DestinationAttempt, DestinationAttempts } from "#db/console/read-destination-attempts.ts";
import type { DestinationHealth, DestinationState, LastResult } from "#db/console/read-destination-health.ts";
import type { TenantAnswer, TenantDetail, TenantState as TenantPageState } from "#db/console/read-tenant.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";
import { regionAnswer } from "./responses-base.ts";
import { countAndAge, destinationName, heldWork, lane, tenantName, thresholds } from "./responses-shared.ts";

export const destinationState: z.ZodType<DestinationState> = z.enum([
  "active",
  "paused",
  "circuit_open",
  "rate_limited",
  "disabled",
  "deleted",
]);

export const lastResult: z.ZodType<LastResult> = z.object({
  outcome: z.string().describe("Word of domain/outcome.ts."),
  status: z.number().nullable(),
  at: z.string().describe("UTC; of the minute where only that is known."),
});

/** Of a destination, in the list and on its own. */
const destinationFields = {
  id: z.string().describe("`dst_...`"),
  name: z.string(),
  tenant: tenantName,
  host: z.string().describe("Host and port."),
  maskedUrl: z.string().describe("Scheme, host and a mark for each part of the path."),
  state: destinationState,
  stateSince: z
    .string()
    .nullable()
    .describe(
      "Since when it is so, UTC: of a gate since it was shut the last time, of one that only fails since its first failure.",
    ),
  stateUntil: z.string().nullable().describe("When the state ends by itself, UTC."),
  stateReason: z.string().nullable(),
  tenantPausedUntil: z.string().nullable().describe("The tenant's own pause holds it too."),
  failing: z
    .boolean()
    .describe("Gives trouble, whatever its state: disabled, breaker open, or only failures lately."),
  failuresSinceSuccess: z.number(),
  success: z
    .object({ requests: z.number(), delivered: z.number() })
    .describe("Requests of the last 24 h that were answered or should have been."),
  latencyP95Ms: z
    .number()
    .nullable()
    .describe(
      "95 % of the requests of the last hour were in minutes whose own p95 was at most this; null: there were none.",
    ),
  last: lastResult.nullable(),
  retryAfter: z
    .object({ raw: z.string(), seenAt: z.string().nullable() })
    .nullable()
    .describe("The newest that a gate was set by."),
  inFlight: z.number(),
  concurrency: z.object({
    limit: z.number().nullable().describe("Its own; null inherits."),
    desired: z.number().describe("Its own or the region's."),
    adaptive: z
      .number()
      .nullable()
      .describe("What the product found that the receiver takes; null: the cap alone limits."),
    pinned: z.boolean(),
  }),
  ratePerSecond: z.number().nullable().describe("Null: no rate."),
  rateBurst: z.number(),
  secretSetAt: z.string(),
  previousSecretUntil: z
    .string()
    .nullable()
    .describe("Until when the previous secret signs too; null: it has ended."),
  deadLetters: countAndAge,
};

export const destinationHealth: z.ZodType<DestinationHealth> = z.object(destinationFields);

export const destinationPage: z.ZodType<DestinationPage> = z.object({
  rows: z.array(destinationHealth),
  next: z.string().nullable().describe("Cursor of the next page, null on the last one."),
});

const pauseOf = z
  .object({ since: z.string(), until: z.string(), reason: z.string(), by: z.string().nullable() })
  .nullable();

export const gateEvidence: z.ZodType<GateEvidence> = z.object({
  until: z.string().describe("UTC; in the past once it has opened."),
  shut: z.boolean(),
  probing: z.boolean().describe("Open again, and one request at a time until one has an outcome."),
  setAt: z.string().nullable(),
  why: z.enum(["rate_limited", "retry_after"]).nullable(),
  status: z.number().nullable(),
  retryAfterRaw: z.string().nullable().describe("As received, bounded."),
  consecutive: z.number(),
  deliveryId: z.string().nullable().describe("`dlv_...`: the delivery whose answer shut it."),
});

export const breakerState: z.ZodType<BreakerState> = z.object({
  open: z.boolean(),
  until: z.string().nullable().describe("When the next single request may go; null: closed."),
  openedAt: z.string().nullable(),
  opens: z.number(),
  why: z.string().nullable(),
  downInRow: z.number(),
  downSince: z.string().nullable(),
});

export const testEventResult: z.ZodType<TestEventResult> = z.object({
  deliveryId: z.string().describe("`dlv_...`"),
  sentAt: z.string(),
  sentBy: z.string(),
  state: z.enum(STATES).nullable().describe("Null: retention has removed the delivery."),
  outcome: z.string().nullable(),
  status: z.number().nullable(),
  attempts: z.number(),
});

export const destinationDetail: z.ZodType<DestinationDetail> = z.object({
  ...destinationFields,
  region: z.enum(REGIONS),
  version: z.number(),
  createdAt: z.string(),
  deletedAt: z.string().nullable(),
  paused: pauseOf,
  disabled: z.object({ at: z.string(), reason: z.string(), by: z.string().nullable() }).nullable(),
  firstAttemptMs: z.number(),
  due: countAndAge,
  gated: z.number(),
  held: heldWork,
  ready: z.number(),
  delayed: z.number(),
  gate: gateEvidence.nullable().describe("Null: there never was one."),
  adaptive: z.object({
    limit: z.number().nullable(),
    safeLimit: z.number().nullable(),
    pinned: z.boolean(),
    why: z.string().nullable(),
    changedAt: z.string().nullable(),
  }),
  breaker: breakerState,
  failingSince: z
    .string()
    .nullable()
    .describe("Since when only failures come; null: the last answer was a success, or there was none yet."),
  plainSignatureHeader: z.string().nullable(),
  policyOverride: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("As stored; null: the class's policy alone."),
  testEvent: testEventResult.nullable(),
});

export const destinationAnswer: z.ZodType<DestinationAnswer> = z.object({
  destination: destinationDetail,
  ...thresholds,
  countLimit: z.number().describe("`deadLetters.count` is exact up to here."),
});

export const destinationAttempt: z.ZodType<DestinationAttempt> = z.object({
  id: z.string().describe("`att_...`"),
  deliveryId: z.string().describe("`dlv_...`"),
  kind: z.enum(["lease_expired", "http", "not_sent", "stale_result"]),
  number: z.number(),
  lane: lane,
  startedAt: z.string(),
  durationMs: z.number(),
  outcome: z.string(),
  status: z.number().nullable(),
  errorCode: z.string().nullable(),
  retryAfterRaw: z.string().nullable(),
  decision: z.enum(["delivered", "delayed", "dead", "ignored"]),
  reason: z.string().nullable(),
  nextDueAt: z.string().nullable(),
});

export const destinationAttempts: z.ZodType<DestinationAttempts> = z.object({
  attempts: z.array(destinationAttempt).describe("Newest first."),
  more: z.boolean().describe("There are older ones within `days`."),
  days: z.number(),
});

export const tenantRegion: z.ZodType<TenantRegion> = z.object({
  sampledAt: z
    .string()
    .nullable()
    .describe("The sample that the order is of, UTC; null: there is none, the order is by name."),
  ...thresholds,
});

/** Of a tenant in one region, in the list and on its own. */
const tenantFields = {
  id: z.string().describe("`ten_...`"),
  slug: z.string(),
  name: z.string(),
  region: z.enum(REGIONS),
  stateUntil: z.string().nullable().describe("When the state ends by itself, UTC."),
  claimOwner: z.string().describe("Who may claim its work; `sluice` unless it was handed over."),
  firstAttemptMs: z.number().describe("Oldest first attempt, 0 when none waits."),
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
  classes: z.array(z.enum(SERVICE_CLASSES)).describe("Classes with live work, urgent first."),
  deadLetters: countAndAge,
  destinations: z.number(),
  destinationsFailing: z.number(),
  concurrency: z.object({
    limit: z.number().nullable().describe("Its own; null inherits."),
    desired: z.number().describe("Its own or the region's."),
    effective: z.number().describe("What may be in flight at this moment."),
    why: z.enum(["draining", "paused", "other_owner", "resume_ramp"]).nullable(),
  }),
};

export const tenantRow: z.ZodType<TenantRow> = z.object({
  ...tenantFields,
  state: z.enum(["active", "paused", "circuit_open", "limited"]),
  stateReason: z.string().nullable(),
});

export const tenantList: z.ZodType<TenantList> = z.object({
  regions: z.array(regionAnswer(tenantRegion)),
  rows: z
    .array(tenantRow)
    .describe("Over all regions that answered, in their order. Ages are those of the row's own region."),
  next: z.string().nullable(),
});

export const tenantPageState: z.ZodType<TenantPageState> = z.enum([
  "active",
  "paused",
  "circuit_open",
  "limited",
  "deleted",
]);

export const tenantDetail: z.ZodType<TenantDetail> = z.object({
  ...tenantFields,
  version: z.number(),
  state: tenantPageState,
  pause: pauseOf,
  gates: z.number().describe("Destinations behind a shut gate or an open breaker at this moment."),
  openBreakers: z.number(),
  weight: z.number(),
  replayHeader: z
    .boolean()
    .describe("Its replayed attempts carry the batch's id in the header `webhook-replay` too."),
  createdAt: z.string(),
  deletedAt: z.string().nullable(),
  lastDeliveredAt: z.string().nullable(),
});

export const tenantAnswer: z.ZodType<TenantAnswer> = z.object({
  tenant: tenantDetail,
  ...thresholds,
  countLimit: z.number().describe("`deadLetters.count` is exact up to here."),
});

export const scope: z.ZodType<Scope> = z.object({
  tenants: z.array(
    z.object({
      id: z.string().describe("`ten_...`"),
      slug: z.string(),
      name: z.string(),
      destinations: z.array(destinationName),
    }),
  ),
  truncated: z.boolean(),
});
