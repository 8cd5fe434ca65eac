/** The query and body of writing a delivery over HTTP, strict. What a field may hold is the outbox's to say. */
import { z } from "zod";
import { publicId } from "#domain/commands.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { moment } from "#domain/moment.ts";
import { MAX_BATCH_DELIVERIES } from "#outbox/limits.ts";
import { region } from "./schemas.ts";

/** Longest entity id or business version: both only go into a key. */
const MAX_FACT_CHARS = 500;

export const enqueueQuery = z.strictObject({ region });

/** What a key may be made of: half a character is not the same bytes in every program. */
const whole = z
  .string()
  .min(1)
  .refine((text) => text.isWellFormed(), { error: "holds half a character" });
const fact = whole.max(MAX_FACT_CHARS);

const fields = {
  tenantId: publicId("ten"),
  destinationId: publicId("dst").optional().describe("One destination. Give this or `destinationIds`."),
  destinationIds: z
    .array(publicId("dst"))
    .min(1)
    .max(MAX_BATCH_DELIVERIES)
    .optional()
    .describe("Several destinations of the tenant; one delivery each, with one stored body."),
  eventType: whole.describe("Letters, digits, dot, dash, underscore; at most 128: `payment.captured`."),
  entityId: fact
    .optional()
    .describe(
      "With `businessVersion`: the delivery's key is made of eventType, entityId and businessVersion.",
    ),
  businessVersion: fact.optional().describe("Which version of the entity: a number, an expiry, a state."),
  idempotencyKey: z
    .string()
    .optional()
    .describe(
      "The delivery's own key, sent to the receiver byte for byte. Left out: the Idempotency-Key header.",
    ),
  serviceClass: z.enum(SERVICE_CLASSES).optional().describe("Default `routine`."),
  dueAt: moment().optional().describe("Default: at once. At most 90 days ahead."),
  payload: z.string().optional().describe("The body as text; it is sent as UTF-8, byte for byte."),
  payloadBase64: z.string().optional().describe("The body as base64. Give this or `payload`."),
  contentType: z.string().optional().describe("Default `application/json`."),
  traceparent: z.string().optional().describe("W3C trace context, version 00."),
};

/** One of two, not both and not none. */
function exactlyOne(one: unknown, two: unknown): boolean {
  return (one === undefined) !== (two === undefined);
}

export const enqueueBody = z
  .strictObject(fields)
  .refine((body) => exactlyOne(body.payload, body.payloadBase64), {
    error: "give payload or payloadBase64",
    path: ["payload"],
  })
  .refine((body) => exactlyOne(body.destinationId, body.destinationIds), {
    error: "give destinationId or destinationIds",
    path: ["destinationId"],
  })
  .refine((body) => (body.entityId === undefined) === (body.businessVersion === undefined), {
    error: "entityId and businessVersion belong together",
    path: ["businessVersion"],
  })
  .refine((body) => body.entityId === undefined || body.idempotencyKey === undefined, {
    error: "give entityId and businessVersion, or idempotencyKey",
    path: ["idempotencyKey"],
  });

export type EnqueueBody = z.infer<typeof enqueueBody>;
