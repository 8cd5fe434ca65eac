/**
 * Everything that watches one region: wraps its store so that each statement is judged where it takes effect, and
 * judges the whole at the end. What is wrapped may be broken on purpose; the watch reads only the tables and what is said.
 */
import type { SyncStore } from "#sim/store/memory-store.ts";
import type { Identity, Tables } from "#sim/store/tables.ts";
import { SECOND } from "#sim/store/time.ts";
import { ClaimWatch } from "./claim-watch.ts";
import { RequestWatch, type Timing } from "./request-watch.ts";
import { type Change, RowWatch } from "./row-watch.ts";
import type { Violations } from "./violations.ts";

export class Watch {
  readonly enqueued = new Map<string, Identity & { readonly body: string }>();
  readonly requests: RequestWatch;
  readonly #rows: RowWatch;
  readonly #claims: ClaimWatch;
  readonly #tables: Tables;
  readonly #violations: Violations;
  readonly #nowUs: () => number;

  constructor(tables: Tables, violations: Violations, timing: Timing, nowUs: () => number) {
    this.#tables = tables;
    this.#violations = violations;
    this.#nowUs = nowUs;
    this.#rows = new RowWatch(tables, violations, nowUs);
    this.#claims = new ClaimWatch(tables, violations);
    this.requests = new RequestWatch(tables, violations, timing, this.enqueued);
  }

  /** The world changed rows by itself: an outbox's transaction, a replay's release. */
  enqueue(id: string, body: string): void {
    const row = this.#tables.deliveries.get(id);
    if (row !== undefined) this.enqueued.set(id, { ...row, body });
    this.#after({ kind: "enqueue" });
  }

  /** The store as one process reaches it. */
  wrap(store: SyncStore, processId: string): SyncStore {
    return {
      ...store,
      claim: (request) => {
        const answer = store.claim(request);
        const leased = this.#rows.look({ kind: "claim" });
        this.#claims.judge(request, answer, leased, this.#nowUs());
        this.#pace(answer);
        return answer;
      },
      readClaimed: (ids, token) => {
        const rows = store.readClaimed(ids, token);
        this.requests.read(processId, rows);
        return rows;
      },
      finish: (rows) => {
        const recorded = store.finish(rows);
        for (const { id, lease_token } of rows) {
          if (recorded.has(id) && this.#tables.deliveries.get(id)?.leaseToken === lease_token) {
            this.#violations.add("acknowledged", `${id.slice(-6)} was said to be recorded and is not`);
          }
        }
        this.#after({ kind: "finish", rows });
        return recorded;
      },
      release: (ids, token) => {
        const released = store.release(ids, token);
        this.#after({ kind: "release", ids, token });
        return released;
      },
      returnExpiredLeases: () => {
        const result = store.returnExpiredLeases();
        this.#after({ kind: "expire" });
        return result;
      },
      cancelDeleted: () => {
        const result = store.cancelDeleted();
        this.#after({ kind: "cancel" });
        return result;
      },
    };
  }

  /** When the token of each claimed row is there, from what the claim left in the table: the last one is a burst before it. */
  #pace({ ids, token }: ReturnType<SyncStore["claim"]>): void {
    const { deliveries, destinations, rates } = this.#tables;
    const groups = Map.groupBy(ids, (id) => deliveries.get(id)?.destinationId ?? "");
    for (const [destinationId, own] of groups) {
      const { ratePerSecond = null, rateBurst = 1 } = destinations.get(destinationId) ?? {};
      const rate = rates.get(destinationId);
      if (ratePerSecond === null || rate === undefined) continue;
      const gapUs = SECOND / ratePerSecond;
      own.forEach((id, nth) => {
        const tokenUs = rate.tatUs - (rateBurst + own.length - 1 - nth) * gapUs;
        this.requests.paced(id, token, Math.floor(tokenUs) - 1);
      });
    }
  }

  #after(change: Change): void {
    this.#rows.look(change);
  }
}
