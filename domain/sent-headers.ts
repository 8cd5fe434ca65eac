/**
 * The headers that an attempt carried, as far as they follow from what is stored: for people who compare them with what
 * a receiver saw. Signatures are not stored and never made again here; the secret stays where it is. A test compares the
 * names and values with the request that the worker builds.
 */
import type { Region } from "./region.ts";

export interface SentHeader {
  readonly name: string;
  /** Null: it is not kept. */
  readonly value: string | null;
  /** What stands in the place of a value that is not kept. */
  readonly note: string | null;
}

export interface SentFacts {
  /** `dlv_...` */
  readonly deliveryId: string;
  /** `ten_...` */
  readonly tenantId: string;
  readonly region: Region;
  readonly idempotencyKey: string;
  readonly eventType: string;
  /** Null: the payload is stored no longer. */
  readonly contentType: string | null;
  readonly traceparent: string | null;
  readonly attempt: number;
  /** Start of the attempt; null for one that was not made yet. */
  readonly startedMs: number | null;
  /** `rpl_...` */
  readonly replayId: string | null;
  /** Whether the tenant had the second header of replays then; null: it is not known. */
  readonly replayHeader: boolean | null;
  readonly plainSignatureHeader: string | null;
}

const SIGNATURE_NOTE = "HMAC-SHA-256 over id, timestamp and body, one for each live secret; not kept";
const REPLAY_NOTE = "the same, if the tenant had asked for this header; not kept";
const PLAIN_NOTE = "timestamp and HMAC-SHA-256 over timestamp and body; not kept";

/** In the order in which they are sent. */
export function sentHeaders(facts: SentFacts): SentHeader[] {
  const timestamp = facts.startedMs === null ? null : String(Math.floor(facts.startedMs / 1_000));
  const kept = (name: string, value: string): SentHeader => ({ name, value, note: null });
  const headers: SentHeader[] = [
    facts.contentType === null
      ? { name: "content-type", value: null, note: "stored with the payload, which is gone" }
      : kept("content-type", facts.contentType),
    { name: "user-agent", value: null, note: "name and version of the worker" },
    kept("webhook-id", facts.deliveryId),
    timestamp === null
      ? { name: "webhook-timestamp", value: null, note: "the second in which it starts" }
      : kept("webhook-timestamp", timestamp),
    { name: "webhook-signature", value: null, note: SIGNATURE_NOTE },
    kept("idempotency-key", facts.idempotencyKey),
    kept("sluice-tenant", facts.tenantId),
    kept("sluice-region", facts.region),
    kept("sluice-event-type", facts.eventType),
    kept("sluice-attempt", String(facts.attempt)),
  ];
  if (facts.traceparent !== null) headers.push(kept("traceparent", facts.traceparent));
  if (facts.replayId !== null) headers.push(kept("sluice-replay", facts.replayId));
  if (facts.replayId !== null && facts.replayHeader === true)
    headers.push(kept("webhook-replay", facts.replayId));
  if (facts.replayId !== null && facts.replayHeader === null) {
    headers.push({ name: "webhook-replay", value: null, note: REPLAY_NOTE });
  }
  if (facts.plainSignatureHeader !== null) {
    headers.push({ name: facts.plainSignatureHeader, value: null, note: PLAIN_NOTE });
  }
  return headers;
}

/** The trace id inside a traceparent; null for a text that is none. */
export function traceIdOf(traceparent: string | null): string | null {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceparent ?? "")?.[1] ?? null;
}
