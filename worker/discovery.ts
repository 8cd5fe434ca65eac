/**
 * Keeps the lane book close to the database: what became due lately at every look, and a walk over all lanes at
 * intervals that keep it to about 5 % of the time. Reads only. A walk, and whatever reads through a backlog, goes on in the
 * background: nobody who has something to claim, or waits for something new, may wait for it.
 */
import type { WalkPosition } from "#db/queue/discover.ts";
import type { QueueStore } from "#db/queue/store.ts";
import type { LaneHead } from "#db/queue/types.ts";
import type { DatabaseClock } from "./clock.ts";
import type { LaneBook } from "./lane-book.ts";

/** A look while the book still has lanes, if only blocked ones, may be this old. */
const MIN_LOOK_INTERVAL_MS = 20;
/** In the background a look rests ten times as long as it took. */
const LOOK_DUTY = 10;
/** A due time is set before its transaction commits; a look reaches back this far. Older ones are the walk's. */
const LOOK_BACK_MS = 2_000;
/** While a look is behind, what became due this lately is looked at too: depth must not hide what is new. */
const EDGE_MS = 300;
/** Beside open lanes the edge, a short read, rests five times as long as it took, and never so long that news become old. */
const EDGE_DUTY = 5;
const LONGEST_EDGE_REST_MS = 50;
const MIN_WALK_INTERVAL_MS = 500;
/** A walk rests twenty times as long as it took. */
const WALK_DUTY = 20;
/**
 * Longest rests: a process that was stopped, or a database that hung, in the middle of a look or a walk makes it seem to
 * have taken minutes, and what only a walk finds must not wait twenty times as long.
 */
const LONGEST_LOOK_REST_MS = 1_000;
const LONGEST_WALK_REST_MS = 10_000;
/** Bound of one walk over one kind of lanes. */
const MAX_WALK_PAGES = 25;

type DiscoveryStore = Pick<QueueStore, "recentLanes" | "walkAllLanes" | "walkLanes">;

/** What a discovery tells its dispatcher, from the background. */
export interface DiscoveryEvents {
  /** There are lanes that were not known. */
  onFound(): void;
  /** Something new was announced that cannot be looked at yet: refresh, as for news, after this. */
  onNewsLater(afterMs: number): void;
}

const NOBODY: DiscoveryEvents = { onFound: () => undefined, onNewsLater: () => undefined };

export class Discovery {
  #readUpToMs = 0;
  /** The last look did not come up to the present: too much is due. */
  #isBehind = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookAt = Number.NEGATIVE_INFINITY;
  #edgeAt = Number.NEGATIVE_INFINITY;
  #walkAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #edging: Promise<void> | null = null;
  #isWalking = false;
  /** A walk was asked for since the present one began. */
  #walkAgain = false;
  /** Why the last walk failed, until somebody who waits for lanes has heard it. */
  #walkError: unknown = null;
  /** Something new was announced and the edge has not been looked at since. */
  #hasNews = false;
  readonly #store: DiscoveryStore;
  readonly #clock: DatabaseClock;
  readonly #book: LaneBook;
  readonly #events: DiscoveryEvents;

  constructor(store: DiscoveryStore, clock: DatabaseClock, book: LaneBook, events = NOBODY) {
    this.#store = store;
    this.#clock = clock;
    this.#book = book;
    this.#events = events;
  }

