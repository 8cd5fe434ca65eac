/** sluice.finish and what is kept of a result that came too late, over the simulated tables. */
import type { FinishRow } from "#db/queue/finish.ts";
import type { StaleResult } from "#db/queue/stale-result.ts";
import type { Us } from "#sim/scheduler.ts";
import { endRow } from "./end-row.ts";
import type { Database, DeliveryRow } from "./tables.ts";
import { fromMs, MS, toDateMs } from "./time.ts";

/** Delivery id -> due time, for the rows whose lease still stood. */
export function finishRows(database: Database, outcomes: readonly FinishRow[]): Map<string, number> {
  const { tables } = database;
  const nowUs = database.nowUs();
  const due = new Map<string, number>();
  const probes = new Map<string, Us>();
  for (const outcome of outcomes) {
    const row = tables.deliveries.get(outcome.id);
    if (row === undefined || row.leaseToken !== outcome.lease_token) continue;
    const tries = outcome.sent ? 1 : 0;
    const before = { lane: row.lane, attempts: row.attempts };
    if (outcome.decision === "delayed") keep(row, outcome, tries, nowUs);
    else end(database, row, outcome, tries);
    tables.attempts.push({
      deliveryId: row.id,
      kind: outcome.sent ? "http" : "not_sent",
      number: before.attempts + tries,
      leaseToken: outcome.lease_token,
      lane: before.lane,
      outcome: outcome.outcome,
      decision: outcome.decision,
      reason: outcome.reason ?? null,
      status: outcome.status ?? null,
      nextDueUs: outcome.decision === "delayed" ? row.dueUs : null,
      recordedUs: nowUs,
    });
    due.set(row.id, toDateMs(row.dueUs));
    if (outcome.opens_gate) {
      const startedUs = fromMs(outcome.started_ms);
      probes.set(row.destinationId, Math.max(startedUs, probes.get(row.destinationId) ?? 0));
    }
  }
  openGates(database, probes);
  return due;
}

function keep(row: DeliveryRow, outcome: FinishRow, tries: number, nowUs: Us): void {
  const delayMs = outcome.delay_ms ?? 0;
  Object.assign(row, {
    state: "delayed",
    lane: row.lane === "first" ? "retry" : row.lane,
    dueUs: nowUs + delayMs * MS,
    attempts: row.attempts + tries,
    failures: row.failures + (outcome.failure ? 1 : 0),
    rejections: row.rejections + (outcome.rejection ? 1 : 0),
    throttles: row.throttles + (outcome.throttle ? 1 : 0),
    throttledMs: row.throttledMs + (outcome.throttle ? delayMs : 0),
    lostLeases: 0,
    lastOutcome: outcome.outcome,
    lastStatus: outcome.status ?? null,
    leaseToken: null,
    leaseUntilUs: null,
    leasedAtUs: null,
    leasedBy: null,
  });
}

function end({ tables }: Database, row: DeliveryRow, outcome: FinishRow, tries: number): void {
  const dead = outcome.decision === "dead";
  const add = (flag: boolean | undefined) => (dead && flag ? 1 : 0);
  tables.deliveries.delete(row.id);
  tables.ended.set(
    row.id,
    endRow(row, dead ? "dead" : "delivered", dead ? (outcome.reason ?? null) : null, {
      attempts: row.attempts + tries,
      failures: row.failures + add(outcome.failure),
      throttles: row.throttles + add(outcome.throttle),
      throttledMs: row.throttledMs + (dead && outcome.throttle ? (outcome.delay_ms ?? 0) : 0),
      lastOutcome: outcome.outcome,
      lastStatus: outcome.status ?? null,
    }),
  );
}

/** An answer that is no limit, of a request that began after the gate's opening, ends the probing. */
function openGates({ tables }: Database, probes: ReadonlyMap<string, Us>): void {
  for (const [destinationId, startedUs] of probes) {
    const state = tables.states.get(destinationId);
    if (state?.probing && state.holdUntilUs !== null && startedUs >= state.holdUntilUs) {
      state.probing = false;
      state.consecutiveGates = 0;
    }
  }
}

/** "repeat" when this token's result already stands. */
export function keepStale(database: Database, stale: StaleResult): "repeat" | "stale" {
  const { tables } = database;
  const { row } = stale;
  const stands = tables.attempts.some(
    (attempt) =>
      attempt.deliveryId === row.id &&
      attempt.leaseToken === row.lease_token &&
      attempt.kind !== "lease_expired",
  );
  if (stands) return "repeat";
  tables.attempts.push({
    deliveryId: row.id,
    kind: "stale_result",
    number: stale.number,
    leaseToken: row.lease_token,
    lane: stale.lane,
    outcome: "stale_result",
    decision: "ignored",
    reason: row.outcome,
    status: row.status ?? null,
    nextDueUs: null,
    recordedUs: database.nowUs(),
  });
  return "stale";
}
