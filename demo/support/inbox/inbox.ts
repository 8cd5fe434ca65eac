/**
 * The reference receiving endpoint, as a function from request to response: refuse, authenticate, read, then claim the key
 * and apply the effect in one transaction, then acknowledge. It must never acknowledge what is not committed, decode what
 * is not authenticated, or keep a body that is too large. It runs behind Next and behind plain node:http alike.
 */
import type { Pool } from "pg";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { readMessage } from "../messages.ts";
import type { EndpointAddress, EndpointBook } from "./endpoints.ts";
import { authenticate, checkAddressee, readEnvelope } from "./envelope.ts";
import type { Limiter } from "./limiter.ts";
import { problemOf } from "./problem.ts";
import { readBody } from "./read-body.ts";
import { type Receipt, receive } from "./receive.ts";

export interface InboxSettings {
  readonly endpoints: EndpointBook;
  /** The customer's database in a region. */
  readonly poolOf: (region: Region) => Pool;
  readonly limiter: Limiter;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Hears of failures that are a mistake of ours; they are answered without their text. */
  readonly onError: (error: unknown) => void;
  /** Runs between the commit and the answer. For tests: a process that ends in here has applied and not acknowledged. */
  readonly beforeAcknowledge?: (receipt: Receipt) => Promise<void>;
}

/** Answers one request. Never rejects. */
export type Inbox = (request: Request, address: EndpointAddress) => Promise<Response>;

export function createInbox(settings: InboxSettings): Inbox {
  return async (request, address) => {
    try {
      const receipt = await accept(settings, request, address);
      await settings.beforeAcknowledge?.(receipt);
      return acknowledge(receipt);
    } catch (error) {
      return problemOf(error, settings.onError);
    }
  };
}

async function accept(
  { endpoints, poolOf, limiter, nowMs }: InboxSettings,
  request: Request,
  address: EndpointAddress,
): Promise<Receipt> {
  if (request.method !== "POST") {
    throw new SluiceError("method_not_allowed", "Webhooks are delivered by POST.");
  }
  const body = await readBody(request);
  const envelope = readEnvelope(request.headers);
  const endpoint = await endpoints.find(address);
  if (endpoint === null) throw new SluiceError("not_found", "There is no such endpoint.");
  authenticate(envelope, endpoint, body, nowMs());
  checkAddressee(envelope, endpoint);
  limiter.take(endpoint.id, nowMs());
  return receive(poolOf(endpoint.region), {
    region: endpoint.region,
    endpointId: endpoint.id,
    idempotencyKey: envelope.idempotencyKey,
    webhookId: envelope.webhookId,
    body,
    message: readMessage(body),
  });
}

/** A repeat is a success like the first, with the result of then; a header says so to whoever reads the exchange. */
function acknowledge({ result, repeated }: Receipt): Response {
  return new Response(null, {
    status: 204,
    headers: { "cache-control": "no-store", "inbox-result": result, "inbox-repeated": String(repeated) },
  });
}
