/**
 * The dispatcher of a process: wake, discover, plan, claim, read, start, rest. It owns nothing; any number of them
 * serve a region. It must never sleep while it holds a lease. All limits are the claim's: a plan that is stale costs
 * a round trip, never a request too many.
 */
import type { Claim, ClaimEntry } from "#db/queue/claim.ts";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { uuidV7 } from "#domain/ids.ts";
import { type ClaimedKey, claimedKeys } from "./claimed-keys.ts";
import { deliver, leaseAllows } from "./deliver.ts";
import type { SendPlan } from "./destinations.ts";
import type { Discovery } from "./discovery.ts";
import type { FinishBatcher } from "./finish-batcher.ts";
import { GiveBack } from "./give-back.ts";
import type { InFlightKey } from "./in-flight.ts";
import type { Token } from "./pacer.ts";
import type { WorkerParts } from "./parts.ts";
import { MAX_CLAIM_BYTES, Planner } from "./planner.ts";
import { sleep, type Timer } from "./timers.ts";

/** Claims in a row before other work of the process gets a look in. */
const MAX_CLAIMS_PER_TURN = 200;
/** Free slots worth a claim while more work is known: fewer are waited for, shortly. */
const WORTHWHILE_SHARE = 0.25;
const SLOT_WAIT_MS = 3;
/** Claimed rows that are read and started together. Between two parts whatever else has come has its turn: hundreds would take 30 ms. */
const READ_ROWS = 64;
const ERROR_WAIT_MS = 500;
/** A destination whose delivery is still being sent under a lost lease is asked for again after this. */
const SENDING_WAIT_MS = 500;
/** A process without free slots hints at most this often. */
const TELL_OTHERS_MS = 1_000;
/** Probes that find nothing ask for the next moment this often: what was planned meanwhile without a hint waits for a probe at most. */
const QUIET_REST_MS = 1_000;
/** A wake-up job this close to the one that stands is not written again. */
const SAME_JOB_MS = 1;
/**
 * What is due this soon has no wake-up job written for it: our own timer is there first, and the probes of other processes right behind
 * it. With something due every few milliseconds a job each time would keep the dispatcher from the rows themselves.
 */
const NEAR_DUE_MS = 250;

export class Dispatch {
  #stopping = false;
  #starved = false;
  #slotTimer: Timer | null = null;
  #writtenJobMs: number | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;
  #lastTurnAt: number;
  /**
   * A turn ended without a rest because the next one was waiting: news must not wait for what is needed only when none comes. The
   * next turn that finds nothing to do rests, whoever woke it.
   */
  #owesRest = false;
  /** Monotonic time at which the next moment was last asked for. */
  #restedAt = Number.NEGATIVE_INFINITY;
  readonly #parts: WorkerParts;
  readonly #planner: Planner;
  readonly #discovery: Discovery;
  readonly #batcher: FinishBatcher;
  readonly #back: GiveBack;

  constructor(parts: WorkerParts, discovery: Discovery, batcher: FinishBatcher) {
    this.#parts = parts;
    this.#planner = new Planner(parts);
    this.#discovery = discovery;
    this.#batcher = batcher;
    this.#back = new GiveBack(parts.store, parts.timers, parts.log);
    this.#lastTurnAt = parts.clock.monotonicMs();
  }

