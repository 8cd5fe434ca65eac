/**
 * The request of one attempt: body bytes as stored, stable key and id, a fresh signature time. It must never make a
 * key or an id, and never put into a header what the receiver is not promised.
 */
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { signPlain, signWebhook } from "#domain/signature.ts";
import type { SendPlan } from "./destinations.ts";

const USER_AGENT = "sluice/0.1";
const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** What may stand in a header of ours: nothing that ends a line, and nothing that a server could read in two ways. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;

/**
 * The outbox refuses such texts (bad_key, bad_event_type, bad_content_type, bad_traceparent); a row may come another way.
 * @returns which header a stored text cannot stand in, without the text; null when all can
 */
export function whatCannotBeSent(delivery: ClaimedDelivery): string | null {
  const { contentType, idempotencyKey, eventType, traceparent } = delivery;
  if (contentType !== null && !HEADER_TEXT.test(contentType)) return unusable("content-type");
  if (!HEADER_TEXT.test(idempotencyKey)) return unusable("idempotency-key");
  if (!HEADER_TEXT.test(eventType)) return unusable("sluice-event-type");
  if (traceparent !== null && !HEADER_TEXT.test(traceparent)) return unusable("traceparent");
  return null;
}

function unusable(header: string): string {
  return `what is stored for the header ${header} is empty or holds something other than printable ASCII`;
}

/** Headers as a flat list: name, value, name, value... */
export function requestHeaders(
  delivery: ClaimedDelivery,
  body: Buffer,
  plan: SendPlan,
  region: Region,
  nowMs: number,
): string[] {
  const id = toPublicId("dlv", delivery.id);
  const timestampSeconds = Math.floor(nowMs / 1000);
  const live = (plan.secrets ?? []).filter((secret) => secret.untilMs === null || secret.untilMs > nowMs);
  const keys = live.map((secret) => secret.key);
  const headers = [
    "content-type",
    delivery.contentType ?? DEFAULT_CONTENT_TYPE,
    "user-agent",
    USER_AGENT,
    "webhook-id",
    id,
    "webhook-timestamp",
    String(timestampSeconds),
    "webhook-signature",
    signWebhook({ id, timestampSeconds, body, secrets: keys }),
    "idempotency-key",
    delivery.idempotencyKey,
    "sluice-tenant",
    toPublicId("ten", delivery.tenantId),
    "sluice-region",
    region,
    "sluice-event-type",
    delivery.eventType,
    "sluice-attempt",
    String(delivery.attempts + 1),
  ];
  if (delivery.traceparent !== null) headers.push("traceparent", delivery.traceparent);
  if (delivery.replayBatchId !== null) {
    const batch = toPublicId("rpl", delivery.replayBatchId);
    headers.push("sluice-replay", batch);
    if (delivery.replayHeader === true) headers.push("webhook-replay", batch);
  }
  const first = keys[0];
  if (plan.plainSignatureHeader !== null && first !== undefined) {
    headers.push(plan.plainSignatureHeader, signPlain({ timestampSeconds, body, secret: first }));
  }
  return headers;
}
