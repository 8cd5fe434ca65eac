/**
 * Collects outcomes and records them in batches. A caller's promise settles only after the commit. Ids that a batch
 * did not return are tried once more in a new statement before they count as stale; a batch that is refused for its
 * data is halved until the bad row stands alone; a database that does not answer is asked again until it does, or
 * until the process ends.
 */
import { type FinishRow, MAX_FINISH_ROWS } from "#db/queue/finish.ts";
import type { StaleResult } from "#db/queue/stale-result.ts";
import type { QueueStore } from "#db/queue/store.ts";
import { withoutEvidence } from "./finish-row.ts";
import type { Logger } from "./log.ts";
import { sleep, systemTimers, type Timer, type Timers } from "./timers.ts";

/** How long an outcome waits for others to be recorded with. */
const FLUSH_MS = 5;
/** ... when somebody waits for its slot: those of the same moment still go together. */
const HURRIED_FLUSH_MS = 1;
/** A batch of so many rows says that waiting pays: then nobody's hurry makes the next ones smaller. */
const FULL_ENOUGH_ROWS = 16;
const MAX_CONCURRENT_FLUSHES = 1;
const MAX_LATE_AT_ONCE = 2;
const RETRY_FIRST_MS = 50;
const RETRY_CAP_MS = 2_000;
/** Postgres error classes that blame the data, not the moment. */
const DATA_CLASSES: ReadonlySet<string> = new Set(["22", "23", "54"]);

/** What became of one outcome: recorded with the row's due time, recorded before, too late, or not recorded at all. */
export type FinishResult =
  | { readonly kind: "recorded"; readonly dueMs: number }
  | { readonly kind: "repeat" }
  | { readonly kind: "stale" }
  | { readonly kind: "lost"; readonly error: string };

const GIVEN_UP: FinishResult = { kind: "lost", error: "given up" };

interface Pending {
  readonly row: FinishRow;
  readonly stale: Omit<StaleResult, "row">;
  readonly resolve: (result: FinishResult) => void;
}

type FinishStore = Pick<QueueStore, "finish" | "keepStaleResult">;

export class FinishBatcher {
  #pending: Pending[] = [];
  #timer: Timer | null = null;
  /** What the timer was set to wait. */
  #timerMs = 0;
  #isHurried = false;
  #lastRows = 0;
  #flushing = 0;
  /** Came too late, to be kept as such. */
  readonly #late: Pending[] = [];
  #keeping = 0;
  readonly #end = new AbortController();
  readonly #store: FinishStore;
  readonly #log: Logger;
  readonly #timers: Timers;

  constructor(store: FinishStore, log: Logger, timers: Timers = systemTimers) {
    this.#store = store;
    this.#log = log;
    this.#timers = timers;
  }

  /**
   * Settles once the outcome stands in the database, or is known to be too late.
   * @param hurry somebody waits for the slot that comes free with it
   */
  record(row: FinishRow, stale: Omit<StaleResult, "row">, hurry = false): Promise<FinishResult> {
    return new Promise((resolve) => {
      this.#pending.push({ row, stale, resolve });
      this.#isHurried ||= hurry;
      this.#schedule();
    });
  }

  /** Asks no more: what the database has not answered by now is "lost", and its rows are left to their leases. */
  giveUp(): void {
    this.#end.abort();
  }

