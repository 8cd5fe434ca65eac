/**
 * The Idempotency-Key of a request that writes deliveries, in the very transaction in which they are written: a crash
 * leaves both or neither, and of two equal requests at once the second waits for the first one's end. What happens to a
 * key of a delivery is the outbox's business, and outlives this by far: retention removes these after a day.
 */
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { explainOutage } from "./read-region.ts";

const LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = "55P03";
const RETRY_AFTER_MS = 1_000;
const CREATED_STATUS = 201;

/** A Prisma transaction, as far as it is needed here. */
export interface RawTransaction {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T>;
}

export interface EnqueueRequest {
  readonly region: Region;
  /** `token:billing`: a key belongs to its actor. */
  readonly actor: string;
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** Over all that makes two requests the same. */
  readonly requestSha256: Uint8Array;
}

/** What one request has written: small, no body. */
export interface WrittenDelivery {
  readonly deliveryId: string;
  readonly destinationId: string;
  readonly idempotencyKey: string;
}

const WAIT = "SELECT set_config('lock_timeout', $1, true)";
const TAKE = `
INSERT INTO sluice.api_idempotency (idempotency_key, actor, region, request_sha256)
VALUES ($1, $2, $3, decode($4, 'hex')) ON CONFLICT (idempotency_key, actor) DO NOTHING RETURNING true AS taken`;
const KNOWN = `
SELECT encode(request_sha256, 'hex') AS sha256, answer FROM sluice.api_idempotency WHERE idempotency_key = $1 AND actor = $2`;
const STORE = `
UPDATE sluice.api_idempotency SET status = $3::smallint, answer = $4::jsonb WHERE idempotency_key = $1 AND actor = $2 RETURNING true AS stored`;

/**
 * Takes the key for this transaction. From here on the transaction waits at most 2 s for what another one holds.
 * @returns true when the same request has been done before: the outbox will find its deliveries
 * @throws SluiceError `idempotency_mismatch` with the `deliveries` of the first request
 */
export async function takeRequest(tx: RawTransaction, request: EnqueueRequest): Promise<boolean> {
  const { key, actor, region } = request;
  const sha256 = Buffer.from(request.requestSha256).toString("hex");
  await tx.$queryRawUnsafe(WAIT, String(LOCK_TIMEOUT_MS));
  const taken = await tx.$queryRawUnsafe<unknown[]>(TAKE, key, actor, region, sha256);
  if (taken.length === 1) return false;
  const rows = await tx.$queryRawUnsafe<{ sha256: string; answer: unknown }[]>(KNOWN, key, actor);
  const [known] = rows;
  // Retention has taken it in between: as if it were going on, so that the caller asks again.
  if (known === undefined) throw inProgress();
  if (known.sha256 === sha256) return true;
  const deliveries = (known.answer as { deliveries?: unknown } | null)?.deliveries;
  throw new SluiceError(
    "idempotency_mismatch",
    "this Idempotency-Key has answered another request: use a new key for a new one",
    Array.isArray(deliveries) ? { deliveries } : {},
  );
}

/** Keeps what the request has written, in its own transaction. */
export async function storeRequest(
  tx: RawTransaction,
  { key, actor }: Pick<EnqueueRequest, "key" | "actor">,
  deliveries: readonly WrittenDelivery[],
): Promise<void> {
  const answer = { deliveries: deliveries.map(only) };
  await tx.$queryRawUnsafe(STORE, key, actor, CREATED_STATUS, JSON.stringify(answer));
}

function only({ deliveryId, destinationId, idempotencyKey }: WrittenDelivery): WrittenDelivery {
  return { deliveryId, destinationId, idempotencyKey };
}

/**
 * What an error of a Prisma transaction means for the caller: `request_in_progress` when another transaction holds a key
 * for too long, `region_unavailable` when the region did not answer; null for an error that is ours or is already one of
 * the catalogue.
 */
export function explainEnqueueError(error: unknown): SluiceError | null {
  const state = stateOf(error);
  if (state === LOCK_NOT_AVAILABLE) return inProgress(error);
  const outage = PRISMA_OUTAGES.has(state ?? "")
    ? "Its database does not answer."
    : explainOutage(state === null ? error : { code: state });
  if (outage === null) return null;
  return new SluiceError(
    "region_unavailable",
    `${outage} Whether it was written is not known: send it again with the same Idempotency-Key.`,
    { retryAfterMs: RETRY_AFTER_MS },
    { cause: error },
  );
}

/** No connection, none free in time, connection lost, transaction not begun or ended in time. */
const PRISMA_OUTAGES: ReadonlySet<string> = new Set(["P1001", "P1002", "P1008", "P1017", "P2024", "P2028"]);
const MOST_CAUSES = 5;

/** The SQLSTATE or system code that Prisma has wrapped, else Prisma's own code, else null. */
function stateOf(error: unknown): string | null {
  let own: string | null = null;
  let current = error;
  for (let depth = 0; depth < MOST_CAUSES && typeof current === "object" && current !== null; depth += 1) {
    const { code, originalCode, meta, cause } = current as Record<string, unknown>;
    if (typeof originalCode === "string") return originalCode;
    if (typeof code === "string") own ??= code;
    current = (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError ?? cause;
  }
  return own;
}

function inProgress(cause?: unknown): SluiceError {
  return new SluiceError(
    "request_in_progress",
    "another request with this Idempotency-Key, or for the same delivery, has not ended",
    { retryAfterMs: RETRY_AFTER_MS },
    { cause },
  );
}
