/** The shapes that an application gives to the outbox and gets from it. Types only. */
import type { ServiceClass } from "#domain/delivery.ts";

/**
 * What the outbox needs of a transaction: Prisma's own raw query method. Any Prisma client fits, also one that was
 * generated from another schema or wrapped by an extension.
 */
export interface OutboxTransaction {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T>;
}

/** One webhook to one or several destinations of one tenant. */
export interface DeliveryInput {
  /** The region of the caller, `us` or `eu`. Refused when the database is another region's. */
  readonly region: string;
  /** `ten_...` or a UUID. */
  readonly tenantId: string;
  /** `dst_...` or a UUID; several share one stored body. At least one; in order of the results. */
  readonly destinationId?: string;
  readonly destinationIds?: readonly string[];
  /** Letters, digits, dot, dash, underscore, at most 128, such as `payment.captured`. */
  readonly eventType: string;
  /** From business facts (`keyFromFacts`), never from an attempt, a run or the clock. Sent byte for byte. */
  readonly idempotencyKey: string;
  /** Bytes are kept exactly; text becomes UTF-8. */
  readonly body: Uint8Array | string;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Default `routine`. */
  readonly serviceClass?: ServiceClass;
  /** Milliseconds after now by the database clock, 0 to 90 days. Prefer it to `dueAt`. */
  readonly delayMs?: number;
  /** A moment from the business. One in the past is due at once and counts as late since then. */
  readonly dueAt?: Date;
  /** W3C trace context, version 00. */
  readonly traceparent?: string;
}

/** `created`: written now. `duplicate`: the key is known with the same body. `mismatch`: with another, unchanged. */
export type EnqueueStatus = "created" | "duplicate" | "mismatch";

/** What became of one input at one destination. */
export interface EnqueuedDelivery {
  /** `dlv_...`; of a known key the id that it has had all along. */
  readonly deliveryId: string;
  /** `dst_...` */
  readonly destinationId: string;
  readonly idempotencyKey: string;
  readonly status: EnqueueStatus;
}

export interface EnqueueOptions {
  /** Largest body in bytes, at most 1 MiB. Default 256 KiB. */
  readonly maxBodyBytes?: number;
}
