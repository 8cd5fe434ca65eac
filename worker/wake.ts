/**
 * What makes a planner look: a coalescing signal, and the sources that raise it. Losing any one source costs a moment
 * at most; none of them may carry a delivery or decide anything. No sleep is longer than MAX_TIMER_MS.
 */
import { Client } from "pg";
import { CONTROLS_TOPIC, WAKE_CHANNEL } from "#domain/wake.ts";
import type { Logger } from "./log.ts";
import { systemTimers, type Timer, type Timers } from "./timers.ts";

/** Longest single timer: a longer wait is taken in steps, since timers over 2^31-1 ms fire at once. */
export const MAX_TIMER_MS = 60_000;
const RECONNECT_MS = 1_000;

/** Raised any number of times, seen once. */
export class WakeSignal {
  #raised = false;
  #fresh = false;
  #probeOnly = true;
  #waiter: (() => void) | null = null;

  /**
   * @param fresh whether something new may be due, so that what is known must be read again
   * @param source "probe" when nothing but time has passed
   */
  raise(fresh: boolean, source: "probe" | "news" = "news"): void {
    this.#raised = true;
    this.#fresh ||= fresh;
    this.#probeOnly &&= source === "probe";
    const waiter = this.#waiter;
    this.#waiter = null;
    waiter?.();
  }

  /** Raised since the last `next`: another turn comes at once. */
  get isRaised(): boolean {
    return this.#raised;
  }

  /** ... and one of the raises was fresh: that turn looks. */
  get isFresh(): boolean {
    return this.#fresh;
  }

  /** The present turn looks for what is new: the next one need not. */
  takeFresh(): boolean {
    const isFresh = this.#fresh;
    this.#fresh = false;
    return isFresh;
  }

  /** Resolves when raised since the last call; says whether one of the raises was fresh, and whether all were the probe's. */
  async next(): Promise<{ fresh: boolean; probeOnly: boolean }> {
    if (!this.#raised) {
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
    const seen = { fresh: this.#fresh, probeOnly: this.#probeOnly };
    this.#raised = false;
    this.#fresh = false;
    this.#probeOnly = true;
    return seen;
  }
}

/** One timer at the earliest of the moments it was told of. */
export class DueTimer {
  #timer: Timer | null = null;
  #atMs = Number.POSITIVE_INFINITY;
  readonly #nowMs: () => number;
  readonly #fire: () => void;
  readonly #timers: Timers;

  constructor(nowMs: () => number, fire: () => void, timers: Timers = systemTimers) {
    this.#nowMs = nowMs;
    this.#fire = fire;
    this.#timers = timers;
  }

  /** Fires at `atMs` (database time), unless an earlier moment stands. */
  at(atMs: number): void {
    if (this.#timer !== null && atMs >= this.#atMs) return;
    this.clear();
    this.#atMs = atMs;
    const waitMs = Math.min(Math.max(0, Math.ceil(atMs - this.#nowMs())), MAX_TIMER_MS);
    this.#timer = this.#timers.set(() => {
      this.#timer = null;
      this.#fire();
    }, waitMs);
  }

  /** Whether a moment stands that is not later. */
  standsBefore(atMs: number): boolean {
    return this.#timer !== null && this.#atMs <= atMs;
  }

  clear(): void {
    if (this.#timer !== null) this.#timers.clear(this.#timer);
    this.#timer = null;
    this.#atMs = Number.POSITIVE_INFINITY;
  }
}

/** Hears hints on a direct connection of its own, and connects again by itself for as long as it is open. */
export class HintListener {
  #client: Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;
  readonly #connectionString: string;
  readonly #applicationName: string;
  readonly #onHint: (topic: string) => void;
  readonly #log: Logger;

  /** @param onHint hears the hint's topic: "" for new work, CONTROLS_TOPIC for a changed control */
  constructor(
    connectionString: string,
    applicationName: string,
    onHint: (topic: string) => void,
    log: Logger,
  ) {
    this.#connectionString = connectionString;
    this.#applicationName = applicationName;
    this.#onHint = onHint;
    this.#log = log;
  }

  /** Never rejects: until it is connected, the probe does its work. */
  async open(): Promise<void> {
    if (this.#closed) return;
    const client = new Client({
      connectionString: this.#connectionString,
      application_name: this.#applicationName,
      keepAlive: true,
    });
    this.#client = client;
    client.on("notification", ({ payload }) => this.#onHint(payload ?? ""));
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    try {
      await client.connect();
      await client.query(`LISTEN ${WAKE_CHANNEL}`);
      // Whatever was hinted while nobody listened.
      this.#onHint(CONTROLS_TOPIC);
    } catch {
      this.#lost(client);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.end().catch(() => undefined);
    if (this.#closed) return;
    this.#log.warn({ event: "hint_connection_lost" }, "hint connection lost; the probe goes on");
    this.#retry = setTimeout(() => void this.open(), RECONNECT_MS);
  }
}
