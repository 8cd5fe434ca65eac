/**
 * Checks what the caller gave, as far as that needs no database, and gives every delivery its ids.
 * It runs before any statement, so a refusal here leaves the caller's transaction as it was.
 */
import { createHash, randomBytes } from "node:crypto";
import { types } from "node:util";
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { validateKey } from "#domain/idempotency-key.ts";
import { fromPublicId, isUuid, uuidV7 } from "#domain/ids.ts";
import { parseRegion, type Region } from "#domain/region.ts";
import {
  DEFAULT_MAX_BODY_BYTES,
  HARD_MAX_BODY_BYTES,
  MAX_BATCH_BODY_BYTES,
  MAX_BATCH_DELIVERIES,
  MAX_CONTENT_TYPE_CHARS,
  MAX_DELAY_MS,
  MAX_EVENT_TYPE_CHARS,
} from "./limits.ts";
import type { DeliveryInput, EnqueueOptions } from "./types.ts";

/** A body with its id; several deliveries may point at it. */
export interface CheckedBody {
  readonly payloadId: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
}

/** One input at one destination, ready to be written. Ids are UUIDs. */
export interface CheckedDelivery {
  readonly deliveryId: string;
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly eventType: string;
  readonly idempotencyKey: string;
  readonly serviceClass: ServiceClass;
  readonly traceparent: string | null;
  readonly delayMs: number | null;
  readonly dueAtMs: number | null;
  readonly body: CheckedBody;
}

