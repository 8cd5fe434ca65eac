/**
 * The headers of a request: what is signed with, and what the envelope says. Shapes only; nothing here believes a header
 * that the signature does not cover more than that it has to name the endpoint's own tenant and region.
 */
import { SluiceError } from "#domain/errors.ts";
import { validateKey } from "#domain/idempotency-key.ts";
import { fromPublicId } from "#domain/ids.ts";
import { isRegion, type Region } from "#domain/region.ts";
import { verifyWebhook } from "#domain/signature.ts";
import type { InboxEndpoint } from "./endpoints.ts";

export interface Envelope {
  readonly webhookId: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly idempotencyKey: string;
  /** A UUID. */
  readonly tenantId: string;
  readonly region: Region;
}

const MAX_ID_CHARS = 255;
/** Either way, as Standard Webhooks has it. */
const TOLERANCE_SECONDS = 300;

/**
 * @throws SluiceError `unauthenticated` without a signature and its time; `bad_envelope` without an id, a key or a tenant;
 *   `bad_region` with a region that does not exist
 */
export function readEnvelope(headers: Headers): Envelope {
  const signature = headers.get("webhook-signature");
  const timestamp = headers.get("webhook-timestamp");
  if (!signature || !timestamp) {
    throw new SluiceError(
      "unauthenticated",
      "The request is not signed: webhook-signature or -timestamp is missing.",
    );
  }
  const webhookId = headers.get("webhook-id");
  if (!webhookId || webhookId.length > MAX_ID_CHARS) throw badEnvelope("webhook-id");
  const region = headers.get("sluice-region");
  if (!isRegion(region)) {
    throw new SluiceError("bad_region", "The header sluice-region does not name a region.");
  }
  return {
    signature,
    timestamp,
    webhookId,
    region,
    idempotencyKey: readWith("idempotency-key", headers, validateKey),
    tenantId: readWith("sluice-tenant", headers, (text) => fromPublicId("ten", text)),
  };
}

/** @throws SluiceError `bad_envelope`, `wrong_region` when the envelope is another endpoint's */
export function checkAddressee(envelope: Envelope, endpoint: InboxEndpoint): void {
  if (envelope.region !== endpoint.region) {
    throw new SluiceError("wrong_region", `This endpoint is in region ${endpoint.region}.`);
  }
  if (envelope.tenantId !== endpoint.tenantId) {
    throw new SluiceError(
      "bad_envelope",
      "The header sluice-tenant names another tenant than this endpoint's.",
    );
  }
}

/**
 * Any live secret will do, in constant time; a previous secret that has ended is none.
 * @throws SluiceError `bad_signature`, `stale_timestamp`
 */
export function authenticate(
  envelope: Envelope,
  endpoint: InboxEndpoint,
  body: Uint8Array,
  nowMs: number,
): void {
  const live = endpoint.secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
  const checked = verifyWebhook({
    id: envelope.webhookId,
    timestamp: envelope.timestamp,
    signature: envelope.signature,
    body,
    secrets: live.map(({ key }) => key),
    nowSeconds: Math.floor(nowMs / 1000),
    toleranceSeconds: TOLERANCE_SECONDS,
  });
  if (checked.ok) return;
  if (checked.why === "too_old" || checked.why === "too_new") {
    throw new SluiceError(
      "stale_timestamp",
      `webhook-timestamp is more than ${TOLERANCE_SECONDS} s from now.`,
    );
  }
  throw new SluiceError("bad_signature", "No signature matches the body, the id and the time.");
}

function readWith(name: string, headers: Headers, read: (text: string) => string): string {
  try {
    return read(headers.get(name) ?? "");
  } catch {
    throw badEnvelope(name);
  }
}

function badEnvelope(name: string): SluiceError {
  return new SluiceError("bad_envelope", `The header ${name} is missing or cannot be used.`);
}
