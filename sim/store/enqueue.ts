/** What the outbox does in a business transaction: a new key makes a delivery, a known one makes nothing. */
import type { ServiceClass } from "#domain/delivery.ts";
import type { Us } from "#sim/scheduler.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

export interface Enqueued {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly idempotencyKey: string;
  readonly serviceClass: ServiceClass;
  readonly body: Buffer;
  readonly dueUs: Us;
}

/** False when the key was known: one delivery for each (key, destination). */
export function enqueue(tables: Tables, given: Enqueued): boolean {
  const key = `${given.destinationId} ${given.idempotencyKey}`;
  if (tables.keys.has(key)) return false;
  tables.keys.set(key, given.id);
  tables.payloads.set(given.id, { contentType: "application/json", body: given.body });
  tables.deliveries.set(given.id, newRow(tables, given));
  return true;
}

function newRow(tables: Tables, given: Enqueued): DeliveryRow {
  return {
    id: given.id,
    region: tables.region,
    tenantId: given.tenantId,
    destinationId: given.destinationId,
    payloadId: given.id,
    payloadBytes: given.body.length,
    eventType: "test.event",
    idempotencyKey: given.idempotencyKey,
    serviceClass: given.serviceClass,
    firstDueUs: given.dueUs,
    dueUs: given.dueUs,
    state: "ready",
    lane: "first",
    attempts: 0,
    failures: 0,
    rejections: 0,
    throttles: 0,
    throttledMs: 0,
    lostLeases: 0,
    cycle: 1,
    replayBatchId: null,
    lastOutcome: null,
    lastStatus: null,
    leaseToken: null,
    leaseUntilUs: null,
    leasedAtUs: null,
    leasedBy: null,
  };
}
