/**
 * Shapes that the queue's statements share: what the worker knows of a row, and nothing that runs.
 * No body and no secret may stand in a type that is logged.
 */
import type { Pool } from "pg";
import type { Lane, ServiceClass } from "#domain/delivery.ts";

/** What a statement of this folder runs on. */
export type Queryable = Pick<Pool, "query">;

/** One (lane, class, tenant, destination): the unit of discovery, of planning and of a claim's entry. */
export interface LaneKey {
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
  readonly tenantId: string;
  readonly destinationId: string;
}

/** A lane with the due time of its oldest waiting row, in database time. */
export interface LaneHead extends LaneKey {
  readonly dueMs: number;
}