type Fields = Omit<CheckedDelivery, "deliveryId" | "destinationId" | "body">;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}([ \\t]*;[ \\t]*${TOKEN}=(${TOKEN}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);
const EVENT_TYPE = /^[A-Za-z0-9._-]+$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const SHOWN_CHARS = 60;

/**
 * @param nowMs milliseconds since 1970; stands in all ids of the call, because retention looks for a payload in the
 *   partition of its delivery's day
 * @throws SluiceError of the outbox; `data.input` is the position of the input in the call
 */
export function checkInputs(
  inputs: readonly DeliveryInput[],
  options: EnqueueOptions,
  nowMs: number,
): CheckedDelivery[] {
  const maxBodyBytes = checkBodyLimit(options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
  const checked: CheckedDelivery[] = [];
  let bodyBytes = 0;
  for (const [position, input] of inputs.entries()) {
    const found = atInput(position, () => checkInput(input, maxBodyBytes, nowMs));
    checked.push(...found);
    bodyBytes += found[0]?.body.bytes.length ?? 0;
    if (checked.length > MAX_BATCH_DELIVERIES) {
      throw new SluiceError("batch_too_large", `one call may write ${MAX_BATCH_DELIVERIES} deliveries`);
    }
    if (bodyBytes > MAX_BATCH_BODY_BYTES) {
      throw new SluiceError(
        "batch_too_large",
        `the bodies of one call may have ${MAX_BATCH_BODY_BYTES} bytes`,
      );
    }
  }
  return checked;
}

function checkInput(input: DeliveryInput, maxBodyBytes: number, nowMs: number): CheckedDelivery[] {
  const destinationIds = checkDestinations(input);
  const fields: Fields = {
    region: parseRegion(String(input.region)),
    tenantId: readId("ten", input.tenantId),
    eventType: checkEventType(input.eventType),
    idempotencyKey: validateKey(input.idempotencyKey),
    serviceClass: checkServiceClass(input.serviceClass ?? "routine"),
    traceparent: checkTraceparent(input.traceparent),
    ...checkDueTime(input),
  };
  const body = checkBody(input, maxBodyBytes, nowMs);
  return destinationIds.map((destinationId) => ({
    ...fields,
    deliveryId: uuidV7(nowMs, randomBytes),
    destinationId,
    body,
  }));
}

function checkDestinations(input: DeliveryInput): string[] {
  if (input.destinationId !== undefined && input.destinationIds !== undefined) {
    throw new SluiceError("no_destination", "give destinationId or destinationIds, not both");
  }
  const given = input.destinationIds ?? (input.destinationId === undefined ? [] : [input.destinationId]);
  if (given.length === 0) throw new SluiceError("no_destination", "the delivery names no destination");
  if (given.length > MAX_BATCH_DELIVERIES) {
    throw new SluiceError("batch_too_large", `one call may write ${MAX_BATCH_DELIVERIES} deliveries`);
  }
  return given.map((id) => readId("dst", id));
}

function readId(prefix: "ten" | "dst", text: string): string {
  const lower = String(text).toLowerCase();
  return isUuid(lower) ? lower : fromPublicId(prefix, String(text));
}

function checkEventType(text: string): string {
  if (typeof text !== "string" || text.length > MAX_EVENT_TYPE_CHARS || !EVENT_TYPE.test(text)) {
    throw new SluiceError(
      "bad_event_type",
      `an event type is 1 to ${MAX_EVENT_TYPE_CHARS} letters, digits, dots, dashes and underscores`,
    );
  }
  return text;
}

function checkServiceClass(text: string): ServiceClass {
  const found = SERVICE_CLASSES.find((name) => name === text);
  if (found === undefined) {
    throw new SluiceError(
      "bad_service_class",
      `"${String(text).slice(0, SHOWN_CHARS)}" is not urgent or routine`,
    );
  }
  return found;
}

function checkTraceparent(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (typeof text !== "string" || !TRACEPARENT.test(text)) {
    throw new SluiceError(
      "bad_traceparent",
      "a traceparent is 00-<32 hex>-<16 hex>-<2 hex>, with no id all zero",
    );
  }
  return text;
}

/** No business moment is older; an unset date would else stand first in its lane, decades late. */
const EARLIEST_DUE_MS = Date.UTC(2000, 0, 1);

function checkDueTime(input: DeliveryInput): Pick<CheckedDelivery, "delayMs" | "dueAtMs"> {
  const { delayMs, dueAt } = input;
  if (delayMs !== undefined && dueAt !== undefined) {
    throw new SluiceError("bad_due_time", "give delayMs or dueAt, not both");
  }
  if (delayMs !== undefined && !(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    throw new SluiceError("bad_due_time", `delayMs is not between 0 and ${MAX_DELAY_MS}`);
  }
  // Too far ahead is for the statement to say: only the database clock counts.
  if (dueAt !== undefined && !(types.isDate(dueAt) && Number.isFinite(dueAt.getTime()))) {
    throw new SluiceError("bad_due_time", "dueAt is not a valid moment");
  }
  if (dueAt !== undefined && dueAt.getTime() < EARLIEST_DUE_MS) {
    throw new SluiceError("bad_due_time", "dueAt lies before the year 2000");
  }
  return { delayMs: delayMs ?? null, dueAtMs: dueAt?.getTime() ?? null };
}

function checkBody(input: DeliveryInput, maxBodyBytes: number, nowMs: number): CheckedBody {
  const contentType = input.contentType ?? "application/json";
  if (
    typeof contentType !== "string" ||
    contentType.length > MAX_CONTENT_TYPE_CHARS ||
    !MEDIA_TYPE.test(contentType)
  ) {
    throw new SluiceError(
      "bad_content_type",
      "the content type is not a media type such as application/json",
    );
  }
  const bytes = bodyBytes(input.body);
  if (bytes.length > maxBodyBytes) {
    throw new SluiceError(
      "body_too_large",
      `the body has ${bytes.length} bytes, ${maxBodyBytes} are allowed`,
      {
        bodyBytes: bytes.length,
        maxBodyBytes,
      },
    );
  }
  return {
    payloadId: uuidV7(nowMs, randomBytes),
    bytes,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    contentType,
  };
}

/** A copy or a view of the bytes; the caller may change its own buffer only once the statement has been sent. */
function bodyBytes(body: Uint8Array | string): Buffer {
  if (types.isUint8Array(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // A lone surrogate has no UTF-8: it would arrive as another character than the one given.
  if (typeof body === "string" && body.isWellFormed()) return Buffer.from(body, "utf8");
  throw new SluiceError("bad_body", "the body is neither bytes nor well-formed text");
}

function checkBodyLimit(maxBodyBytes: number): number {
  if (Number.isInteger(maxBodyBytes) && maxBodyBytes > 0 && maxBodyBytes <= HARD_MAX_BODY_BYTES)
    return maxBodyBytes;
  throw new SluiceError("bad_config", `maxBodyBytes must be a whole number from 1 to ${HARD_MAX_BODY_BYTES}`);
}

/** Adds the position to what is thrown, so that a caller with 500 inputs finds the one. */
function atInput<T>(position: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new SluiceError(error.code, error.detail, { ...error.data, input: position }, { cause: error });
  }
}
