/** What the API answers about deliveries, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { Blocker } from "#db/console/blockers.ts";
import type { ListOrder } from "#db/console/delivery-sources.ts";
import type { DeliveryPage, DeliveryRow } from "#db/console/list-deliveries.ts";
import type { Annotation as DeliveryAnnotation } from "#db/console/read-annotations.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryAnswer, DeliveryDetail, NextAttempts } from "#db/console/read-delivery.ts";
import type { RevealedBody } from "#db/console/reveal-body.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";
import type { PreviewStep } from "#domain/retry-policy.ts";
import {
  blockerName,
  deadReason,
  destinationName,
  lane,
  replayName,
  tenantName,
} from "./responses-shared.ts";

export const blocker: z.ZodType<Blocker> = z.object({
  code: blockerName,
  until: z
    .string()
    .nullable()
    .describe("Earliest moment at which it can be gone, UTC; null when no time is known."),
  reason: z.string().nullable().describe("What was written down as its cause."),
  by: z.string().nullable().describe("Who or what decided it, where somebody did."),
  since: z.string().nullable().describe("Since when, UTC, where that is known."),
});

export const deliveryRow: z.ZodType<DeliveryRow> = z.object({
  id: z.string().describe("`dlv_...`"),
  tenant: tenantName,
  destination: destinationName,
  eventType: z.string(),
  serviceClass: z.enum(SERVICE_CLASSES),
  state: z.enum(STATES),
  lane: lane.nullable().describe("Only while it is live."),
  reason: z.string().nullable().describe("Of a dead or cancelled one."),
  attempts: z.number(),
  failures: z.number().describe("Attempts that count against the policy."),
  maxFailures: z
    .number()
    .nullable()
    .describe("Failures after which it is dead; null when its policy cannot be used."),
  lastOutcome: z.string().nullable(),
  lastStatus: z.number().nullable(),
  createdAt: z.string(),
  dueAt: z.string(),
  finishedAt: z.string().nullable(),
  replayId: z.string().nullable().describe("`rpl_...` of the replay batch that released it last."),
  held: z.array(blocker).describe("Named only for a waiting delivery that is due: what holds it."),
});

export const listOrder: z.ZodType<ListOrder> = z.enum(["accepted", "due", "oldest_due"]);

export const deliveryPage: z.ZodType<DeliveryPage> = z.object({
  rows: z.array(deliveryRow),
  next: z.string().nullable().describe("Cursor of the next page, null on the last one."),
  order: listOrder,
  total: z
    .object({ count: z.number(), atLeast: z.boolean() })
    .nullable()
    .describe(
      "Rows of the whole list; `atLeast` when there are more than can be counted. Null when the count was not asked for.",
    ),
  window: z
    .object({ from: z.string().nullable(), to: z.string().nullable(), byDefault: z.boolean() })
    .describe(
      "Of when the rows were accepted. `byDefault`: a filter without an index looks at one day unless a range is given.",
    ),
});

export const previewStep: z.ZodType<PreviewStep> = z.object({
  attempt: z.number().describe("Number of the attempt that is supposed to fail."),
  failures: z.number().describe("Failures of the cycle once it has failed."),
  to: z.enum(["delayed", "dead"]),
  minDelayMs: z
    .number()
    .nullable()
    .describe("Wait after that attempt: lowest, middle and highest value of the jitter; null when dead."),
  delayMs: z.number().nullable(),
  maxDelayMs: z.number().nullable(),
  maxGateMs: z
    .number()
    .nullable()
    .describe("Longest time for which it also shuts the destination's gate; null when it does not."),
  reason: deadReason.nullable(),
});

export const nextAttempts: z.ZodType<NextAttempts> = z.object({
  policy: z
    .object({
      maxFailures: z.number(),
      maxThrottleMs: z.number(),
      minDelayMs: z.number(),
      maxDelayMs: z.number(),
    })
    .nullable()
    .describe("Null: its policy cannot be used, and the worker ends it as `config_error`."),
  failed: z.array(previewStep).describe("If every attempt failed without an answer."),
  throttled: z.array(previewStep).describe("If every attempt was answered with a 429 without a Retry-After."),
});

export const deliveryDetail: z.ZodType<DeliveryDetail> = z.object({
  id: z.string(),
  region: z.enum(REGIONS),
  tenant: tenantName,
  destination: destinationName,
  eventType: z.string(),
  serviceClass: z.enum(SERVICE_CLASSES),
  idempotencyKey: z.string(),
  traceparent: z.string().nullable(),
  state: z.enum(STATES),
  lane: lane.nullable(),
  reason: z.string().nullable(),
  lastDetail: z.string().nullable(),
  attempts: z.number(),
  failures: z.number(),
  throttles: z.number(),
  lostLeases: z.number(),
  cycle: z.number(),
  createdAt: z.string(),
  firstDueAt: z.string(),
  dueAt: z.string(),
  leasedAt: z.string().nullable(),
  leaseUntil: z.string().nullable(),
  leasedBy: z.string().nullable().describe("Which worker holds the lease: host and process number."),
  finishedAt: z.string().nullable(),
  payload: z.object({
    id: z.string().describe("`pay_...`"),
    sizeBytes: z.number(),
    contentType: z.string().nullable().describe("Null when the payload is stored no longer."),
    erasedAt: z.string().nullable().describe("When it was erased for good; null: it was not."),
    restrictedAt: z
      .string()
      .nullable()
      .describe(
        "Since when it is kept apart, out of reach of every attempt, until a person gives it back or erases it; null: it is not.",
      ),
  }),
  replay: replayName.nullable().describe("The replay batch that it belongs to, while it does."),
  blockers: z
    .array(blocker)
    .describe(
      "What stands in the way at this moment, its due time and its lease included; empty for one that has ended.",
    ),
  earliestAt: z
    .string()
    .nullable()
    .describe(
      "Earliest moment at which it can leave; null when that is not known, or when it no longer waits.",
    ),
  next: nextAttempts.nullable(),
  signing: z.object({
    plainHeader: z
      .string()
      .nullable()
      .describe("Header of the second, plain signature; null when its destination asks for none."),
    secrets: z.number().describe("Secrets that sign now: two during a rotation."),
    secretSetAt: z.string().nullable(),
  }),
});

export const attemptEntry: z.ZodType<AttemptEntry> = z.object({
  id: z.string().describe("`att_...`"),
  kind: z
    .enum(["lease_expired", "http", "not_sent", "stale_result"])
    .describe("`not_sent`: it ended without a request."),
  number: z.number(),
  cycle: z.number(),
  lane: lane,
  replay: replayName.nullable().describe("Under which replay batch it ran."),
  worker: z.string().nullable().describe("Host and process number of the worker; null when unknown."),
  dueAt: z.string(),
  startedAt: z.string(),
  durationMs: z.number(),
  outcome: z.string(),
  decision: z.enum(["delivered", "delayed", "dead", "ignored"]),
  reason: z.string().nullable(),
  status: z.number().nullable(),
  errorCode: z.string().nullable(),
  errorDetail: z.string().nullable(),
  countedFailure: z.boolean(),
  retryAfter: z
    .object({
      raw: z.string(),
      read: z.string().nullable().describe("How it was read."),
      askedMs: z.number().nullable(),
    })
    .nullable(),
  clamped: z.enum(["min", "max"]).nullable(),
  fallback: z.boolean().describe("True when the policy's backoff decided in place of a Retry-After."),
  jitterMs: z.number().nullable(),
  delayMs: z.number().nullable(),
  nextDueAt: z.string().nullable(),
  response: z
    .object({
      contentType: z.string().nullable(),
      bytes: z.number(),
      truncated: z.boolean(),
      stored: z.boolean(),
    })
    .nullable()
    .describe("`stored`: there are bytes that can be revealed."),
  recordedAt: z.string().describe("When the outcome was stored: the next due time counts from then."),
});

export const deliveryAnnotation: z.ZodType<DeliveryAnnotation> = z.object({
  auditId: z.string().describe("`aud_...`"),
  at: z.string(),
  actor: z.string(),
  role: z.string(),
  action: z.string().describe("`tenant.pause`"),
  target: z.enum(["region", "tenant", "destination", "delivery", "dead_letter", "payload"]),
  targetId: z.string().describe("Public id, or the region's name."),
  reason: z.string(),
  result: z.enum(["done", "denied", "conflict"]),
});

export const deliveryAnswer: z.ZodType<DeliveryAnswer> = z.object({
  region: z.enum(REGIONS),
  asOf: z.string(),
  delivery: deliveryDetail,
  attempts: z.array(attemptEntry),
  attemptsTruncated: z.boolean().describe("True when there are more attempts than are shown."),
  annotations: z
    .array(deliveryAnnotation)
    .describe("What was done to it and to what it belongs to, oldest first."),
});

export const revealedBody: z.ZodType<RevealedBody> = z.object({
  auditId: z.string().describe("`aud_...`: the row that says who saw it, when."),
  at: z.string(),
  what: z.enum(["payload", "response"]),
  attempt: z.number().nullable(),
  contentType: z.string().nullable(),
  sizeBytes: z.number().describe("Size of the whole, as far as it is known."),
  shownBytes: z.number().describe("Bytes in `text`."),
  truncated: z.boolean().describe("True: there was more than is shown."),
  erasedAt: z.string().nullable().describe("Set for a payload that was erased; there is no text then."),
  restrictedAt: z
    .string()
    .nullable()
    .describe(
      "Set for a payload that is restricted: it is kept apart and shown to nobody, there is no text.",
    ),
  text: z.string().nullable(),
  isText: z
    .boolean()
    .describe("False: it is no UTF-8 text; `text` has replacements and `hex` the first bytes."),
  hex: z.string().nullable(),
});
