/** The shapes in which ages are answered: milliseconds by the database's clock, 0 when nothing waits. */
import type { ServiceClass } from "#domain/delivery.ts";

/** The deliveries of one class that have no stored attempt outcome yet. */
export interface FirstAttempt {
  serviceClass: ServiceClass;
  oldestMs: number;
  /** Tenants whose oldest first attempt is past the target. */
  tenantsLate: number;
}
