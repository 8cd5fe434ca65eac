/**
 * The dispatcher of a process: wake, discover, plan, claim, read, start, rest. It owns nothing; any number of them
 * serve a region. It must never sleep while it holds a lease. All limits are the claim's: a plan that is stale costs
 * a round trip, never a request too many.
 */
import { type Claim, type ClaimEntry, claim, MAX_CLAIM_ENTRIES } from "#db/queue/claim.ts";
import { nextDue } from "#db/queue/discover.ts";
import { type ClaimedDelivery, readClaimed } from "#db/queue/read-claimed.ts";
import { release } from "#db/queue/release.ts";
import { sendHint, writeWakeJob } from "#db/queue/wake-job.ts";
import { emptyDrrState, planClaims } from "#domain/fair-share.ts";
import { deliver, leaseAllows } from "./deliver.ts";
import type { SendPlan } from "./destinations.ts";
import type { Discovery } from "./discovery.ts";
import type { FinishBatcher } from "./finish-batcher.ts";
import type { InFlightKey } from "./in-flight.ts";
import type { WorkerParts } from "./parts.ts";

/** Body bytes that one claim may bring into memory. */
export const MAX_CLAIM_BYTES = 32 * 1024 * 1024;
/** Rows that one lane gets in a round before the next lane's turn. */
const QUANTUM = 8;
/** Claims in a row before other work of the process gets a look in. */
const MAX_CLAIMS_PER_TURN = 200;
/** Free slots worth a claim while more work is known: fewer are waited for, shortly. */
const WORTHWHILE_SHARE = 0.25;
const SLOT_WAIT_MS = 3;
const ERROR_WAIT_MS = 500;
/** A destination whose delivery is still being sent under a lost lease is asked for again after this. */
const SENDING_WAIT_MS = 500;
/** A process without free slots hints at most this often. */
const TELL_OTHERS_MS = 1_000;
/** A wake-up job this close to the one that stands is not written again. */
const SAME_JOB_MS = 1;

export class Dispatch {
  #drr = emptyDrrState();
  #stopping = false;
  #starved = false;
  #slotTimer: NodeJS.Timeout | null = null;
  #writtenJobMs: number | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;
  #lastTurnAt: number;
  readonly #parts: WorkerParts;
  readonly #discovery: Discovery;
  readonly #batcher: FinishBatcher;

  constructor(parts: WorkerParts, discovery: Discovery, batcher: FinishBatcher) {
    this.#parts = parts;
    this.#discovery = discovery;
    this.#batcher = batcher;
    this.#lastTurnAt = parts.clock.monotonicMs();
  }

  /** Turns until `stop`. Errors of the database are waited out; the supervisor of the process sees them in the log. */
  async run(): Promise<void> {
    while (!this.#stopping) {
      const { fresh } = await this.#parts.wake.next();
      if (this.#stopping) return;
      try {
        await this.#turn(fresh);
        this.#lastTurnAt = this.#parts.clock.monotonicMs();
      } catch (error) {
        this.#parts.log.warn(
          { event: "dispatch_failed", error: String(error) },
          "a turn failed; trying again",
        );
        await new Promise((resolve) => setTimeout(resolve, ERROR_WAIT_MS));
        this.#parts.wake.raise(true);
      }
    }
  }

