/**
 * What the checker looks at when a run is over, as plain data: what was written, what the databases say, what the
 * receiver saw, and what the harness did to whom. All times are milliseconds since 1970 of the one machine.
 */

import type { EffectResult } from "#demo/receiver/types.ts";
import type { Region } from "#domain/region.ts";
import type { Place } from "./places.ts";

/** A delivery whose transaction the writer saw committed. */
export interface LedgerEntry {
  readonly key: string;
  readonly region: Region;
  readonly destinationId: string;
  /** UUID. */
  readonly deliveryId: string;
  readonly bodySha256: string;
}

export interface RowEvidence {
  readonly id: string;
  readonly region: string;
  readonly key: string;
  readonly destinationId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly firstDueMs: number;
}

export interface AttemptEvidence {
  readonly deliveryId: string;
  readonly region: string;
  readonly kind: "http" | "not_sent" | "lease_expired" | "stale_result";
  readonly number: number;
  readonly workerId: string | null;
  readonly decision: string;
  readonly durationMs: number;
  /** Start of the request; of a lost lease, the moment of its claim. */
  readonly startedMs: number;
  readonly nextDueMs: number | null;
  readonly recordedMs: number;
}

export interface RequestEvidence {
  readonly arrivedAtMs: number;
  /** When the answer was begun, or the exchange ended without one; null if neither was seen. */
  readonly answeredAtMs: number | null;
  /** The receiver's name of the destination. */
  readonly receiverName: string;
  readonly key: string | null;
  /** UUID of the delivery; null when the header is no public id. */
  readonly deliveryId: string | null;
  readonly attempt: number | null;
  readonly region: string | null;
  readonly bodySha256: string | null;
  readonly effect: EffectResult;
  /** Null when no status line was sent. */
  readonly status: number | null;
}

/** Something the harness did to a worker process, for as long as it lasted. A killed one never comes back. */
export interface Harm {
  readonly workerId: string;
  readonly what: "killed" | "stopped" | "cut";
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Evidence {
  readonly ledger: readonly LedgerEntry[];
  /** Keys of transactions that were rolled back on purpose: nobody may ever hear of them. */
  readonly rolledBackKeys: readonly string[];
  readonly places: readonly Place[];
  /** By the database that the row was read from. */
  readonly rows: Readonly<Record<Region, readonly RowEvidence[]>>;
  readonly attempts: Readonly<Record<Region, readonly AttemptEvidence[]>>;
  readonly requests: readonly RequestEvidence[];
  /** Highest concurrency that the receiver counted, by its name of the destination. */
  readonly peaks: Readonly<Record<string, number>>;
  readonly harms: readonly Harm[];
  /** What the receiver had to forget; not zero means that the evidence has holes. */
  readonly forgotten: number;
  readonly leaseMs: number;
}
