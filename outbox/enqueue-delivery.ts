/**
 * Writes deliveries in the caller's own transaction: the one thing an application has to call.
 * It must never send a request, add a job, notify anyone, or make a second id for a key that is known.
 */
import { type ErrorCode, isErrorCode, SluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { type CheckedBody, type CheckedDelivery, checkInputs } from "./check-input.ts";
import { MAX_DELAY_MS } from "./limits.ts";
import { ENQUEUE, READ_KNOWN } from "./sql.ts";
import type { DeliveryInput, EnqueuedDelivery, EnqueueOptions, OutboxTransaction } from "./types.ts";

/** Transactions in which something new was written: `transactWithOutbox` asks after the commit. */
const written = new WeakSet<OutboxTransaction>();

/** How often a key may be known and gone in turn (retention took it in between) before we say that it failed. */
const MAX_ROUNDS = 3;

type OneDestination = DeliveryInput & { readonly destinationId: string; readonly destinationIds?: undefined };

interface WrittenRow {
  position: number;
  problem: string | null;
  database_region: string;
  created: boolean;
}

interface KnownRow {
  position: number;
  delivery_id: string;
  sha256: string;
}

/** What stands in the database under a key after the call. */
interface Standing {
  deliveryId: string;
  sha256: string;
  created: boolean;
}

/**
 * Enqueues one webhook in the transaction `tx`; it leaves when that commits, and never was when it rolls back.
 * One statement for a new key, a second one for a known key. With `destinationIds` the destinations share one stored
 * body and the result is an array in their order.
 *
 * A known key is no error: `duplicate` when the body is the same, `mismatch` when it is another; nothing is changed.
 * A key that another open transaction has just written is waited for.
 * @throws SluiceError, with nothing written and `tx` still usable: `bad_region`, `wrong_region`, `unknown_tenant`,
 *   `unknown_destination` (missing or deleted), `foreign_destination`, `no_destination`, `bad_id`, `bad_key`,
 *   `body_too_large`, `bad_body`, `bad_content_type`, `bad_traceparent`, `bad_event_type`, `bad_service_class`,
 *   `bad_due_time`, `batch_too_large`. `data.input` is the input's position in the call.
 */
export function enqueueDelivery(
  tx: OutboxTransaction,
  input: OneDestination,
  options?: EnqueueOptions,
): Promise<EnqueuedDelivery>;
export function enqueueDelivery(
  tx: OutboxTransaction,
  input: DeliveryInput,
  options?: EnqueueOptions,
): Promise<EnqueuedDelivery[]>;
export async function enqueueDelivery(
  tx: OutboxTransaction,
  input: DeliveryInput,
  options: EnqueueOptions = {},
): Promise<EnqueuedDelivery | EnqueuedDelivery[]> {
  const results = await enqueueDeliveries(tx, [input], options);
  const [only] = results;
  return input.destinationIds === undefined && only !== undefined ? only : results;
}

/**
 * The same for up to 500 deliveries in one statement: all are checked first, and one that is refused means that none
 * is written. Results are in the order of the inputs and, within one, of its destinations. A key that stands twice in
 * the call is written once; the later one is reported as its duplicate or mismatch.
 * @throws SluiceError as `enqueueDelivery`
 */
export async function enqueueDeliveries(
  tx: OutboxTransaction,
  inputs: readonly DeliveryInput[],
  options: EnqueueOptions = {},
): Promise<EnqueuedDelivery[]> {
  const deliveries = checkInputs(inputs, options, Date.now());
  if (deliveries.length === 0) return [];
  const standing = await write(tx, deliveries);
  return deliveries.map((delivery) => resultOf(delivery, standing));
}

/** True when a delivery was created through this transaction client, whether or not it has committed since. */
export function hasWritten(tx: OutboxTransaction): boolean {
  return written.has(tx);
}

async function write(
  tx: OutboxTransaction,
  deliveries: readonly CheckedDelivery[],
): Promise<Map<string, Standing>> {
  const standing = new Map<string, Standing>();
  let open = deliveries;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await insertNew(tx, open, standing);
    open = open.filter((delivery) => !standing.has(slotOf(delivery)));
    if (open.length === 0) return standing;
    await readKnown(tx, open, standing);
    open = open.filter((delivery) => !standing.has(slotOf(delivery)));
    if (open.length === 0) return standing;
  }
  throw new SluiceError("internal", "a key was neither free nor known, several times in a row; try again");
}