  /** Turns until `stop`. Errors of the database are waited out; the supervisor of the process sees them in the log. */
  async run(): Promise<void> {
    while (!this.#stopping) {
      const { fresh, probeOnly } = await this.#parts.wake.next();
      if (this.#stopping) return;
      try {
        await this.#turn(fresh, probeOnly);
        this.#lastTurnAt = this.#parts.clock.monotonicMs();
      } catch (error) {
        this.#parts.log.warn(
          { event: "dispatch_failed", error: String(error) },
          "a turn failed; trying again",
        );
        await sleep(this.#parts.timers, ERROR_WAIT_MS);
        this.#parts.wake.raise(true);
      }
    }
  }

  /** No claim begins after this. */
  stop(): void {
    this.#stopping = true;
    this.#back.stop();
    if (this.#slotTimer !== null) this.#parts.timers.clear(this.#slotTimer);
    this.#parts.wake.raise(false);
  }

  /** After the last turn: see `GiveBack.atLast`. */
  giveBackAtLast(): Promise<void> {
    return this.#back.atLast();
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
    else this.#slotTimer ??= this.#parts.timers.set(() => this.#wakeForSlots(), SLOT_WAIT_MS);
  }

  #wakeForSlots(): void {
    if (this.#slotTimer !== null) this.#parts.timers.clear(this.#slotTimer);
    this.#slotTimer = null;
    this.#starved = false;
    this.#parts.wake.raise(false);
  }

  async #turn(freshWake: boolean, probeOnly: boolean): Promise<void> {
    let fresh = freshWake;
    for (let claims = 0; claims < MAX_CLAIMS_PER_TURN && !this.#stopping; claims++) {
      // With lanes open the turn goes on, and what was announced meanwhile must not wait for its end.
      if (claims > 0) fresh = this.#parts.wake.takeFresh();
      await this.#back.giveBackOwed();
      const looked = await this.#discovery.refresh(fresh);
      let entries = await this.#planner.next();
      if (entries.length === 0 && this.#parts.inFlight.free > 0) {
        if (await this.#discovery.settle(fresh && !looked)) entries = await this.#planner.next();
      }
      if (entries.length === 0) {
        // What is open but was not planned waits for slots of our own: the next free one wakes us.
        this.#starved = this.#parts.book.hasOpen(this.#parts.clock.nowMs());
        const quiet = probeOnly && claims === 0 && this.#parts.book.size === 0 && !this.#owesRest;
        if (this.#starved && this.#parts.inFlight.free === 0) this.#tellOthers();
        else if (this.#parts.wake.isRaised) this.#owesRest = true;
        else await this.#rest(quiet);
        return;
      }
      await this.#claimAndStart(entries);
      if (this.#parts.wake.isFresh && !this.#parts.book.hasOpen(this.#parts.clock.nowMs())) {
        this.#owesRest = true;
        return;
      }
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
    this.#parts.store.sendHint().catch(() => undefined);
  }

  async #claimAndStart(entries: readonly ClaimEntry[]): Promise<void> {
    const { clock, inFlight, store, claimTimes } = this.#parts;
    const askedAt = clock.monotonicMs();
    const token = uuidV7(Math.floor(clock.nowMs()), this.#parts.randomBytes);
    this.#back.claimBegins(token);
    this.#parts.book.claimBegins();
    const claimed = await store.claim({
      owner: this.#parts.owner,
      workerId: this.#parts.workerId,
      leaseMs: this.#parts.leaseMs,
      maxBytes: MAX_CLAIM_BYTES,
      entries,
      token,
    });
    this.#back.claimAnswered();
    clock.sync(claimed.claimedAtMs, askedAt);
    claimTimes.add(clock.monotonicMs() - askedAt);
    this.#learn(entries, claimed);
    const ours: ClaimedKey[] = [];
    const still: string[] = [];
    for (const key of claimedKeys(entries, claimed)) {
      if (inFlight.has(key.id)) {
        this.#waitForOwn(key);
        still.push(key.id);
      } else {
        inFlight.take(key);
        ours.push(key);
      }
    }
    // Whoever holds least starts first: one row does not wait until a neighbour's hundreds have been read.
    ours.sort((a, b) => inFlight.ofTenant(a.tenantId) - inFlight.ofTenant(b.tenantId));
    // The slots are taken; the next claim need not wait until these rows have been read.
    if (ours.length > 0) void this.#readAndStart(claimed, ours, askedAt + this.#parts.leaseMs);
    if (still.length > 0) await this.#back.release(still, claimed.token);
  }

  #learn(entries: readonly ClaimEntry[], claimed: Claim): void {
    const { book, health, inFlight } = this.#parts;
    const taking = new Set<string>();
    entries.forEach(({ destinationId }, index) => {
      if ((claimed.entries[index]?.taken ?? 0) > 0) taking.add(destinationId);
    });
    entries.forEach((entry, index) => {
      const result = claimed.entries[index];
      if (result === undefined) return;
      const { destinationId } = entry;
      const holdsPlace = taking.has(destinationId) || inFlight.ofDestination(destinationId) > 0;
      book.learn(entry, result, claimed.claimedAtMs, holdsPlace);
      const seen = {
        watched: claimed.watched[index] ?? false,
        limited: result.blocker === "adaptive_limit",
        ranDry: result.blocker === null && result.taken < entry.wanted,
      };
      health.learn(destinationId, seen, claimed.claimedAtMs);
    });
  }

  /** Its lease was lost while we are still sending it: our request comes to its end first; others may take the row. */
  #waitForOwn({ lane, serviceClass, tenantId, destinationId }: InFlightKey): void {
    const { book, clock } = this.#parts;
    const nowMs = clock.nowMs();
    // The claim may have emptied the lane, and a lane that is not known cannot be blocked.
    book.add([{ lane, serviceClass, tenantId, destinationId, dueMs: nowMs }]);
    book.block(destinationId, nowMs + SENDING_WAIT_MS, nowMs);
  }

  /**
   * Never rejects. What cannot be read, or not be sent within its lease, is released: nothing of it was sent.
   * @param ours each with its token of the destination's rate, before which its request must not start
   * @param leaseEndsAt monotonic time up to which the leases last at least, whatever the way to the database took
   */
  async #readAndStart(claimed: Claim, ours: readonly ClaimedKey[], leaseEndsAt: number): Promise<void> {
    const unsent = new Map(ours.map(({ id, token }) => [id, token]));
    try {
      for (let from = 0; from < ours.length && !this.#stopping; from += READ_ROWS) {
        const ids = ours.slice(from, from + READ_ROWS).map(({ id }) => id);
        await this.#readPart(ids, claimed.token, unsent, leaseEndsAt);
      }
    } catch (error) {
      this.#parts.log.warn(
        { event: "read_failed", rows: unsent.size, error: String(error) },
        "claimed rows go back",
      );
    }
    if (unsent.size > 0) await this.#giveBack([...unsent.keys()], claimed.token);
  }

  /** Takes what it starts out of `unsent`. */
  async #readPart(
    ids: readonly string[],
    leaseToken: string,
    unsent: Map<string, Token | null>,
    leaseEndsAt: number,
  ): Promise<void> {
    const deliveries = await this.#parts.store.readClaimed(ids, leaseToken);
    const plans = await this.#parts.destinations.load(this.#parts.store, versionsOf(deliveries));
    for (const delivery of deliveries) {
      const plan = plans.get(delivery.destinationId);
      if (plan === undefined || this.#stopping) continue;
      if (!leaseAllows(delivery, plan, leaseEndsAt, this.#parts)) continue;
      const token = unsent.get(delivery.id) ?? null;
      unsent.delete(delivery.id);
      void this.#send(delivery, plan, token, leaseEndsAt);
    }
  }

  async #giveBack(ids: readonly string[], token: string): Promise<void> {
    await this.#back.release(ids, token);
    for (const id of ids) this.#parts.inFlight.giveBack(id);
  }

  /**
   * A token may be a few milliseconds ahead, at most RATE_AHEAD_MS: most of that the reading of the row has taken. Between the
   * last look at the pacer and the request nothing else may run, no await either: the place that is taken is the start.
   */
  async #send(
    delivery: ClaimedDelivery,
    plan: SendPlan,
    token: Token | null,
    leaseEndsAt: number,
  ): Promise<void> {
    const { clock, pacer, timers } = this.#parts;
    for (;;) {
      const waitMs = token === null ? 0 : pacer.waitMs(token, clock.nowMs(), clock.monotonicMs());
      // The token has become too old, or the lease too short.
      if (waitMs === null || !leaseAllows(delivery, plan, leaseEndsAt, this.#parts)) {
        await this.#giveBack([delivery.id], delivery.token);
        return;
      }
      if (waitMs <= 0) break;
      // Another row of the destination may start while this one sleeps.
      await sleep(timers, Math.ceil(waitMs));
    }
    if (token !== null) pacer.started(token, clock.nowMs(), clock.monotonicMs());
    await deliver(delivery, plan, this.#parts, this.#batcher);
    if (delivery.lostLeases === 0) return;
    // Rows with a lost lease go out one at a time: the next one may go now, wherever it waits.
    this.#discovery.walkSoon();
    this.#parts.wake.raise(true);
  }

  /**
   * Nothing can be claimed now: puts the wake-up where the next thing is due, and looks once more behind it.
   * @param quiet only a probe came, and it found nothing: then what was set at the last rest still stands as a rule
   */
  async #rest(quiet: boolean): Promise<void> {
    if (quiet && this.#parts.clock.monotonicMs() - this.#restedAt < QUIET_REST_MS) return;
    this.#owesRest = false;
    await this.#setWakeUps();
    if (!quiet) await this.#discovery.lookBehind();
  }

  async #setWakeUps(): Promise<void> {
    const { store, clock, book, dueTimer, switches, region } = this.#parts;
    for (let look = 0; look < 2; look++) {
      const askedAt = clock.monotonicMs();
      const next = await store.nextDue();
      clock.sync(next.nowMs, askedAt);
      this.#restedAt = askedAt;
      const blockedMs = book.nextOpeningMs(next.nowMs);
      if (switches.timers) {
        if (next.nextMs !== null) dueTimer.at(next.nextMs);
        if (blockedMs !== null) dueTimer.at(blockedMs);
      }
      if (next.nextMs === null || this.#jobStandsAt(next.nextMs)) return;
      if (switches.timers && switches.probe && next.nextMs - next.nowMs < NEAR_DUE_MS) return;
      await store.writeWakeJob(region, next.nextMs);
      this.#writtenJobMs = next.nextMs;
    }
  }

  #jobStandsAt(atMs: number): boolean {
    return this.#writtenJobMs !== null && Math.abs(this.#writtenJobMs - atMs) < SAME_JOB_MS;
  }
}

function versionsOf(deliveries: readonly ClaimedDelivery[]): Map<string, number> {
  return new Map(deliveries.map((delivery) => [delivery.destinationId, delivery.destinationVersion]));
}
