/** The shapes in which ages are answered. Ages are milliseconds by the database's clock; null means that nothing waits. */
import type { ServiceClass } from "#domain/delivery.ts";

/** How many there are, and how old the oldest is. */
export interface AgedCount {
  count: number;
  oldestMs: number | null;
}

/** The deliveries of one class that have no stored attempt outcome yet. */
export interface FirstAttempt {
  serviceClass: ServiceClass;
  oldestMs: number | null;
  /** Tenants whose oldest first attempt is past the target. */
  tenantsLate: number;
}
