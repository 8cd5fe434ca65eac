/**
 * Keeps the lane book close to the database: what became due lately at every look, and a walk over all lanes at
 * intervals that keep it to about 5 % of the time. Reads only.
 */
import type { WalkPosition } from "#db/queue/discover.ts";
import type { QueueStore } from "#db/queue/store.ts";
import type { LaneHead } from "#db/queue/types.ts";
import type { DatabaseClock } from "./clock.ts";
import type { LaneBook } from "./lane-book.ts";

/** A look while the book still has lanes, if only blocked ones, may be this old. */
const MIN_LOOK_INTERVAL_MS = 20;
/** While there are open lanes to claim from, a look rests ten times as long as it took. */
const LOOK_DUTY = 10;
/** A due time is set before its transaction commits; a look reaches back this far. Older ones are the walk's. */
const LOOK_BACK_MS = 2_000;
/** While a look is behind, what became due this lately is looked at too: depth must not hide what is new. */
const EDGE_MS = 300;
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

export class Discovery {
  #readUpToMs = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookAt = Number.NEGATIVE_INFINITY;
  #walkAt = Number.NEGATIVE_INFINITY;
  #background: Promise<void> | null = null;
  readonly #store: DiscoveryStore;
  readonly #clock: DatabaseClock;
  readonly #book: LaneBook;

  constructor(store: DiscoveryStore, clock: DatabaseClock, book: LaneBook) {
    this.#store = store;
    this.#clock = clock;
    this.#book = book;
  }

  /**
   * Looks and walks where it is time to. With open lanes in the book nobody waits for it: claims go on meanwhile.
   * @param fresh somebody said that something is new: look now, unless there is enough to do
   * @returns whether it has looked just now: another look would find the same
   */
  async refresh(fresh: boolean): Promise<boolean> {
    if (this.#book.hasOpen(this.#clock.nowMs())) {
      this.#background ??= this.#catchUp().finally(() => {
        this.#background = null;
      });
      return false;
    }
    await this.#background;
    const now = this.#clock.monotonicMs();
    const looks = fresh || this.#book.size === 0 || now - this.#lookedAt >= MIN_LOOK_INTERVAL_MS;
    if (looks) await this.#look();
    if (now >= this.#walkAt) await this.#walk();
    return looks;
  }

  /**
   * Before a dispatcher that found nothing to claim rests: waits for what goes on in the background and, when somebody
   * said that something is new, looks again. Returns whether the book may have changed.
   */
  async settle(fresh: boolean): Promise<boolean> {
    const waited = this.#background !== null;
    await this.#background;
    if (fresh) await this.#look();
    return waited || fresh;
  }

  /** Never rejects: an error comes up again where somebody waits for it. */
  async #catchUp(): Promise<void> {
    try {
      if (this.#clock.monotonicMs() >= this.#lookAt) await this.#look();
      if (this.#clock.monotonicMs() >= this.#walkAt) await this.#walk();
    } catch {
      this.#lookAt = Number.NEGATIVE_INFINITY;
    }
  }

  /** The next refresh walks all lanes. */
  walkSoon(): void {
    this.#walkAt = Number.NEGATIVE_INFINITY;
  }

  async #look(): Promise<void> {
    const begunAt = this.#clock.monotonicMs();
    const recent = await this.#store.recentLanes(this.#readUpToMs);
    this.#lookedAt = this.#clock.monotonicMs();
    this.#lookAt = this.#lookedAt + Math.min((this.#lookedAt - begunAt) * LOOK_DUTY, LONGEST_LOOK_REST_MS);
    this.#clock.sync(recent.nowMs, begunAt);
    this.#book.add(recent.heads);
    this.#readUpToMs = Math.min(recent.readUpToMs, recent.nowMs - LOOK_BACK_MS);
    if (recent.readUpToMs >= recent.nowMs - EDGE_MS) return;
    // A look reads the oldest rows first: behind a burst of tens of thousands it would come to a new row seconds later.
    const edge = await this.#store.recentLanes(recent.nowMs - EDGE_MS);
    this.#book.add(edge.heads);
  }

  async #walk(): Promise<void> {
    const begunAt = this.#clock.monotonicMs();
    for (const { lane, serviceClass, heads: first, next } of await this.#store.walkAllLanes()) {
      const heads: LaneHead[] = [...first];
      let from: WalkPosition | null = next;
      for (let page = 1; from !== null && page < MAX_WALK_PAGES; page++) {
        const result = await this.#store.walkLanes(lane, serviceClass, from);
        heads.push(...result.heads);
        from = result.next;
      }
      this.#book.add(heads);
      if (from === null) this.#book.dropUnseen(lane, serviceClass, heads);
    }
    const now = this.#clock.monotonicMs();
    const restMs = Math.min((now - begunAt) * WALK_DUTY, LONGEST_WALK_REST_MS);
    this.#walkAt = now + Math.max(MIN_WALK_INTERVAL_MS, restMs);
  }
}
