/**
 * Writes deliveries for programs that cannot do it in their own transaction. It is the weaker contract: their change and
 * the delivery are two commits, and only a repeat with the same key makes up for an answer that was lost. Everything else
 * is the outbox's, in one transaction of ours; it must never answer before that commits, and never change what stands.
 */
import "server-only";
import { enqueueDatabase } from "#db/console/enqueue-database.ts";
import {
  type EnqueueRequest,
  explainEnqueueError,
  storeRequest,
  takeRequest,
} from "#db/console/enqueue-request.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { requirePermit, type TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  createHinter,
  type DeliveryInput,
  type EnqueuedDelivery,
  enqueueDeliveries,
  type Hinter,
  keyFromFacts,
  outboxStatementName,
  transactWithOutbox,
} from "#outbox/index.ts";
import { admit, type Caller, guarded, invalid, json, parseQuery } from "./answer.ts";
import { parseBody, readAnyJson, recordDenied } from "./change.ts";
import { readKey, requestHash } from "./command-headers.ts";
import { type EnqueueBody, enqueueBody, enqueueQuery } from "./enqueue-schemas.ts";

/** Largest request: a body of 256 KiB, escaped in JSON or as base64, and room for 500 destinations. */
export const MAX_ENQUEUE_BYTES = 2 * 1024 * 1024;
const TRANSACTION = { timeout: 6_000, maxWait: 2_000 } as const;
const CREATED = 201;
const KNOWN = 200;

/** Answers POST /api/v1/deliveries?region= with 201, or 200 when nothing was new. */
export function enqueue(request: Request): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const caller = await permitted(request, correlationId);
    const { region } = parseQuery(enqueueQuery, request);
    if (caller.scope[region] === undefined) throw outside();
    const key = requiredKey(request);
    const body = parseBody(enqueueBody, await readAnyJson(request, MAX_ENQUEUE_BYTES));
    const tenantId = fromPublicId("ten", body.tenantId);
    await recorded(request, correlationId, async () => {
      requirePermit(caller.principal.grants, "enqueue", { region, tenantId });
    });
    const input = inputOf(region, body, key);
    const requestSha256 = requestHash(request, undefined, body);
    const { replayed, deliveries } = await inRegion(caller.scope[region] ?? null, () =>
      write(input, { region, actor: caller.principal.actor, key, requestSha256 }),
    );
    return respond(region, deliveries, replayed, correlationId);
  });
}

function respond(
  region: Region,
  deliveries: readonly EnqueuedDelivery[],
  replayed: boolean,
  correlationId: string,
): Response {
  const status = deliveries.some((delivery) => delivery.status === "created") ? CREATED : KNOWN;
  const response = json({ region, deliveries }, status, "application/json", correlationId);
  const [only, more] = deliveries;
  if (only !== undefined && more === undefined) {
    response.headers.set("location", `/api/v1/deliveries/${only.deliveryId}`);
  }
  if (replayed) response.headers.set("idempotency-replayed", "true");
  return response;
}

function permitted(request: Request, correlationId: string): Promise<Caller> {
  return recorded(request, correlationId, () => admit(request, "enqueue", correlationId));
}

/** Whoever tried what they may not is written down. What was written is in the region's own rows, not in the audit. */
async function recorded<T>(request: Request, correlationId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSluiceError(error, "forbidden"))
      await recordDenied(request, "enqueue", correlationId, error.detail);
    throw error;
  }
}

function outside(): SluiceError {
  return new SluiceError("not_found", "There is no such region in your scope.");
}

/** @throws SluiceError `bad_key` also when there is none: without it a repeat would be a second delivery */
function requiredKey(request: Request): string {
  const key = readKey(request);
  if (key !== null) return key;
  throw new SluiceError(
    "bad_key",
    "Send Idempotency-Key, and the same one again when no answer comes. Make it of business facts, not of an attempt.",
  );
}

/** @throws SluiceError `invalid_body` for what is not base64 */
function inputOf(region: Region, body: EnqueueBody, key: string): DeliveryInput {
  const { payload, payloadBase64, entityId, businessVersion, idempotencyKey, dueAt, ...rest } = body;
  const ownKey =
    entityId === undefined || businessVersion === undefined
      ? (idempotencyKey ?? key)
      : keyFromFacts({ event: body.eventType, entityId, version: businessVersion });
  return {
    ...defined(rest),
    region,
    idempotencyKey: ownKey,
    body: payload ?? bytesOf(payloadBase64 ?? ""),
    ...(dueAt === undefined ? {} : { dueAt: new Date(dueAt) }),
  };
}

/** Leaves out what was not given: for the outbox, absent and undefined are not the same. */
function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Node skips what is not base64; a body that lost characters must not be sent. */
function bytesOf(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") === text) return bytes;
  throw invalid("invalid_body", [{ pointer: "payloadBase64", detail: "must be base64 with its padding" }]);
}

interface Written {
  readonly deliveries: EnqueuedDelivery[];
  readonly replayed: boolean;
}

/** One transaction: the request's key, the deliveries, what the request is remembered by. Then the hint. */
function write(input: DeliveryInput, request: EnqueueRequest): Promise<Written> {
  const { prisma, connectionString } = enqueueDatabase(request.region, {
    statementName: outboxStatementName,
  });
  return transactWithOutbox(
    prisma,
    hinterOf(request.region, connectionString),
    async (tx) => {
      const replayed = await takeRequest(tx, request);
      const deliveries = await enqueueDeliveries(tx, [input]);
      const other = deliveries.filter(({ status }) => status === "mismatch");
      if (other.length > 0) throw mismatch(other);
      if (!replayed) await storeRequest(tx, request, deliveries);
      return { deliveries, replayed };
    },
    TRANSACTION,
  );
}

/** Thrown inside of the transaction: none of the other destinations is written either. */
function mismatch(deliveries: readonly EnqueuedDelivery[]): SluiceError {
  return new SluiceError(
    "key_mismatch",
    "this key stands for another body at these destinations: nothing was written or changed",
    { deliveries },
  );
}

async function inRegion<T>(tenants: TenantScope, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Whose destination it is, is not for somebody who may only know some tenants.
    if (isSluiceError(error, "foreign_destination") && tenants !== null) {
      throw new SluiceError("unknown_destination", "no such destination of this tenant in this region");
    }
    if (isSluiceError(error)) throw error;
    throw explainEnqueueError(error) ?? error;
  }
}

/** Next loads modules more than once per process; one connection for hints is enough. */
const shared = globalThis as typeof globalThis & { sluiceEnqueueHinters?: Map<Region, Hinter> };

function hinterOf(region: Region, connectionString: string): Hinter {
  shared.sluiceEnqueueHinters ??= new Map();
  const known = shared.sluiceEnqueueHinters.get(region);
  if (known) return known;
  const hinter = createHinter({ connectionString });
  shared.sluiceEnqueueHinters.set(region, hinter);
  return hinter;
}
