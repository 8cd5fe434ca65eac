/**
 * The simulated clock and its events. One event is one step: its callback runs, then every promise that follows from
 * it, then the next event. Nothing in a simulation may wait for anything else: no timer, no socket, no file.
 */

/** Time in whole microseconds since the epoch, the grain of the database's clock. */
export type Us = number;

/** Whoever an event belongs to. A dead owner's events are dropped, a frozen one's wait until it is thawed. */
export interface Owner {
  dead: boolean;
  /** Null: it runs. Otherwise what came up while it was stopped. */
  backlog: SimEvent[] | null;
}

export interface SimEvent {
  atUs: Us;
  order: number;
  readonly owner: Owner | null;
  readonly fire: () => void;
  cancelled: boolean;
}

/** Resolves once every promise that can settle has settled: the tick queue comes after the microtasks. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

export class Scheduler {
  nowUs: Us;
  steps = 0;
  #order = 0;
  readonly #heap: SimEvent[] = [];

  constructor(startUs: Us) {
    this.nowUs = startUs;
  }

  after(us: number, owner: Owner | null, fire: () => void): SimEvent {
    return this.at(this.nowUs + Math.max(0, Math.round(us)), owner, fire);
  }

  at(atUs: Us, owner: Owner | null, fire: () => void): SimEvent {
    const event = { atUs: Math.max(atUs, this.nowUs), order: this.#order++, owner, fire, cancelled: false };
    this.#push(event);
    return event;
  }

  /**
   * Lets a stopped owner go on: all that came up meanwhile happens now, in the order in which it came up. A timer that
   * was overtaken by what came over the network is the worst case, and one that Node allows.
   */
  thaw(owner: Owner): void {
    const backlog = owner.backlog ?? [];
    owner.backlog = null;
    for (const event of backlog) {
      event.atUs = this.nowUs;
      event.order = this.#order++;
      this.#push(event);
    }
  }

  /** Handles the next event. False when there is none. */
  async step(): Promise<boolean> {
    for (;;) {
      const event = this.#pop();
      if (event === undefined) return false;
      if (event.cancelled || event.owner?.dead) continue;
      if (event.owner?.backlog) {
        event.owner.backlog.push(event);
        continue;
      }
      this.nowUs = event.atUs;
      this.steps += 1;
      event.fire();
      await settled();
      return true;
    }
  }

  #push(event: SimEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as SimEvent;
      if (!earlier(event, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): SimEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && earlier(heap[child + 1] as SimEvent, heap[child] as SimEvent))
        child += 1;
      if (!earlier(heap[child] as SimEvent, last)) break;
      heap[at] = heap[child] as SimEvent;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function earlier(a: SimEvent, b: SimEvent): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}