  /**
   * Looks and walks where it is time to. With open lanes in the book nobody waits for it: claims go on meanwhile.
   * @param fresh somebody said that something is new: look now, with open lanes as soon as the last look at the edge has rested
   * @returns whether it has looked just now: another look would find the same
   * @throws the store's error, of this look or of the last walk, when nothing is open
   */
  async refresh(fresh: boolean): Promise<boolean> {
    this.#walkInBackground();
    const isOpen = this.#book.hasOpen(this.#clock.nowMs());
    if (isOpen || this.#isBehind) this.#lookInBackground();
    if (isOpen) {
      this.#hasNews ||= fresh;
      this.#edgeInBackground();
      return false;
    }
    if (!this.#isBehind) await this.#looking;
    const sinceMs = this.#clock.monotonicMs() - this.#lookedAt;
    const looks = fresh || this.#hasNews || this.#book.size === 0 || sinceMs >= MIN_LOOK_INTERVAL_MS;
    if (looks) await this.#lookAtNews();
    this.#throwWalkError();
    return looks;
  }

  /**
   * Before a dispatcher that found nothing to claim rests: waits for a short look that goes on in the background and, when somebody
   * said that something is new, looks again. Returns whether the book may have changed.
   */
  async settle(fresh: boolean): Promise<boolean> {
    const waitsFor = this.#edging ?? (this.#isBehind ? null : this.#looking);
    await waitsFor;
    if (fresh) await this.#lookAtNews();
    return waitsFor !== null || fresh;
  }

  /**
   * Behind a dispatcher that has asked for the next due time: what became due between its last look and that question is neither in the
   * book nor ahead, and would wait for a probe.
   */
  async lookBehind(): Promise<void> {
    if (await this.#lookAtNews()) this.#events.onFound();
  }

  /** The next refresh walks all lanes. */
  walkSoon(): void {
    this.#walkAt = Number.NEGATIVE_INFINITY;
    this.#walkAgain = true;
  }

  /** Whatever is new, in a short read: behind a backlog that is the edge alone. Returns whether there were lanes that were not known. */
  async #lookAtNews(): Promise<boolean> {
    this.#hasNews = false;
    return await (this.#isBehind ? this.#lookAtEdge() : this.#look());
  }

  #lookInBackground(): void {
    if (this.#looking !== null || this.#clock.monotonicMs() < this.#lookAt) return;
    this.#looking = this.#look()
      .then((found) => found && this.#events.onFound())
      // An error comes up again where somebody waits for a look.
      .catch(() => {
        this.#lookAt = Number.NEGATIVE_INFINITY;
      })
      .then(() => {
        this.#looking = null;
      });
  }

  #edgeInBackground(): void {
    if (!this.#hasNews || this.#edging !== null) return;
    const restMs = this.#edgeAt - this.#clock.monotonicMs();
    if (restMs > 0) {
      this.#events.onNewsLater(restMs);
      return;
    }
    this.#hasNews = false;
    this.#edging = this.#lookAtEdge()
      .then((found) => found && this.#events.onFound())
      .catch(() => {
        this.#hasNews = true;
      })
      .then(() => {
        this.#edging = null;
        // Announced meanwhile: what was read may be older than that.
        if (this.#hasNews) this.#events.onNewsLater(Math.max(0, this.#edgeAt - this.#clock.monotonicMs()));
      });
  }

  #walkInBackground(): void {
    if (this.#isWalking || this.#clock.monotonicMs() < this.#walkAt) return;
    this.#isWalking = true;
    void this.#walk()
      .then((found) => (found || this.#walkAgain) && this.#events.onFound())
      .catch((error: unknown) => {
        this.#walkError = error;
      })
      .then(() => {
        this.#isWalking = false;
      });
  }

  #throwWalkError(): void {
    const error = this.#walkError;
    this.#walkError = null;
    if (error !== null) throw error;
  }

  async #look(): Promise<boolean> {
    const begunAt = this.#clock.monotonicMs();
    const recent = await this.#store.recentLanes(this.#readUpToMs);
    this.#lookedAt = this.#clock.monotonicMs();
    this.#lookAt = this.#lookedAt + Math.min((this.#lookedAt - begunAt) * LOOK_DUTY, LONGEST_LOOK_REST_MS);
    this.#clock.sync(recent.nowMs, begunAt);
    const found = this.#book.add(recent.heads);
    this.#readUpToMs = Math.min(recent.readUpToMs, recent.nowMs - LOOK_BACK_MS);
    this.#isBehind = recent.readUpToMs < recent.nowMs - EDGE_MS;
    // A look reads the oldest rows first: behind a burst of tens of thousands it would come to a new row seconds later.
    return this.#isBehind ? (await this.#lookAtEdge()) || found : found;
  }

  async #lookAtEdge(): Promise<boolean> {
    const begunAt = this.#clock.monotonicMs();
    const edge = await this.#store.recentLanes(this.#clock.nowMs() - EDGE_MS);
    this.#lookedAt = this.#clock.monotonicMs();
    this.#edgeAt = this.#lookedAt + Math.min((this.#lookedAt - begunAt) * EDGE_DUTY, LONGEST_EDGE_REST_MS);
    this.#clock.sync(edge.nowMs, begunAt);
    return this.#book.add(edge.heads);
  }

  async #walk(): Promise<boolean> {
    const begunAt = this.#clock.monotonicMs();
    this.#walkAgain = false;
    const walk = this.#book.beginWalk();
    let found = false;
    for (const { lane, serviceClass, heads: first, next } of await this.#store.walkAllLanes()) {
      const heads: LaneHead[] = [...first];
      let from: WalkPosition | null = next;
      for (let page = 1; from !== null && page < MAX_WALK_PAGES; page++) {
        const result = await this.#store.walkLanes(lane, serviceClass, from);
        heads.push(...result.heads);
        from = result.next;
      }
      found = this.#book.add(heads) || found;
      if (from === null) this.#book.dropUnseen(lane, serviceClass, walk);
    }
    if (this.#walkAgain) return found;
    const now = this.#clock.monotonicMs();
    const restMs = Math.min((now - begunAt) * WALK_DUTY, LONGEST_WALK_REST_MS);
    this.#walkAt = now + Math.max(MIN_WALK_INTERVAL_MS, restMs);
    return found;
  }
}
