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
  if (delivery.replayBatchId !== null)
    headers.push("sluice-replay", toPublicId("rpl", delivery.replayBatchId));
  const first = keys[0];
  if (plan.plainSignatureHeader !== null && first !== undefined) {
    headers.push(plan.plainSignatureHeader, signPlain({ timestampSeconds, body, secret: first }));
  }
  return headers;
}
