/**
 * The invariants, over the evidence of a run. Pure: it reads plain data and returns what is wrong, as one line for each
 * case, and how much it has looked at. It must never look at what a worker says of itself where the receiver or the
 * database can be asked.
 */

import { checkLimits } from "./check-limits.ts";
import type { AttemptEvidence, Evidence, RequestEvidence, RowEvidence } from "./evidence.ts";

/** What may not be there at all, with one line for each case. */
export interface Violations {
  readonly lost: string[];
  readonly doubleEffects: string[];
  readonly crossRegion: string[];
  readonly capBreaches: string[];
  /** Requests before their due time. */
  readonly early: string[];
  /** A key or a body that changed between attempts, or is another delivery's. */
  readonly changed: string[];
  /** Deliveries of transactions that were rolled back, or that nobody wrote. */
  readonly phantoms: string[];
  /** Attempt numbers that do not rise by one. */
  readonly misnumbered: string[];
}

/** How much each check had to look at; zero means that it has shown nothing. */
export interface Checked {
  /** Deliveries that the writer saw committed. */
  readonly ledger: number;
  readonly requests: number;
  readonly effects: number;
  /** Requests for a delivery that had been sent before. */
  readonly repeats: number;
  readonly attempts: number;
  readonly leasesLost: number;
  readonly staleResults: number;
  /** Requests that had an earlier attempt to wait for. */
  readonly waits: number;
  readonly bodies: number;
  readonly rolledBack: number;
  readonly usRequests: number;
  readonly euRequests: number;
  readonly ratedRequests: number;
  readonly cappedRequests: number;
  readonly throttles: number;
}

/** A request whose sender was stopped or cut off for longer than its lease. */
export interface Zombie {
  readonly deliveryId: string;
  readonly attempt: number;
  /** It arrived when its lease was over. */
  readonly isLate: boolean;
  /** Its delivery was delivered all the same, with one effect; or is excused as `worker_lost`. */
  readonly isHealed: boolean;
}

export interface Judgement {
  readonly violations: Violations;
  readonly checked: Checked;
  readonly zombies: readonly Zombie[];
  /** Dead letters `worker_lost` whose holder the harness took away three times. */
  readonly excused: number;
  /** Of all windows of a declared rate, by how much the worst was too short, in milliseconds. */
  readonly worstOverSendMs: number;
}

/** The clocks of receiver and database are the same machine's; what is left is rounding. */
const CLOCK_MS = 5;
/** Leases lost in a row after which the product gives a delivery up. */
const LOST_LEASES = 3;

export function judge(evidence: Evidence): Judgement {
  const index = indexOf(evidence);
  const violations: Violations = {
    lost: [],
    doubleEffects: [],
    crossRegion: [],
    capBreaches: [],
    early: [],
    changed: [],
    phantoms: [],
    misnumbered: [],
  };
  const excused = checkLedger(evidence, index, violations);
  checkEffects(index, violations);
  checkRegions(evidence, violations);
  checkRequests(evidence, index, violations);
  checkNumbers(evidence, index, violations);
  const limits = checkLimits(evidence);
  violations.capBreaches.push(...limits.breaches);
  return {
    violations,
    checked: {
      ...count(evidence, index),
      ratedRequests: limits.ratedRequests,
      cappedRequests: limits.cappedRequests,
    },
    zombies: findZombies(evidence, index),
    excused,
    worstOverSendMs: limits.worstOverSendMs,
  };
}

interface Index {
  readonly rows: ReadonlyMap<string, readonly RowEvidence[]>;
  readonly attempts: ReadonlyMap<string, readonly AttemptEvidence[]>;
  readonly requests: ReadonlyMap<string, readonly RequestEvidence[]>;
  /** Ledger entries by delivery. */
  readonly written: ReadonlyMap<string, Evidence["ledger"][number]>;
}

function indexOf({ rows, attempts, requests, ledger }: Evidence): Index {
  return {
    rows: Map.groupBy([...rows.us, ...rows.eu], ({ id }) => id),
    attempts: Map.groupBy([...attempts.us, ...attempts.eu], ({ deliveryId }) => deliveryId),
    requests: Map.groupBy(requests, ({ deliveryId }) => deliveryId ?? "(none)"),
    written: new Map(ledger.map((entry) => [entry.deliveryId, entry])),
  };
}