  /** No claim begins after this. */
  stop(): void {
    this.#stopping = true;
    if (this.#slotTimer !== null) clearTimeout(this.#slotTimer);
    this.#parts.wake.raise(false);
  }

  /** Monotonic time of the last turn that went through, for the health page. */
  get lastTurnAt(): number {
    return this.#lastTurnAt;
  }

  /** graphile-worker ran the wake-up: it does not stand any more. */
  jobRan(): void {
    this.#writtenJobMs = null;
    this.#parts.wake.raise(true);
  }

  /**
   * A slot is free again. A few are collected before a claim, so that busy processes do not claim row by row.
   * @param unblocked a lane that was blocked by a cap may be asked again
   */
  slotFreed(unblocked = false): void {
    this.#starved ||= unblocked;
    if (!this.#starved || this.#stopping) return;
    if (this.#parts.inFlight.free >= this.#parts.inFlight.slots * WORTHWHILE_SHARE) this.#wakeForSlots();
    else this.#slotTimer ??= setTimeout(() => this.#wakeForSlots(), SLOT_WAIT_MS);
  }

  #wakeForSlots(): void {
    if (this.#slotTimer !== null) clearTimeout(this.#slotTimer);
    this.#slotTimer = null;
    this.#starved = false;
    this.#parts.wake.raise(false);
  }

  async #turn(freshWake: boolean): Promise<void> {
    let fresh = freshWake;
    for (let claims = 0; claims < MAX_CLAIMS_PER_TURN && !this.#stopping; claims++) {
      await this.#discovery.refresh(fresh);
      let entries = await this.#plan();
      if (entries.length === 0 && this.#parts.inFlight.free > 0 && (await this.#discovery.settle(fresh))) {
        entries = await this.#plan();
      }
      fresh = false;
      if (entries.length === 0) {
        // What is open but was not planned waits for slots of our own: the next free one wakes us.
        this.#starved = this.#parts.book.hasOpen(this.#parts.clock.nowMs());
        if (!this.#starved || this.#parts.inFlight.free > 0) await this.#rest();
        else this.#tellOthers();
        return;
      }
      await this.#claimAndStart(entries);
      if (this.#parts.inFlight.free < this.#parts.inFlight.slots * WORTHWHILE_SHARE) {
        this.#starved = true;
        this.slotFreed();
        return;
      }
    }
    this.#parts.wake.raise(false);
  }

  /** Without a free slot, but with work known to be due: another process may have room. */
  #tellOthers(): void {
    const now = this.#parts.clock.monotonicMs();
    if (now - this.#toldAt < TELL_OTHERS_MS) return;
    this.#toldAt = now;
    // Losing it costs them a probe.
    sendHint(this.#parts.pool).catch(() => undefined);
  }

  async #plan(): Promise<ClaimEntry[]> {
    const { book, clock, limits, inFlight, pool } = this.#parts;
    if (inFlight.free === 0) return [];
    const nowMs = clock.nowMs();
    const heads = book.open(nowMs);
    if (heads.length === 0) return [];
    await limits.load(pool, heads, nowMs);
    const plan = planClaims({
      nowMs,
      heads,
      tenant: (id) => {
        const tenant = limits.tenant(id);
        return {
          weight: tenant.weight,
          concurrencyLimit: tenant.concurrency,
          inFlight: inFlight.ofTenant(id),
        };
      },
      destination: (id) => {
        const destination = limits.destination(id);
        return {
          concurrencyLimit: destination.concurrency,
          inFlight: inFlight.ofDestination(id),
          // How many are left is known to the claim; more than the burst there never is.
          rateTokens: destination.ratePerSecond === null ? null : destination.rateBurst,
          gateUntilMs: null,
          probeOnly: false,
          avgBodyBytes: 0,
        };
      },
      slots: { total: inFlight.slots, inFlightByLane: inFlight.byLane, inFlightByClass: inFlight.byClass },
      byteBudgetBytes: MAX_CLAIM_BYTES,
      maxEntries: MAX_CLAIM_ENTRIES,
      quantum: QUANTUM,
      drr: this.#drr,
    });
    this.#drr = plan.state;
    return plan.entries.map(({ k, ...lane }) => ({ ...lane, wanted: k }));
  }

  async #claimAndStart(entries: readonly ClaimEntry[]): Promise<void> {
    const { book, clock, inFlight, pool } = this.#parts;
    const claimed = await claim(pool, {
      owner: this.#parts.owner,
      workerId: this.#parts.workerId,
      leaseMs: this.#parts.leaseMs,
      maxBytes: MAX_CLAIM_BYTES,
      entries,
    });
    clock.sync(claimed.claimedAtMs);
    entries.forEach((entry, index) => {
      const result = claimed.entries[index];
      if (result !== undefined) book.learn(entry, result, claimed.claimedAtMs);
    });
    const ours: string[] = [];
    const still: string[] = [];
    for (const key of claimedKeys(entries, claimed)) {
      if (inFlight.has(key.id)) {
        this.#waitForOwn(key);
        still.push(key.id);
      } else {
        inFlight.take(key);
        ours.push(key.id);
      }
    }
    // The slots are taken; the next claim need not wait until these rows have been read.
    if (ours.length > 0) void this.#readAndStart(claimed, ours);
    if (still.length > 0) await release(pool, still, claimed.token);
  }

  /** Its lease was lost while we are still sending it: our request comes to its end first; others may take the row. */
  #waitForOwn({ lane, serviceClass, tenantId, destinationId }: InFlightKey): void {
    const { book, clock } = this.#parts;
    const nowMs = clock.nowMs();
    // The claim may have emptied the lane, and a lane that is not known cannot be blocked.
    book.add([{ lane, serviceClass, tenantId, destinationId, dueMs: nowMs }]);
    book.block(destinationId, nowMs + SENDING_WAIT_MS, nowMs);
  }

  /** Never rejects. What cannot be read, or not be sent within its lease, is released: nothing of it was sent. */
  async #readAndStart(claimed: Claim, ids: readonly string[]): Promise<void> {
    const unsent = new Set(ids);
    try {
      const deliveries = await readClaimed(this.#parts.pool, ids, claimed.token);
      const plans = await this.#parts.destinations.load(this.#parts.pool, versionsOf(deliveries));
      for (const delivery of deliveries) {
        const plan = plans.get(delivery.destinationId);
        if (plan === undefined || this.#stopping) continue;
        if (!leaseAllows(delivery, plan, claimed.leaseUntilMs, this.#parts)) continue;
        unsent.delete(delivery.id);
        void this.#send(delivery, plan);
      }
    } catch (error) {
      this.#parts.log.warn(
        { event: "read_failed", rows: unsent.size, error: String(error) },
        "claimed rows go back",
      );
    }
    if (unsent.size === 0) return;
    // If this fails too, the leases end by themselves.
    await release(this.#parts.pool, [...unsent], claimed.token).catch(() => 0);
    for (const id of unsent) this.#parts.inFlight.giveBack(id);
  }

  async #send(delivery: ClaimedDelivery, plan: SendPlan): Promise<void> {
    await deliver(delivery, plan, this.#parts, this.#batcher);
    if (delivery.lostLeases === 0) return;
    // Rows with a lost lease go out one at a time: the next one may go now, wherever it waits.
    this.#discovery.walkSoon();
    this.#parts.wake.raise(true);
  }

  /** Nothing can be claimed now: puts the wake-up where the next thing is due, and looks once more behind it. */
  async #rest(): Promise<void> {
    const { pool, clock, book, dueTimer, switches, region } = this.#parts;
    for (let look = 0; look < 2; look++) {
      const next = await nextDue(pool);
      clock.sync(next.nowMs);
      const blockedMs = book.nextOpeningMs(next.nowMs);
      if (switches.timers) {
        if (next.nextMs !== null) dueTimer.at(next.nextMs);
        if (blockedMs !== null) dueTimer.at(blockedMs);
      }
      if (next.nextMs === null || this.#jobStandsAt(next.nextMs)) return;
      await writeWakeJob(pool, region, next.nextMs);
      this.#writtenJobMs = next.nextMs;
    }
  }

  #jobStandsAt(atMs: number): boolean {
    return this.#writtenJobMs !== null && Math.abs(this.#writtenJobMs - atMs) < SAME_JOB_MS;
  }
}

/** Which lane each claimed row came from: ids stand in the order of their entries. */
function claimedKeys(entries: readonly ClaimEntry[], claimed: Claim): InFlightKey[] {
  const keys: InFlightKey[] = [];
  entries.forEach((entry, index) => {
    const { lane, serviceClass, tenantId, destinationId } = entry;
    for (let taken = claimed.entries[index]?.taken ?? 0; taken > 0; taken--) {
      const id = claimed.ids[keys.length];
      if (id !== undefined) keys.push({ id, lane, serviceClass, tenantId, destinationId });
    }
  });
  return keys;
}

function versionsOf(deliveries: readonly ClaimedDelivery[]): Map<string, number> {
  return new Map(deliveries.map((delivery) => [delivery.destinationId, delivery.destinationVersion]));
}
