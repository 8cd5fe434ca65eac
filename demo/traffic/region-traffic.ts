/**
 * Keeps business coming in one region: card holds that are captured or left to expire, invoices, and bursts of one
 * noisy merchant. It never makes more than the workers take: a destination with enough waiting is left alone.
 * Whatever the region's database does, the loop goes on and the other region's does not notice.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { PrismaClient } from "#db/prisma.ts";
import { isSluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { enqueueDeliveries, enqueueDelivery, type Hinter, transactWithOutbox } from "#outbox/index.ts";
import { invoiceUpdated, type NewHold, newHold, paymentCaptured, type Target } from "./events.ts";
import { destinationIdOf, merchantsOf, tenantIdOf } from "./merchants.ts";
import { DELETE_OLD_HOLDS, READ_BACKLOG } from "./sql.ts";

export interface RegionTrafficSettings {
  readonly region: Region;
  readonly prisma: PrismaClient;
  readonly hinter: Pick<Hinter, "hint">;
  /** Of the whole region. */
  readonly deliveriesPerSecond: number;
  /** Waiting deliveries of a destination above which it is left alone. */
  readonly maxWaiting: number;
  /** 0 to 1, default Math.random. */
  readonly random?: () => number;
}

/** What was made since the last look. */
export interface TrafficCounts {
  holds: number;
  captures: number;
  invoices: number;
  /** Business that was not made because the destination has enough waiting. */
  heldBack: number;
  /** The last failure, null when the database answered since. */
  failure: string | null;
}

const TICK_MS = 250;
/** After a pause of any kind no more than this is made up for. */
const MAX_CREDIT_MS = 1_000;
const BURST_EVERY_MS = 20_000;
const MAX_BURST = 500;
/** A bursting destination may have this many times more waiting than others. */
const BURST_WAITING_FACTOR = 5;
const BACKLOG_EVERY_MS = 2_000;
const MAX_DEAD_PER_DESTINATION = 500;
const MAX_ACTIVE_HOLDS = 5_000;
const HOLD_SHARE = 0.4;
const CAPTURE_SHARE = 0.4;
const MAX_CAPTURE_DELAY_MS = 6_000;
const MAX_PENDING_CAPTURES = 500;
const CLEAN_EVERY_MS = 15_000;
/** Finished holds are kept this long. */
const KEEP_HOLDS_MS = 30 * 60_000;
const MAX_CLEANED = 500;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
const MAX_WAIT_MS = 3_000;
const TRANSACTION_TIMEOUT_MS = 8_000;
const TRANSACTION = { maxWait: MAX_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS };

interface BacklogRow {
  destination_id: string;
  waiting: number;
  dead: number;
}

export class RegionTraffic {
  readonly #settings: RegionTrafficSettings;
  readonly #random: () => number;
  readonly #targets: readonly Target[];
  readonly #perSecond: number;
  /** Destinations that are there and have room. */
  #open: ReadonlySet<string> = new Set();
  #holdsOpen = false;
  #captures: { hold: NewHold; atMs: number }[] = [];
  #creditMs = 0;
  #lastTickMs = 0;
  #nextBurstMs = 0;
  #nextBacklogMs = 0;
  #nextCleanMs = 0;
  #counts: TrafficCounts = emptyCounts();

  constructor(settings: RegionTrafficSettings) {
    this.#settings = settings;
    this.#random = settings.random ?? Math.random;
    this.#targets = targetsOf(settings.region);
    this.#perSecond = this.#targets.reduce((sum, target) => sum + target.perSecond, 0);
  }

  /** Runs until the signal aborts; resolves when the last transaction has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    this.#lastTickMs = performance.now();
    this.#nextBurstMs = this.#lastTickMs + BURST_EVERY_MS * this.#random();
    while (!signal.aborted) {
      let waitMs = TICK_MS;
      try {
        await this.#tick(performance.now(), signal);
        pauseMs = FIRST_PAUSE_MS;
        this.#counts.failure = null;
      } catch (error) {
        this.#counts.failure = reasonOf(error);
        waitMs = pauseMs;
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      }
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** The counts since the last call; starts anew but for a failure that still stands. */
  takeCounts(): TrafficCounts {
    const counts = this.#counts;
    this.#counts = { ...emptyCounts(), failure: counts.failure };
    return counts;
  }

