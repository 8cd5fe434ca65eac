/** The simulated tables in the shape of the Postgres dump (sql.ts). */
import type { Tables } from "#sim/store/tables.ts";

type Row = Record<string, unknown>;

export function dumpMemory(tables: Tables): Record<string, Row[]> {
  return {
    deliveries: sorted([...tables.deliveries.values()], (row) => ({
      id: row.id,
      due: row.dueUs,
      state: row.state,
      lane: row.lane,
      attempts: row.attempts,
      failures: row.failures,
      rejections: row.rejections,
      throttles: row.throttles,
      throttled: row.throttledMs,
      lost: row.lostLeases,
      cycle: row.cycle,
      outcome: row.lastOutcome,
      status: row.lastStatus,
      token: row.leaseToken,
      until: row.leaseUntilUs,
      leased: row.leasedAtUs,
      by: row.leasedBy,
    })),
    ended: sorted([...tables.ended.values()], (row) => ({
      id: row.id,
      end: row.end,
      reason: row.reason,
      attempts: row.attempts,
      failures: row.failures,
      throttles: row.throttles,
      cycle: row.cycle,
      outcome: row.lastOutcome,
      status: row.lastStatus,
    })),
    attempts: attemptsOf(tables),
    states: statesOf(tables),
    rates: sorted([...tables.rates], ([id, { tatUs, rampTatUs }]) => ({ id, tat: tatUs, ramp: rampTatUs })),
    disabled: sorted([...tables.destinations.values()], ({ id, version, disabledAtUs }) => ({
      id,
      version,
      disabled: disabledAtUs,
    })),
    jobs: tables.wakeJob === null ? [] : [{ run: tables.wakeJob.runAtUs }],
  };
}

function attemptsOf(tables: Tables): Row[] {
  const rows = tables.attempts.map((row, order) => ({ row, order }));
  rows.sort(
    ({ row: a, order: x }, { row: b, order: y }) =>
      compare(a.deliveryId, b.deliveryId) ||
      a.number - b.number ||
      compare(a.kind, b.kind) ||
      compare(a.leaseToken, b.leaseToken) ||
      x - y,
  );
  return rows.map(({ row }) => ({
    id: row.deliveryId,
    kind: row.kind,
    number: row.number,
    token: row.leaseToken,
    lane: row.lane,
    outcome: row.outcome,
    decision: row.decision,
    reason: row.reason,
    status: row.status,
    next: row.nextDueUs,
  }));
}

function statesOf(tables: Tables): Row[] {
  return sorted([...tables.states], ([id, row]) => ({
    id,
    hold: row.holdUntilUs,
    why: row.holdWhy,
    status: row.holdStatus,
    delivery: row.holdDeliveryId,
    probing: row.probing,
    gates: row.consecutiveGates,
    adaptive: row.adaptiveLimit,
    safe: row.adaptiveSafeLimit,
    adaptive_why: row.adaptiveWhy,
    changed: row.adaptiveChangedAtUs,
    lowered: row.adaptiveLoweredAtUs,
    breaker: row.breaker,
    breaker_until: row.breakerUntilUs,
    opens: row.breakerOpens,
    down: row.downInRow,
    down_since: row.downSinceUs,
    failing: row.failuresSinceSuccess,
    failing_since: row.failingSinceUs,
    success: row.lastSuccessAtUs,
  }));
}

function sorted<T>(list: readonly T[], toRow: (item: T) => Row): Row[] {
  return list.map(toRow).sort((a, b) => compare(String(a.id), String(b.id)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
