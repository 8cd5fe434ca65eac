/**
 * Requests to the demo's receiving endpoint, signed by the public `standardwebhooks` package and not by our own code, so
 * that a mistake in our signing or checking is seen.
 */
import { randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";

export interface SignedRequestOptions {
  readonly region: Region;
  /** A UUID. */
  readonly tenantId: string;
  readonly secret: string;
  readonly body: string;
  /** Default: a new one. */
  readonly webhookId?: string;
  /** Default: a new one. */
  readonly key?: string;
  /** Signed time; default now. */
  readonly at?: Date;
  /** Replaces headers, or leaves them out by null; the signature stays that of the original ones. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export interface SignedRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Everything that `fetch` needs beside the URL. */
export function signedRequest(options: SignedRequestOptions): SignedRequest {
  const webhookId = options.webhookId ?? `dlv_${randomUUID().replaceAll("-", "")}`;
  const at = options.at ?? new Date();
  const headers: Record<string, string | null> = {
    "content-type": "application/json",
    "webhook-id": webhookId,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(options.secret).sign(webhookId, at, options.body),
    "idempotency-key": options.key ?? randomUUID(),
    "sluice-tenant": toPublicId("ten", options.tenantId),
    "sluice-region": options.region,
    "sluice-event-type": "test.event",
    "sluice-attempt": "1",
    ...options.headers,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null);
  return { method: "POST", headers: Object.fromEntries(given), body: options.body };
}

/** A follow-up as the desk tells it. */
export function followUpBody(ticketId: string, version = 1): string {
  return JSON.stringify({
    type: "ticket.follow_up_due",
    ticket: { id: ticketId, version, subject: "Card was declined twice" },
    followUpAt: "2026-11-30T12:00:00.000000Z",
  });
}

/** A document for the search index. */
export function indexBody(ticketId: string, version: number, subject = `version ${version}`): string {
  return JSON.stringify({
    type: "ticket.index_wanted",
    ticket: { id: ticketId, version, subject },
    generation: 1,
  });
}
