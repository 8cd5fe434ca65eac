/** What a run has met, counted: a check that had nothing to look at proves nothing. */
import type { Tables } from "#sim/store/tables.ts";
import type { Receiver } from "#sim/world/receiver.ts";

export const SITUATIONS = [
  "delivered",
  "cancelled",
  "dead",
  "worker_lost",
  "lease_expired",
  "stale_result",
  "throttled",
  "timeout",
  "network",
  "shutdown",
  "payload_erased",
  "gate",
  "adaptive_limit",
  "breaker",
  "disabled",
  "rate_limited_destination",
  "accepted_twice",
  "replayed",
] as const;
export type Situation = (typeof SITUATIONS)[number];
export type Met = Record<Situation, number>;

export function nothingMet(): Met {
  return Object.fromEntries(SITUATIONS.map((situation) => [situation, 0])) as Met;
}

export function addMet(to: Met, from: Met): void {
  for (const situation of SITUATIONS) to[situation] += from[situation];
}

export function countMet(tables: Tables, receivers: Iterable<Receiver>): Met {
  const met = nothingMet();
  for (const { end, reason, cycle } of tables.ended.values()) {
    met[end] += 1;
    if (reason === "worker_lost" || reason === "payload_erased") met[reason] += 1;
    if (cycle > 1 && end === "delivered") met.replayed += 1;
  }
  for (const { kind, outcome } of tables.attempts) {
    if (kind === "lease_expired" || kind === "stale_result") met[kind] += 1;
    else if (outcome === "rate_limited") met.throttled += 1;
    else if (outcome === "timeout" || outcome === "network" || outcome === "shutdown") met[outcome] += 1;
  }
  for (const state of tables.states.values()) {
    if (state.holdUntilUs !== null) met.gate += 1;
    if (state.adaptiveLoweredAtUs !== null) met.adaptive_limit += 1;
    if (state.breakerOpenedAtUs !== null) met.breaker += 1;
  }
  for (const { version, ratePerSecond } of tables.destinations.values()) {
    if (version > 1) met.disabled += 1;
    if (ratePerSecond !== null) met.rate_limited_destination += 1;
  }
  for (const { effects, received } of receivers) {
    const accepted = Map.groupBy(
      received.filter(({ reply }) => reply.accepted),
      ({ key }) => key,
    );
    for (const key of effects.keys()) if ((accepted.get(key)?.length ?? 0) > 1) met.accepted_twice += 1;
  }
  return met;
}