/** Everything that was written is delivered, once, and had its effect. Returns how many were excused. */
function checkLedger(evidence: Evidence, index: Index, violations: Violations): number {
  let excused = 0;
  for (const entry of evidence.ledger) {
    const found = index.rows.get(entry.deliveryId) ?? [];
    const [row] = found;
    if (found.length > 1) violations.doubleEffects.push(`${entry.key} stands in ${found.length} rows`);
    if (row === undefined) violations.lost.push(`${entry.key} has no row`);
    else if (row.state === "delivered") {
      const effects = (index.requests.get(entry.deliveryId) ?? []).filter(
        ({ effect }) => effect === "applied",
      );
      if (effects.length === 0) violations.lost.push(`${entry.key} is delivered but had no effect`);
    } else if (row.reason === "worker_lost" && isExcused(evidence, index, entry.deliveryId)) excused++;
    else violations.lost.push(`${entry.key} is ${row.state}${row.reason === null ? "" : `, ${row.reason}`}`);
  }
  return excused;
}

/** Whether the harness took the holder of this delivery away three times in a row. */
function isExcused(evidence: Evidence, index: Index, deliveryId: string): boolean {
  const lost = (index.attempts.get(deliveryId) ?? []).filter(({ kind }) => kind === "lease_expired");
  return lost.filter((attempt) => harmOf(evidence, attempt, false) !== undefined).length >= LOST_LEASES;
}

/** What the harness did to the holder of a lost lease while it held it. */
function harmOf(evidence: Evidence, lost: AttemptEvidence, onlyWhoComesBack: boolean) {
  const untilMs = lost.startedMs + evidence.leaseMs;
  return evidence.harms.find(
    (harm) =>
      harm.workerId === lost.workerId &&
      harm.fromMs <= untilMs &&
      harm.toMs >= untilMs &&
      (!onlyWhoComesBack || (harm.what !== "killed" && harm.toMs - harm.fromMs > evidence.leaseMs)),
  );
}

function checkEffects(index: Index, violations: Violations): void {
  for (const [deliveryId, requests] of index.requests) {
    const applied = requests.filter(({ effect }) => effect === "applied").length;
    if (applied > 1) violations.doubleEffects.push(`${deliveryId} had ${applied} effects`);
  }
}

function checkRegions({ places, rows, requests, ledger }: Evidence, violations: Violations): void {
  const regionOf = new Map(places.map((place) => [place.receiverName, place.region]));
  const homeOf = new Map(ledger.map((entry) => [entry.deliveryId, entry.region]));
  for (const request of requests) {
    const place = regionOf.get(request.receiverName);
    const home = homeOf.get(request.deliveryId ?? "") ?? place;
    if (place === undefined || request.region !== place || home !== place) {
      violations.crossRegion.push(
        `a request of ${request.region} for ${request.key} at ${request.receiverName}`,
      );
    }
  }
  for (const region of ["us", "eu"] as const) {
    for (const row of rows[region]) {
      if (row.region !== region || (homeOf.get(row.id) ?? region) !== region) {
        violations.crossRegion.push(`${row.key} of ${row.region} stands in ${region}`);
      }
    }
  }
}

/** Key, body and due time of every request; nothing that was never written. */
function checkRequests(evidence: Evidence, index: Index, violations: Violations): void {
  const rolledBack = new Set(evidence.rolledBackKeys);
  for (const request of evidence.requests) {
    const entry = index.written.get(request.deliveryId ?? "");
    if (entry === undefined || rolledBack.has(request.key ?? "")) {
      violations.phantoms.push(`a request for ${request.key}, which nobody has written`);
      continue;
    }
    if (request.key !== entry.key) violations.changed.push(`${entry.key} was sent as ${request.key}`);
    if (request.bodySha256 !== null && request.bodySha256 !== entry.bodySha256) {
      violations.changed.push(`${entry.key} was sent with another body`);
    }
    const dueMs = dueOf(request, index);
    if (dueMs !== null && request.arrivedAtMs < dueMs - CLOCK_MS) {
      violations.early.push(
        `${entry.key}, attempt ${request.attempt}: ${Math.round(dueMs - request.arrivedAtMs)} ms early`,
      );
    }
  }
  for (const row of [...evidence.rows.us, ...evidence.rows.eu]) {
    if (rolledBack.has(row.key) || !index.written.has(row.id)) {
      violations.phantoms.push(`a row ${row.key}, which nobody has written`);
    }
  }
}

