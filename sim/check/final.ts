/** What must hold once a run is over: every delivery accounted for, every attempt numbered, every effect once, every death explained. */
import { MAX_LOST_LEASES } from "#domain/delivery.ts";
import { type AttemptRow, type EndedRow, REPLAY_ATTEMPTS, type Tables } from "#sim/store/tables.ts";
import type { Received, Receiver } from "#sim/world/receiver.ts";
import { short } from "./row-watch.ts";
import type { Violations } from "./violations.ts";
import type { Watch } from "./watch.ts";

/** Outcomes that no policy counts as a failure. */
const NO_FAILURES = new Set(["delivered", "rate_limited", "shutdown"]);
/** Outcomes that do not even use up the attempts of a replay. */
const NEVER_COUNTED = new Set(["delivered", "shutdown"]);

export interface Facts {
  readonly tables: Tables;
  readonly watch: Watch;
  readonly violations: Violations;
  readonly receiverOf: (destinationId: string) => Receiver | undefined;
  readonly maxFailures: number;
  /** Deliveries whose payload was erased, or whose destination cannot be used, by the scenario's own doing. */
  readonly erased: ReadonlySet<string>;
}

export function judgeEnd(facts: Facts): void {
  const { tables, watch, violations } = facts;
  const attempts = Map.groupBy(tables.attempts, ({ deliveryId }) => deliveryId);
  for (const [id, { idempotencyKey, destinationId }] of watch.enqueued) {
    const live = tables.deliveries.get(id);
    const ended = tables.ended.get(id);
    if ((live === undefined) === (ended === undefined)) {
      violations.add(
        "nothing_lost",
        `${short({ id })} is ${live === undefined ? "nowhere" : "in two places"}`,
      );
    }
    const own = attempts.get(id) ?? [];
    numbers(facts, id, own, (ended ?? live)?.attempts ?? 0);
    recorded(facts, id, own);
    if (ended !== undefined) end(facts, ended, own);
    const receiver = facts.receiverOf(destinationId);
    const effects = receiver?.effects.get(idempotencyKey) ?? 0;
    if (receiver?.honoursKeys && effects > 1)
      violations.add("one_effect", `${short({ id })} had ${effects} effects`);
  }
}

/** 1, 2, 3...: HTTP attempts and lost leases; a delivery that ended without a request keeps its number. */
function numbers({ violations }: Facts, id: string, attempts: readonly AttemptRow[], total: number): void {
  const counted = attempts
    .filter(({ kind }) => kind === "http" || kind === "lease_expired")
    .map(({ number }) => number);
  const wrong = counted.findIndex((number, index) => number !== index + 1);
  if (wrong !== -1 || counted.length !== total) {
    violations.add("attempts", `${short({ id })}: attempts ${counted.join(",")}, the row says ${total}`);
  }
}

function recorded({ watch, violations, tables }: Facts, id: string, attempts: readonly AttemptRow[]): void {
  const known = new Set(attempts.map(({ leaseToken }) => leaseToken));
  const standing = tables.deliveries.get(id)?.leaseToken ?? null;
  for (const token of watch.requests.sent.get(id) ?? []) {
    if (!known.has(token) && token !== standing) {
      violations.add("recorded", `${short({ id })}: a request left under a lease that nothing tells of`);
    }
  }
}

function end(facts: Facts, ended: EndedRow, attempts: readonly AttemptRow[]): void {
  const { violations } = facts;
  const receiver = facts.receiverOf(ended.destinationId);
  const received = receiver?.received.filter(({ deliveryId }) => deliveryId === ended.id) ?? [];
  if (ended.end === "delivered") {
    if (!received.some(({ reply }) => reply.accepted && reply.kind === "answer")) {
      violations.add("one_effect", `${short(ended)} is delivered, and no receiver said so`);
    }
    if (receiver?.honoursKeys && receiver.effects.get(ended.idempotencyKey) !== 1) {
      violations.add("one_effect", `${short(ended)} is delivered without its effect`);
    }
  } else if (ended.end === "dead" && !isExplained(facts, ended, attempts, received)) {
    violations.add("dead_by_policy", `${short(ended)} is dead as ${ended.reason}, which did not happen`);
  }
}

function countOf(attempts: readonly AttemptRow[], without: ReadonlySet<string>): number {
  return attempts.filter(({ kind, outcome }) => kind === "http" && !without.has(outcome)).length;
}

function isExplained(
  { maxFailures, erased }: Facts,
  ended: EndedRow,
  attempts: readonly AttemptRow[],
  received: readonly Received[],
): boolean {
  const answered = (test: (status: number) => boolean) =>
    received.some(({ reply }) => reply.kind === "answer" && test(reply.status));
  switch (ended.reason) {
    case "rejected":
      return answered(
        (status) => status >= 400 && status < 500 && ![408, 409, 410, 425, 429].includes(status),
      );
    case "redirect":
      return answered((status) => status >= 300 && status < 400);
    case "gone":
      return answered((status) => status === 410);
    case "attempts_exhausted":
      return ended.cycle > 1
        ? countOf(attempts, NEVER_COUNTED) === REPLAY_ATTEMPTS
        : countOf(attempts, NO_FAILURES) >= maxFailures;
    case "payload_erased":
      return erased.has(ended.id);
    case "worker_lost": {
      const last = attempts.filter(({ kind }) => kind !== "stale_result").slice(-MAX_LOST_LEASES);
      return last.length === MAX_LOST_LEASES && last.every(({ kind }) => kind === "lease_expired");
    }
    default:
      return false;
  }
}
