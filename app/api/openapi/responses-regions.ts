/** What the API answers about regions, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { AuditPage, AuditRow } from "#db/console/list-audit.ts";
import type {
  PoliciesAnswer,
  PolicyInForce,
  PolicyVersion,
  RegionPolicies,
} from "#db/console/list-policies.ts";
import type { RegionHealth, Regions, RegionWorker } from "#db/console/read-regions.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import type { ObjectiveNumbers } from "#domain/objectives.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import { REGIONS } from "#domain/region.ts";
import { regionAnswer } from "./responses-base.ts";
import { tenantName } from "./responses-shared.ts";

export const retryPolicy: z.ZodType<RetryPolicy> = z.object({
  backoff: z.object({
    baseMs: z.number(),
    factor: z.number(),
    capMs: z.number(),
    jitter: z.number().describe("0.2 means that the capped value is multiplied by U(0.8, 1.2)."),
  }),
  scheduleMs: z
    .array(z.number())
    .nullable()
    .describe(
      "The k-th entry is the wait after the k-th failure, in place of `backoff`; null means use `backoff`.",
    ),
  retryAfter: z.object({
    minMs: z.number().describe("No delay of any kind is shorter than this."),
    maxMs: z.number(),
    jitterShare: z
      .number()
      .describe("Jitter is only ever added: uniform between 0 and this share of the delay ..."),
    jitterFloorMs: z.number().describe("... where that bound is at least the floor and at most the cap."),
    jitterCapMs: z.number(),
  }),
  maxFailures: z
    .number()
    .describe("Failures, the first try included, after which a delivery is dead. Throttles do not count."),
  maxThrottleMs: z.number().describe("Bound of the sum of the delays that 429s imposed in one cycle."),
  rejectionAttempts: z
    .number()
    .describe("Permanent 4xx answers after which a delivery is dead as `rejected`."),
  permanentStatuses: z
    .array(z.number())
    .describe("Statuses that would be retried but are to count as rejections, e.g. 501 and 505."),
  requestDeadlineMs: z.number().describe("Covers the whole exchange: connect, send, headers and body."),
  leaseMs: z.number(),
  leaseMarginMs: z.number(),
  gate: z
    .object({
      baseMs: z.number(),
      factor: z.number(),
      capMs: z.number(),
      jitter: z.number().describe("0.2 means that the capped value is multiplied by U(0.8, 1.2)."),
    })
    .describe(
      "Backoff of a destination's gate when a 429 has no usable Retry-After; counts its consecutive gates.",
    ),
});

export const policyVersion: z.ZodType<PolicyVersion> = z.object({
  version: z.number(),
  changedBy: z.string(),
  changedAt: z.string(),
  reason: z.string(),
  body: z.record(z.string(), z.unknown()).describe("As stored: only what differs from the built-in policy."),
});

const written = {
  version: z.number().describe("0: the built-in one, which nobody has changed here."),
  changedBy: z
    .string()
    .nullable()
    .describe("Null when it is the built-in one, or when the caller does not see the region as a whole."),
  changedAt: z.string().nullable(),
  reason: z.string().nullable(),
  history: z
    .array(policyVersion)
    .describe("Newest first, at most 20; empty for who does not see the region as a whole."),
};

export const policyInForce: z.ZodType<PolicyInForce> = z.object({
  serviceClass: z.enum(SERVICE_CLASSES),
  ...written,
  retry: retryPolicy
    .nullable()
    .describe("Null when what is stored cannot be used; workers then answer with `config_error`."),
  builtIn: retryPolicy,
});

export const objectiveNumbers: z.ZodType<ObjectiveNumbers> = z.object({
  urgentTargetMs: z.number().describe("A new delivery should be tried within this; past it, it is late."),
  urgentWarnMs: z.number(),
  urgentPageMs: z.number(),
  routineTargetMs: z.number(),
  routineWarnMs: z.number(),
  routinePageMs: z.number(),
  dueWarnMs: z.number().describe("Due work that nobody claims, whatever its class."),
  duePageMs: z.number(),
  triedTargetShare: z.number().describe("Part of new deliveries to be tried within their class's target."),
  delayedTargetMs: z.number().describe("Delayed attempts should leave within this of their due time."),
  rateLimitedWarnShare: z.number().describe("429 answers of all requests."),
  rateLimitedActShare: z.number(),
  deadLetterWarnMs: z.number(),
});

export const regionPolicies: z.ZodType<RegionPolicies> = z.object({
  policies: z.array(policyInForce),
  objectives: z
    .object({ ...written, numbers: objectiveNumbers, builtIn: objectiveNumbers })
    .describe("What counts as late in this region."),
});

export const policiesAnswer: z.ZodType<PoliciesAnswer> = z.object({
  regions: z.array(regionAnswer(regionPolicies)),
});

export const auditRow: z.ZodType<AuditRow> = z.object({
  id: z.string().describe("`aud_...`"),
  at: z.string(),
  actor: z.string(),
  role: z.string(),
  action: z.string(),
  targetKind: z.string(),
  target: z.string(),
  region: z.enum(REGIONS),
  tenant: tenantName.nullable().describe("Null: of no tenant."),
  reason: z.string(),
  ticket: z.string().nullable(),
  result: z.enum(["ok", "denied", "conflict"]),
  correlationId: z.string(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
});

export const auditPage: z.ZodType<AuditPage> = z.object({
  rows: z.array(auditRow),
  next: z.string().nullable(),
});

export const regionWorker: z.ZodType<RegionWorker> = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  state: z
    .enum(["running", "stopping", "silent"])
    .describe("silent: not heard of for longer than a heartbeat may be late."),
  slots: z.number(),
  inFlight: z.number(),
  startedAt: z.string(),
  heartbeatAt: z.string(),
});

export const regionHealth: z.ZodType<RegionHealth> = z.object({
  claims: z
    .object({
      state: z.enum(["stopped", "on", "partial"]),
      by: z.string().nullable(),
      reason: z.string().nullable(),
      since: z.string().nullable(),
      owner: z.string(),
      handedOver: z.number(),
      version: z.number(),
    })
    .describe("partial: on, but some tenants, or the region itself, are claimed by another owner."),
  workers: z.array(regionWorker),
  workerCount: z.number().describe("Processes that are known, also those that are not listed."),
  slots: z.number().describe("Slots of those that run."),
  lanes: z.array(
    z.object({ lane: z.enum(["first", "retry", "replay"]), inFlight: z.number(), slots: z.number() }),
  ),
  leases: z.object({
    held: z.number(),
    expired: z.number().describe("Past their time, not taken back yet."),
    lastUntil: z.string().nullable(),
    drained: z
      .boolean()
      .nullable()
      .describe(
        "True: claims are stopped and no lease was left, counted behind a barrier. Null: claims are on, or it is not known.",
      ),
  }),
  lag: z
    .object({
      windowMs: z.number(),
      boundsMs: z.array(z.number()),
      counts: z.array(z.number()),
      maxMs: z.number(),
    })
    .describe(
      "First requests by how long after their due time they began: counts up to each bound, the last one without a bound.",
    ),
  requestsPerSecond: z
    .number()
    .nullable()
    .describe("Requests that began, per second; null when nothing was counted lately."),
  expiredLeases: z.object({ windowMs: z.number(), count: z.number() }),
  database: z.object({
    pool: z
      .object({ inUse: z.number(), open: z.number(), max: z.number(), waiting: z.number() })
      .describe("Connections of this console to the region."),
    connections: z.number(),
    connectionsMax: z.number(),
    oldestTransactionMs: z.number().nullable(),
  }),
  partitions: z.array(
    z.object({
      parent: z.string(),
      partitions: z.number(),
      hasDefault: z.boolean(),
      defaultRows: z.number(),
      missing: z.array(z.string()),
    }),
  ),
});

export const regions: z.ZodType<Regions> = z.object({ regions: z.array(regionAnswer(regionHealth)) });
