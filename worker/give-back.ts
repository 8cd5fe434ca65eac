/**
 * Gives back what a process has leased and not sent: rows that it could not read or start in time, and all rows of a claim
 * whose answer was lost. It must never give back a row of which a request may have left, nor hold up a stop for long.
 */
import type { QueueStore } from "#db/queue/store.ts";
import type { Logger } from "./log.ts";
import { sleep, type Timers, within } from "./timers.ts";

/** Rows are given back this often at once, and then again with each turn of the dispatcher. */
const RELEASE_TRIES = 3;
const RELEASE_AGAIN_MS = 200;
/** A process that stops has no turn any more in which it could try again. */
const RELEASE_TRIES_AT_LAST = 20;
/** Releases that are still owed; beyond that the oldest is left to its lease. */
const MAX_OWED = 200;
/** How long a stopping process asks for the rows of a claim whose answer was lost, and gives back what it owes. */
const AT_LAST_MS = 4_000;
const AT_LAST_AGAIN_MS = 100;

/** Rows that go back, with the token of their lease. */
interface Owed {
  readonly ids: readonly string[];
  readonly token: string;
}

type GiveBackStore = Pick<QueueStore, "release" | "releaseUnanswered">;

export class GiveBack {
  /** Token of a claim whose answer has not come (yet). */
  #unanswered: string | null = null;
  /** Nothing of these was sent, and the database did not hear it. */
  #owed: readonly Owed[] = [];
  #stopping = false;
  readonly #store: GiveBackStore;
  readonly #timers: Timers;
  readonly #log: Logger;

  constructor(store: GiveBackStore, timers: Timers, log: Logger) {
    this.#store = store;
    this.#timers = timers;
    this.#log = log;
  }

  /** No claim begins after this. */
  stop(): void {
    this.#stopping = true;
  }

  /** @param token of the claim that is asked for now, after `giveBackOwed` */
  claimBegins(token: string): void {
    this.#unanswered = token;
  }

  claimAnswered(): void {
    this.#unanswered = null;
  }

  /**
   * Before each claim and each look for work: rows that nobody works on must not wait for their lease to end.
   * @throws the store's error; what has not gone back by then is still owed
   */
  async giveBackOwed(): Promise<void> {
    await this.#takeBackUnanswered();
    for (let next = this.#owed[0]; next !== undefined; next = this.#owed[0]) {
      const paid = next;
      await this.#store.release(paid.ids, paid.token);
      // More may have come behind it meanwhile.
      this.#owed = this.#owed.filter((owed) => owed !== paid);
    }
  }

  /** Nothing of these rows was sent. Never rejects: what fails again and again is owed. */
  async release(ids: readonly string[], token: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      const done = await this.#store.release(ids, token).then(
        () => true,
        () => false,
      );
      if (done) return;
      if (tries >= (this.#stopping ? RELEASE_TRIES_AT_LAST : RELEASE_TRIES)) break;
      await sleep(this.#timers, RELEASE_AGAIN_MS);
    }
    this.#owed = [...this.#owed, { ids, token }].slice(-MAX_OWED);
  }

  /**
   * After the last turn. Never rejects, and takes no longer than
   * AT_LAST_MS: what the database does not hear by then is left to its leases.
   */
  async atLast(): Promise<void> {
    let over = false;
    const ask = async () => {
      while (this.#owes && !over)
        await this.giveBackOwed().catch(() => sleep(this.#timers, AT_LAST_AGAIN_MS));
    };
    await within(this.#timers, AT_LAST_MS, ask());
    over = true;
    if (this.#unanswered !== null)
      this.#log.warn({ event: "unanswered_claim_left" }, "the rows of a lost claim are left to their leases");
    if (this.#owed.length > 0)
      this.#log.warn(
        { event: "release_left", releases: this.#owed.length },
        "unsent rows are left to their leases",
      );
  }

  get #owes(): boolean {
    return this.#unanswered !== null || this.#owed.length > 0;
  }

  /** A claim that failed may have been committed all the same: what it leased would wait for its lease to end. */
  async #takeBackUnanswered(): Promise<void> {
    if (this.#unanswered === null) return;
    const rows = await this.#store.releaseUnanswered(this.#unanswered);
    this.#unanswered = null;
    if (rows > 0)
      this.#log.warn({ event: "unanswered_claim", rows }, "the answer to a claim was lost; its rows go back");
  }
}
