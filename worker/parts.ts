/** What the steps of a worker share: the store, the clock, the caches, the counters. Made once by start-worker.ts. */
import type { Dispatcher } from "undici";
import type { QueueStore } from "#db/queue/store.ts";
import type { Region } from "#domain/region.ts";
import type { Alarms, ClaimTimes } from "./alarms.ts";
import type { AtMost } from "./at-most.ts";
import type { DatabaseClock } from "./clock.ts";
import type { WorkerSwitches } from "./config.ts";
import type { CutOff } from "./cut-off.ts";
import type { DestinationCache } from "./destinations.ts";
import type { InFlight } from "./in-flight.ts";
import type { LaneBook } from "./lane-book.ts";
import type { LimitsCache } from "./limits-cache.ts";
import type { Logger } from "./log.ts";
import type { Pacer } from "./pacer.ts";
import type { ReceiverHealth } from "./receiver-health.ts";
import type { Timers } from "./timers.ts";
import type { DueTimer, WakeSignal } from "./wake.ts";

/** What requests go out through. */
export type HttpClient = Pick<Dispatcher, "dispatch" | "close">;

export interface WorkerParts {
  readonly region: Region;
  readonly workerId: string;
  /** The claim owner that this program is. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly leaseMarginMs: number;
  readonly store: QueueStore;
  readonly clock: DatabaseClock;
  readonly timers: Timers;
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly http: HttpClient;
  readonly inFlight: InFlight;
  readonly book: LaneBook;
  readonly limits: LimitsCache;
  readonly health: ReceiverHealth;
  readonly pacer: Pacer;
  /** Gates that are being shut. */
  readonly gates: AtMost;
  readonly destinations: DestinationCache;
  readonly wake: WakeSignal;
  readonly dueTimer: DueTimer;
  readonly alarms: Alarms;
  readonly claimTimes: ClaimTimes;
  readonly log: Logger;
  readonly switches: WorkerSwitches;
  /** Cuts requests in flight off once a stop has waited long enough. */
  readonly cutOff: CutOff;
}