/** When the attempt was due: what the attempt before it has stored, or the delivery's first due time. */
function dueOf(request: RequestEvidence, index: Index): number | null {
  if (request.attempt === null || request.deliveryId === null) return null;
  if (request.attempt === 1) return index.rows.get(request.deliveryId)?.[0]?.firstDueMs ?? null;
  const before = index.attempts
    .get(request.deliveryId)
    ?.find(({ kind, number }) => kind !== "stale_result" && number === (request.attempt ?? 0) - 1);
  return before?.nextDueMs ?? null;
}

/** What was tried is numbered 1, 2, 3... without a gap, and no number stands for two of our own attempts. */
function checkNumbers({ ledger }: Evidence, index: Index, violations: Violations): void {
  for (const { deliveryId, key } of ledger) {
    const counted = (index.attempts.get(deliveryId) ?? [])
      .filter(({ kind }) => kind === "http" || kind === "lease_expired")
      .map(({ number }) => number)
      .sort((a, b) => a - b);
    const row = index.rows.get(deliveryId)?.[0];
    const isRising = counted.every((number, position) => number === position + 1);
    if (!isRising || (row !== undefined && row.attempts !== counted.length)) {
      violations.misnumbered.push(`${key} has attempts ${counted.join(", ")} and counts ${row?.attempts}`);
    }
  }
}

function isHealed(evidence: Evidence, index: Index, deliveryId: string): boolean {
  const row = index.rows.get(deliveryId)?.[0];
  if (row?.reason === "worker_lost") return isExcused(evidence, index, deliveryId);
  const applied = (index.requests.get(deliveryId) ?? []).filter(({ effect }) => effect === "applied");
  return row?.state === "delivered" && applied.length === 1;
}

function findZombies(evidence: Evidence, index: Index): Zombie[] {
  const zombies: Zombie[] = [];
  for (const [deliveryId, attempts] of index.attempts) {
    for (const lost of attempts) {
      if (lost.kind !== "lease_expired" || harmOf(evidence, lost, true) === undefined) continue;
      const requests = index.requests.get(deliveryId) ?? [];
      for (const sent of requests.filter(({ attempt }) => attempt === lost.number)) {
        zombies.push({
          deliveryId,
          attempt: lost.number,
          isLate: sent.arrivedAtMs > lost.startedMs + evidence.leaseMs,
          isHealed: isHealed(evidence, index, deliveryId),
        });
      }
    }
  }
  return zombies;
}

function count(evidence: Evidence, index: Index): Omit<Checked, "ratedRequests" | "cappedRequests"> {
  const attempts = [...evidence.attempts.us, ...evidence.attempts.eu];
  const ofKind = (kind: AttemptEvidence["kind"]) =>
    attempts.filter((attempt) => attempt.kind === kind).length;
  const { requests } = evidence;
  const had = (test: (request: RequestEvidence) => boolean) => requests.filter(test).length;
  return {
    ledger: evidence.ledger.length,
    requests: requests.length,
    effects: had(({ effect }) => effect === "applied"),
    repeats: [...index.requests.values()].reduce((sum, all) => sum + all.length - 1, 0),
    attempts: attempts.length,
    leasesLost: ofKind("lease_expired"),
    staleResults: ofKind("stale_result"),
    waits: had(
      (request) => request.attempt !== null && request.attempt > 1 && dueOf(request, index) !== null,
    ),
    bodies: had(({ bodySha256 }) => bodySha256 !== null),
    rolledBack: evidence.rolledBackKeys.length,
    usRequests: had(({ region }) => region === "us"),
    euRequests: had(({ region }) => region === "eu"),
    throttles: had(({ status }) => status === 429),
  };
}
