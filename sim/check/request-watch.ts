/**
 * Watches requests as they leave: under which lease, whether it lasts long enough, whether anything of the delivery's
 * identity changed, and whether the receiver's wish to wait was kept. It sees what a receiver sees, and the lease that the sender read.
 */
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import type { Identity, Tables } from "#sim/store/tables.ts";
import type { Sent } from "#sim/world/http.ts";
import type { Reply } from "#sim/world/receiver.ts";
import { short } from "./row-watch.ts";
import type { Violations } from "./violations.ts";

const MS = 1_000;

export interface Timing {
  readonly requestDeadlineMs: number;
  readonly retryAfterMinMs: number;
  readonly retryAfterMaxMs: number;
}

/** A lease as a process read it. */
interface Read {
  readonly token: string;
  readonly untilUs: number;
  readonly number: number;
  sent: boolean;
}

/** A request whose answer its sender still waits for; at the latest until its deadline. */
interface Open {
  readonly sent: Sent;
  readonly token: string;
  readonly untilUs: number;
}

export class RequestWatch {
  /** (delivery, token) of every request that left. */
  readonly sent = new Map<string, Set<string>>();
  readonly #tables: Tables;
  readonly #violations: Violations;
  readonly #timing: Timing;
  readonly #enqueued: ReadonlyMap<string, Identity & { readonly body: string }>;
  readonly #reads = new Map<string, Read>();
  readonly #open = new Map<string, Open>();
  readonly #notBeforeUs = new Map<string, number>();
  readonly #tokenUs = new Map<string, number>();

  constructor(
    tables: Tables,
    violations: Violations,
    timing: Timing,
    enqueued: ReadonlyMap<string, Identity & { readonly body: string }>,
  ) {
    this.#tables = tables;
    this.#violations = violations;
    this.#timing = timing;
    this.#enqueued = enqueued;
  }

  /** A process read its claimed rows. */
  read(processId: string, rows: readonly ClaimedDelivery[]): void {
    for (const { id, token, attempts } of rows) {
      const untilUs = this.#tables.deliveries.get(id)?.leaseUntilUs ?? 0;
      // A statement may take effect twice: the second reading of one lease is no second lease.
      if (this.#reads.get(processId + id)?.token === token) continue;
      this.#reads.set(processId + id, { token, untilUs, number: attempts + 1, sent: false });
    }
  }

  /** A claim said when the token of a row's rate is there. */
  paced(deliveryId: string, leaseToken: string, startUs: number): void {
    this.#tokenUs.set(deliveryId + leaseToken, startUs);
  }

  left(processId: string, sent: Sent): void {
    const known = this.#enqueued.get(sent.deliveryId);
    const add = (invariant: Parameters<Violations["add"]>[0], detail: string) =>
      this.#violations.add(invariant, `${short({ id: sent.deliveryId })}: ${detail}`);
    if (known === undefined) {
      add("identity", "a request for a delivery that nobody enqueued");
      return;
    }
    if (sent.key !== known.idempotencyKey) add("identity", `key ${sent.key}, not ${known.idempotencyKey}`);
    if (sent.body !== known.body) add("identity", "another body");
    if (sent.region !== known.region) add("identity", `region ${sent.region}, not ${known.region}`);
    const read = this.#reads.get(processId + sent.deliveryId);
    if (read === undefined) {
      add("one_live_lease", "a request without a lease that was read");
      return;
    }
    if (read.sent) add("one_live_lease", "two requests under one lease");
    read.sent = true;
    if (sent.attempt !== read.number)
      add("attempts", `the receiver was told ${sent.attempt}, not ${read.number}`);
    this.#judgeTime(sent, read, add);
    const tokens = this.sent.get(sent.deliveryId) ?? new Set();
    this.sent.set(sent.deliveryId, tokens.add(read.token));
  }

  /** The receiver answered: what it asked for counts from here. */
  answered(sent: Sent, reply: Reply, atUs: number): void {
    if (reply.kind !== "answer" || reply.askedUs === null || reply.askedUs <= 0) return;
    const { retryAfterMinMs, retryAfterMaxMs } = this.#timing;
    const waitUs = Math.min(Math.max(reply.askedUs, retryAfterMinMs * MS), retryAfterMaxMs * MS);
    // A date is read in whole milliseconds by a clock that may be behind: never by one that is ahead.
    const notBeforeUs = atUs + waitUs - MS;
    this.#notBeforeUs.set(`${sent.deliveryId}/${sent.attempt}`, notBeforeUs);
  }

  closed(sent: Sent): void {
    if (this.#open.get(sent.deliveryId)?.sent === sent) this.#open.delete(sent.deliveryId);
  }

  #judgeTime(
    sent: Sent,
    read: Read,
    add: (invariant: Parameters<Violations["add"]>[0], detail: string) => void,
  ): void {
    const deadlineUs = this.#timing.requestDeadlineMs * MS;
    const endUs = sent.begunUs + deadlineUs;
    const lateUs = Math.max(endUs, sent.atUs) - read.untilUs;
    if (lateUs > 0) add("lease_covers_request", `its lease ends ${lateUs} us before its deadline`);
    const open = this.#open.get(sent.deliveryId);
    if (open !== undefined && open.token !== read.token && sent.atUs < open.untilUs) {
      add("one_live_lease", "sent while another request of it is open");
    }
    this.#open.set(sent.deliveryId, { sent, token: read.token, untilUs: endUs });
    const tokenUs = this.#tokenUs.get(sent.deliveryId + read.token);
    if (tokenUs !== undefined && sent.atUs < tokenUs)
      add("rate", `started ${tokenUs - sent.atUs} us before its token`);
    const notBeforeUs = this.#notBeforeUs.get(`${sent.deliveryId}/${sent.attempt - 1}`);
    if (notBeforeUs !== undefined && sent.atUs < notBeforeUs && this.#recorded(sent)) {
      add("retry_after", `sent ${notBeforeUs - sent.atUs} us too early`);
    }
  }

  /** Only an answer that was recorded can have moved the due time: a lost lease says nothing of it. */
  #recorded(sent: Sent): boolean {
    const last = this.#tables.attempts.findLast(
      ({ deliveryId, number, kind }) =>
        deliveryId === sent.deliveryId && number === sent.attempt - 1 && kind !== "stale_result",
    );
    return last?.kind === "http" && (last.status === 429 || last.status === 503);
  }
}