async function insertNew(
  tx: OutboxTransaction,
  deliveries: readonly CheckedDelivery[],
  standing: Map<string, Standing>,
): Promise<void> {
  const { bodies, numberOf, bytes } = packBodies(deliveries);
  const rows = await tx.$queryRawUnsafe<WrittenRow[]>(
    ENQUEUE,
    JSON.stringify(packDeliveries(deliveries, numberOf)),
    JSON.stringify(bodies),
    bytes,
    String(MAX_DELAY_MS),
  );
  for (const row of rows) {
    const delivery = deliveries[row.position];
    if (delivery === undefined) continue;
    if (row.problem !== null) throw refusal(row, delivery, row.position);
    if (!row.created) continue;
    standing.set(slotOf(delivery), {
      deliveryId: delivery.deliveryId,
      sha256: delivery.body.sha256,
      created: true,
    });
    written.add(tx);
  }
}

async function readKnown(
  tx: OutboxTransaction,
  deliveries: readonly CheckedDelivery[],
  standing: Map<string, Standing>,
): Promise<void> {
  const keys = deliveries.map(({ idempotencyKey, destinationId }, position) => ({
    position,
    idempotency_key: idempotencyKey,
    destination_id: destinationId,
  }));
  const rows = await tx.$queryRawUnsafe<KnownRow[]>(READ_KNOWN, JSON.stringify(keys));
  for (const row of rows) {
    const delivery = deliveries[row.position];
    if (delivery === undefined) continue;
    standing.set(slotOf(delivery), { deliveryId: row.delivery_id, sha256: row.sha256, created: false });
  }
}

function packDeliveries(
  deliveries: readonly CheckedDelivery[],
  numberOf: ReadonlyMap<CheckedBody, number>,
): unknown[] {
  const seen = new Set<string>();
  return deliveries.map((delivery, position) => {
    const slot = slotOf(delivery);
    const insertable = !seen.has(slot);
    seen.add(slot);
    return {
      position,
      insertable,
      body: numberOf.get(delivery.body),
      delivery_id: delivery.deliveryId,
      region: delivery.region,
      tenant_id: delivery.tenantId,
      destination_id: delivery.destinationId,
      event_type: delivery.eventType,
      idempotency_key: delivery.idempotencyKey,
      service_class: delivery.serviceClass,
      traceparent: delivery.traceparent,
      delay_ms: delivery.delayMs,
      due_ms: delivery.dueAtMs,
    };
  });
}

function packBodies(deliveries: readonly CheckedDelivery[]) {
  const numberOf = new Map<CheckedBody, number>();
  const bodies: object[] = [];
  let start = 0;
  for (const { body } of deliveries) {
    if (numberOf.has(body)) continue;
    numberOf.set(body, bodies.length);
    bodies.push({
      number: bodies.length,
      payload_id: body.payloadId,
      sha256: body.sha256,
      content_type: body.contentType,
      start,
      bytes: body.bytes.length,
    });
    start += body.bytes.length;
  }
  // concat copies: from here on the caller may change its own buffers.
  return { bodies, numberOf, bytes: Buffer.concat([...numberOf.keys()].map((body) => body.bytes)) };
}

/** A key of a destination: keys are ASCII without a space, so the space separates. */
function slotOf(delivery: CheckedDelivery): string {
  return `${delivery.destinationId} ${delivery.idempotencyKey}`;
}

function resultOf(delivery: CheckedDelivery, standing: ReadonlyMap<string, Standing>): EnqueuedDelivery {
  const found = standing.get(slotOf(delivery));
  if (found === undefined) throw new SluiceError("internal", "a delivery was neither written nor found");
  const isNew = found.created && found.deliveryId === delivery.deliveryId;
  return {
    deliveryId: toPublicId("dlv", found.deliveryId),
    destinationId: toPublicId("dst", delivery.destinationId),
    idempotencyKey: delivery.idempotencyKey,
    status: isNew ? "created" : found.sha256 === delivery.body.sha256 ? "duplicate" : "mismatch",
  };
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, (row: WrittenRow, delivery: CheckedDelivery) => string>>> =
  {
    wrong_region: (row, delivery) =>
      `the delivery is for ${delivery.region}, this database is ${row.database_region}`,
    unknown_tenant: (_row, { tenantId }) => `no tenant ${toPublicId("ten", tenantId)} in this region`,
    unknown_destination: (_row, { destinationId }) =>
      `no destination ${toPublicId("dst", destinationId)} in this region`,
    foreign_destination: (_row, { destinationId, tenantId }) =>
      `destination ${toPublicId("dst", destinationId)} is not one of tenant ${toPublicId("ten", tenantId)}`,
    bad_due_time: () => `a delivery may be planned ${MAX_DELAY_MS} ms ahead at most`,
  };

function refusal(row: WrittenRow, delivery: CheckedDelivery, position: number): SluiceError {
  const code = isErrorCode(row.problem) ? row.problem : "internal";
  return new SluiceError(code, REFUSALS[code]?.(row, delivery) ?? "the delivery was refused", {
    input: position,
    tenantId: toPublicId("ten", delivery.tenantId),
    destinationId: toPublicId("dst", delivery.destinationId),
    databaseRegion: row.database_region,
  });
}
