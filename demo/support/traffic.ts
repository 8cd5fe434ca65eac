/**
 * Keeps one region's support desk busy: people promise to look at tickets again, change them, and order a batch for the
 * search index now and then. It writes the desk's rows only; deliveries are written by the passes of the worker's tick.
 * Without a seeded desk it does nothing, and whatever the region's database does, the loop goes on.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { PrismaClient } from "#db/prisma.ts";
import { READ_BACKLOG } from "#demo/traffic/sql.ts";
import type { Region } from "#domain/region.ts";
import { type Desk, deskOf, STANDING_TICKETS, standingTicketId, subjectOf } from "./desk.ts";
import { FORGET_KEYS } from "./inbox/sql.ts";
import { ORDER_BATCH } from "./sql.ts";

export interface SupportTrafficSettings {
  readonly region: Region;
  readonly prisma: PrismaClient;
  /** Waiting deliveries of a destination above which it is left alone. */
  readonly maxWaiting: number;
  /** 0 to 1, default Math.random. */
  readonly random?: () => number;
  /** Time between two turns. Default 1 s. */
  readonly turnMs?: number;
  /** Time between two batches, also before the first. Defaults: 10 minutes, 15 s. */
  readonly batchEveryMs?: number;
  readonly firstBatchMs?: number;
}

/** What the desk did since the last look. */
export interface SupportCounts {
  promises: number;
  changes: number;
  batches: number;
}

const TURN_MS = 1_000;
const BATCH_EVERY_MS = 600_000;
const FIRST_BATCH_MS = 15_000;
/** Chance of a promise, and of a change, in one turn. */
const PROMISE_CHANCE = 0.6;
const CHANGE_CHANCE = 0.4;
const MIN_PROMISE_MS = 5_000;
const MAX_PROMISE_MS = 60_000;
const BACKLOG_EVERY_MS = 5_000;
const MAX_DEAD_PER_DESTINATION = 500;
const FORGET_EVERY_MS = 60_000;
/** The demo's customer keeps its keys for a week; a real one keeps them longer, see docs/receiving.md. */
const KEEP_KEYS_MS = 7 * 24 * 60 * 60 * 1_000;
const MAX_FORGOTTEN = 2_000;
const PAUSE_AFTER_FAILURE_MS = 5_000;

interface BacklogRow {
  destination_id: string;
  waiting: number;
  dead: number;
}

export class SupportTraffic {
  readonly #settings: SupportTrafficSettings;
  readonly #desk: Desk;
  readonly #random: () => number;
  #ticketsOpen = false;
  #searchIdle = false;
  #nextBacklogMs = 0;
  #nextBatchMs: number;
  #nextForgetMs = 0;
  #counts: SupportCounts = emptyCounts();

  constructor(settings: SupportTrafficSettings) {
    this.#settings = settings;
    this.#desk = deskOf(settings.region);
    this.#random = settings.random ?? Math.random;
    this.#nextBatchMs = performance.now() + (settings.firstBatchMs ?? FIRST_BATCH_MS);
  }

  /** Runs until the signal aborts; resolves when the last statement has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = this.#settings.turnMs ?? TURN_MS;
      try {
        await this.#turn(performance.now());
      } catch {
        // The merchants' traffic of the region says in its line that the database does not answer.
        waitMs = PAUSE_AFTER_FAILURE_MS;
      }
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** The counts since the last call; starts anew. */
  takeCounts(): SupportCounts {
    const counts = this.#counts;
    this.#counts = emptyCounts();
    return counts;
  }

  async #turn(nowMs: number): Promise<void> {
    if (nowMs >= this.#nextBacklogMs) {
      await this.#readBacklog();
      this.#nextBacklogMs = nowMs + BACKLOG_EVERY_MS;
    }
    if (this.#ticketsOpen && this.#random() < PROMISE_CHANCE) await this.#promise();
    if (this.#ticketsOpen && this.#random() < CHANGE_CHANCE) await this.#change();
    if (this.#searchIdle && nowMs >= this.#nextBatchMs) {
      await this.#order();
      this.#nextBatchMs = nowMs + (this.#settings.batchEveryMs ?? BATCH_EVERY_MS);
    }
    if (nowMs >= this.#nextForgetMs) {
      this.#nextForgetMs = nowMs + FORGET_EVERY_MS;
      await this.#settings.prisma.$executeRawUnsafe(FORGET_KEYS, KEEP_KEYS_MS, MAX_FORGOTTEN);
    }
  }

  async #readBacklog(): Promise<void> {
    const { prisma, maxWaiting } = this.#settings;
    const { tickets, search } = this.#desk.destinationIds;
    const rows = await prisma.$queryRawUnsafe<BacklogRow[]>(
      READ_BACKLOG,
      JSON.stringify([tickets, search]),
      maxWaiting,
      MAX_DEAD_PER_DESTINATION,
    );
    const open = (id: string, below: number) =>
      rows.some(
        (row) => row.destination_id === id && row.waiting < below && row.dead < MAX_DEAD_PER_DESTINATION,
      );
    this.#ticketsOpen = open(tickets, maxWaiting);
    this.#searchIdle = open(search, 1);
  }

  /** Somebody will look at the ticket again; one that has a promise already keeps it. */
  async #promise(): Promise<void> {
    const inMs = MIN_PROMISE_MS + this.#random() * (MAX_PROMISE_MS - MIN_PROMISE_MS);
    const { count } = await this.#settings.prisma.demoSupportTicket.updateMany({
      where: { id: this.#anyTicket(), followUpAt: null },
      data: { followUpAt: new Date(Date.now() + inMs) },
    });
    this.#counts.promises += count;
  }

  async #change(): Promise<void> {
    const { count } = await this.#settings.prisma.demoSupportTicket.updateMany({
      where: { id: this.#anyTicket() },
      data: { subject: subjectOf(this.#anyNumber()), version: { increment: 1 } },
    });
    this.#counts.changes += count;
  }

  /** One that is unfinished is not ordered again. */
  async #order(): Promise<void> {
    const { region, tenantId, destinationIds } = this.#desk;
    const count = await this.#settings.prisma.$executeRawUnsafe(
      ORDER_BATCH,
      randomUUID(),
      region,
      tenantId,
      destinationIds.search,
    );
    // Not added to in one expression with the await: the counts may be taken, and replaced, meanwhile.
    this.#counts.batches += count;
  }

  #anyTicket(): string {
    return standingTicketId(this.#desk.region, this.#anyNumber());
  }

  #anyNumber(): number {
    return Math.floor(this.#random() * STANDING_TICKETS);
  }
}

function emptyCounts(): SupportCounts {
  return { promises: 0, changes: 0, batches: 0 };
}