  get #hurries(): boolean {
    return this.#isHurried && this.#lastRows < FULL_ENOUGH_ROWS;
  }

  #schedule(): void {
    if (this.#pending.length >= MAX_FINISH_ROWS) {
      this.#start();
      return;
    }
    if (this.#pending.length === 0) return;
    const waitMs = this.#hurries ? HURRIED_FLUSH_MS : FLUSH_MS;
    if (this.#timer !== null) {
      if (waitMs >= this.#timerMs) return;
      this.#timers.clear(this.#timer);
    }
    this.#timerMs = waitMs;
    this.#timer = this.#timers.set(() => this.#start(), waitMs);
  }

  #start(): void {
    if (this.#timer !== null) this.#timers.clear(this.#timer);
    this.#timer = null;
    if (this.#flushing >= MAX_CONCURRENT_FLUSHES || this.#pending.length === 0) return;
    const batch = this.#pending.splice(0, MAX_FINISH_ROWS);
    this.#lastRows = batch.length;
    this.#isHurried = false;
    this.#flushing += 1;
    void this.#flush(batch).finally(() => {
      this.#flushing -= 1;
      // What came while this one was under way has waited long enough.
      if (this.#hurries) this.#start();
      else this.#schedule();
    });
  }

  async #flush(batch: readonly Pending[]): Promise<void> {
    const results = new Map<Pending, FinishResult>();
    let late: Pending[] = [];
    try {
      const left = await this.#recordAll(batch, results);
      // A row that another transaction changed while the statement waited is invisible to it, not lost.
      late = left.length === 0 ? left : await this.#recordAll(left, results);
    } catch (error) {
      // Only giving up ends the asking.
      this.#log.error(
        { event: "finish_given_up", rows: batch.length - results.size, code: codeOf(error) },
        "outcomes are lost",
      );
    }
    const isLate = new Set(late);
    for (const pending of batch) if (!isLate.has(pending)) pending.resolve(results.get(pending) ?? GIVEN_UP);
    this.#late.push(...late);
    while (this.#keeping < MAX_LATE_AT_ONCE && this.#late.length > this.#keeping) void this.#keepLate();
  }

  /** Beside the flushes: a process that comes back with hundreds of late results must not make its fresh ones late too. */
  async #keepLate(): Promise<void> {
    this.#keeping += 1;
    for (let next = this.#late.shift(); next !== undefined; next = this.#late.shift()) {
      next.resolve(await this.#keepStale(next).catch(() => GIVEN_UP));
    }
    this.#keeping -= 1;
  }

  /** Records what it can and returns the rows that the statement did not return. */
  async #recordAll(batch: readonly Pending[], results: Map<Pending, FinishResult>): Promise<Pending[]> {
    const recorded = await this.#finishOrNull(batch.map((pending) => pending.row));
    if (recorded === null) return this.#halve(batch, results);
    const left: Pending[] = [];
    for (const pending of batch) {
      const dueMs = recorded.get(pending.row.id);
      if (dueMs === undefined) left.push(pending);
      else results.set(pending, { kind: "recorded", dueMs });
    }
    return left;
  }

  async #halve(batch: readonly Pending[], results: Map<Pending, FinishResult>): Promise<Pending[]> {
    const only = batch[0];
    if (batch.length > 1 || only === undefined) {
      const middle = Math.ceil(batch.length / 2);
      const first = await this.#recordAll(batch.slice(0, middle), results);
      return [...first, ...(await this.#recordAll(batch.slice(middle), results))];
    }
    this.#log.error(
      { event: "evidence_refused", delivery: only.row.id },
      "an attempt's evidence was refused; stored without",
    );
    const recorded = await this.#finishOrNull([withoutEvidence(only.row)]);
    const dueMs = recorded?.get(only.row.id);
    if (recorded === null) results.set(only, { kind: "lost", error: "refused even without evidence" });
    else if (dueMs !== undefined) results.set(only, { kind: "recorded", dueMs });
    else return [only];
    return [];
  }

  /** Null when Postgres refuses the data. Asks again for as long as it does not answer. */
  async #finishOrNull(rows: readonly FinishRow[]): Promise<Map<string, number> | null> {
    return this.#untilAnswered(() => orNull(this.#store.finish(rows)));
  }

  async #keepStale(pending: Pending): Promise<FinishResult> {
    const { row, stale } = pending;
    const kind =
      (await this.#keepOrNull({ ...stale, row })) ??
      (await this.#keepOrNull({ ...stale, row: withoutEvidence(row) }));
    if (kind === null) return { kind: "lost", error: "refused even without evidence" };
    if (kind === "stale") {
      this.#log.warn(
        { event: "stale_result", delivery: row.id, outcome: row.outcome },
        "a result came too late",
      );
    }
    return { kind };
  }

  /** Null when Postgres refuses the data. */
  async #keepOrNull(stale: StaleResult): Promise<"repeat" | "stale" | null> {
    return this.#untilAnswered(() => orNull(this.#store.keepStaleResult(stale)));
  }

  async #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    // Bounded by `giveUp`: what is never recorded is left to its lease, and nothing is acknowledged.
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_CAP_MS)) {
      try {
        return await ask();
      } catch (error) {
        if (this.#end.signal.aborted) throw error;
        this.#log.warn(
          { event: "finish_retry", code: codeOf(error), waitMs },
          "outcomes could not be recorded; asking again",
        );
        await sleep(this.#timers, waitMs, this.#end.signal);
      }
    }
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : "unknown";
}

/** Null when the data is refused; every other error stays one. */
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (DATA_CLASSES.has(codeOf(error).slice(0, 2))) return null;
    throw error;
  }
}