  async #tick(nowMs: number, signal: AbortSignal): Promise<void> {
    this.#creditMs = Math.min(MAX_CREDIT_MS, this.#creditMs + nowMs - this.#lastTickMs);
    this.#lastTickMs = nowMs;
    if (nowMs >= this.#nextBacklogMs) {
      await this.#readBacklog();
      this.#nextBacklogMs = nowMs + BACKLOG_EVERY_MS;
    }
    await this.#captureDue(nowMs, signal);
    await this.#makeSteadyBusiness(signal);
    if (nowMs >= this.#nextBurstMs) {
      this.#nextBurstMs = nowMs + BURST_EVERY_MS;
      await this.#burst();
    }
    if (nowMs >= this.#nextCleanMs) {
      this.#nextCleanMs = nowMs + CLEAN_EVERY_MS;
      await this.#settings.prisma.$executeRawUnsafe(DELETE_OLD_HOLDS, KEEP_HOLDS_MS, MAX_CLEANED);
    }
  }

  async #readBacklog(): Promise<void> {
    const { prisma, maxWaiting } = this.#settings;
    const ids = JSON.stringify(this.#targets.map(({ destinationId }) => destinationId));
    const rows = await prisma.$queryRawUnsafe<BacklogRow[]>(
      READ_BACKLOG,
      ids,
      maxWaiting * BURST_WAITING_FACTOR,
      MAX_DEAD_PER_DESTINATION,
    );
    const limits = new Map(
      this.#targets.map((target) => [
        target.destinationId,
        maxWaiting * (target.bursts ? BURST_WAITING_FACTOR : 1),
      ]),
    );
    const open = rows.filter(
      (row) => row.waiting < (limits.get(row.destination_id) ?? 0) && row.dead < MAX_DEAD_PER_DESTINATION,
    );
    this.#open = new Set(open.map((row) => row.destination_id));
    const active = await prisma.demoCardHold.count({ where: { state: "active" }, take: MAX_ACTIVE_HOLDS });
    this.#holdsOpen = active < MAX_ACTIVE_HOLDS;
  }

  async #makeSteadyBusiness(signal: AbortSignal): Promise<void> {
    const unitMs = 1_000 / this.#settings.deliveriesPerSecond;
    while (this.#creditMs >= unitMs && !signal.aborted) {
      this.#creditMs -= unitMs;
      const target = pick(this.#targets, this.#perSecond, this.#random);
      if (target === undefined || target.bursts) continue;
      if (!this.#open.has(target.destinationId)) this.#counts.heldBack += 1;
      else if (this.#holdsOpen && this.#random() < HOLD_SHARE) await this.#placeHold(target);
      else await this.#sendInvoice(target);
    }
  }

  /** The sweep will release it, unless it is captured before. */
  async #placeHold(target: Target): Promise<void> {
    const hold = newHold(target, Date.now(), this.#random);
    await this.#settings.prisma.demoCardHold.create({ data: hold });
    this.#counts.holds += 1;
    if (this.#random() < CAPTURE_SHARE && this.#captures.length < MAX_PENDING_CAPTURES) {
      this.#captures.push({ hold, atMs: performance.now() + this.#random() * MAX_CAPTURE_DELAY_MS });
    }
  }

  async #captureDue(nowMs: number, signal: AbortSignal): Promise<void> {
    const due = this.#captures.filter(({ atMs }) => atMs <= nowMs);
    this.#captures = this.#captures.filter(({ atMs }) => atMs > nowMs);
    for (const { hold } of due) {
      if (signal.aborted) return;
      await this.#capture(hold);
    }
  }

  /** The change of the hold and the word of it stand or fall together; one that was released meanwhile is left. */
  async #capture(hold: NewHold): Promise<void> {
    const { prisma, hinter } = this.#settings;
    const captured = await transactWithOutbox(
      prisma,
      hinter,
      async (tx) => {
        const { count } = await tx.demoCardHold.updateMany({
          where: { id: hold.id, state: "active" },
          data: { state: "captured" },
        });
        if (count === 1) await enqueueDelivery(tx, paymentCaptured(hold));
        return count;
      },
      TRANSACTION,
    );
    this.#counts.captures += captured;
  }

  async #sendInvoice(target: Target): Promise<void> {
    const { prisma, hinter } = this.#settings;
    const input = invoiceUpdated(target, this.#random);
    await transactWithOutbox(prisma, hinter, (tx) => enqueueDelivery(tx, input), TRANSACTION);
    this.#counts.invoices += 1;
  }

  /** What the noisy merchant saved up, at once. */
  async #burst(): Promise<void> {
    const { prisma, hinter, deliveriesPerSecond } = this.#settings;
    const scale = deliveriesPerSecond / this.#perSecond;
    for (const target of this.#targets.filter(({ bursts }) => bursts)) {
      const size = Math.min(MAX_BURST, Math.round((target.perSecond * scale * BURST_EVERY_MS) / 1_000));
      if (!this.#open.has(target.destinationId)) {
        this.#counts.heldBack += size;
        continue;
      }
      const inputs = Array.from({ length: size }, () => invoiceUpdated(target, this.#random));
      await transactWithOutbox(prisma, hinter, (tx) => enqueueDeliveries(tx, inputs), TRANSACTION);
      this.#counts.invoices += size;
    }
  }
}

function targetsOf(region: Region): Target[] {
  return merchantsOf(region).flatMap(({ slug, currency, endpoints }) =>
    endpoints.map(({ key, perSecond, bursts = false }) => ({
      region,
      tenantId: tenantIdOf(region, slug),
      destinationId: destinationIdOf(region, slug, key),
      currency,
      perSecond,
      bursts,
    })),
  );
}

/** One target, each as often as its share says. */
function pick(targets: readonly Target[], total: number, random: () => number): Target | undefined {
  let rest = random() * total;
  return targets.find((target) => {
    rest -= target.perSecond;
    return rest < 0;
  });
}

function emptyCounts(): TrafficCounts {
  return { holds: 0, captures: 0, invoices: 0, heldBack: 0, failure: null };
}

/** One short line. Prisma's messages span many lines; the last one says what happened. */
function reasonOf(error: unknown): string {
  if (isSluiceError(error)) return error.detail;
  const text = error instanceof Error ? error.message : String(error);
  return (text.trim().split("\n").at(-1) ?? "unknown failure").trim().slice(0, 200);
}
