/** sluice.shut_gate over the simulated tables: the gate of a destination, and the adaptive limit that falls with it. */
import type { GateState, ShutGate } from "#db/queue/shut-gate.ts";
import type { Us } from "#sim/scheduler.ts";
import type { Database, StateRow, Tables } from "./tables.ts";
import { fromMs, MS, toDateMs } from "./time.ts";

const MAX_RETRY_AFTER_CHARS = 256;

export function emptyState(): StateRow {
  return {
    holdUntilUs: null,
    holdSetAtUs: null,
    holdWhy: null,
    holdStatus: null,
    holdRetryAfter: null,
    holdDeliveryId: null,
    probing: false,
    consecutiveGates: 0,
    adaptiveLimit: null,
    adaptiveSafeLimit: null,
    adaptivePinned: false,
    adaptiveWhy: null,
    adaptiveChangedAtUs: null,
    adaptiveLoweredAtUs: null,
    breaker: "closed",
    breakerUntilUs: null,
    breakerOpenedAtUs: null,
    breakerOpens: 0,
    breakerWhy: null,
    downInRow: 0,
    downSinceUs: null,
    failuresSinceSuccess: 0,
    failingSinceUs: null,
    lastSuccessAtUs: null,
  };
}

/** The gate never opens earlier than it would have; a request from before its opening is no second gate. */
export function shut(database: Database, gate: ShutGate): GateState {
  const { tables } = database;
  const nowUs = database.nowUs();
  const startedUs = fromMs(gate.startedMs);
  const known = tables.states.get(gate.destinationId);
  const state = known ?? emptyState();
  const another = state.holdUntilUs === null || startedUs >= state.holdUntilUs;
  if (
    another &&
    !state.adaptivePinned &&
    (state.adaptiveLoweredAtUs === null || startedUs >= state.adaptiveLoweredAtUs)
  ) {
    lower(tables, gate.destinationId, state, nowUs);
  }
  const holdUntilUs = nowUs + Math.ceil(gate.delayMs) * MS;
  if (state.holdUntilUs === null || holdUntilUs > state.holdUntilUs) {
    state.holdUntilUs = holdUntilUs;
    state.holdSetAtUs = nowUs;
    state.holdWhy = gate.why;
    state.holdStatus = gate.status;
    state.holdRetryAfter = gate.retryAfter?.slice(0, MAX_RETRY_AFTER_CHARS) ?? null;
    state.holdDeliveryId = gate.deliveryId;
  }
  state.probing = true;
  state.consecutiveGates += another ? 1 : 0;
  tables.states.set(gate.destinationId, state);
  return { holdUntilMs: toDateMs(state.holdUntilUs), consecutiveGates: state.consecutiveGates };
}

function lower(tables: Tables, destinationId: string, state: StateRow, nowUs: Us): void {
  const cap =
    tables.destinations.get(destinationId)?.concurrencyLimit ?? tables.defaultDestinationConcurrency;
  let inFlight = 0;
  for (const row of tables.deliveries.values()) {
    if (row.state === "leased" && row.destinationId === destinationId && (row.leaseUntilUs as Us) > nowUs)
      inFlight += 1;
  }
  const inForce = Math.min(cap, state.adaptiveLimit ?? cap, inFlight);
  state.adaptiveLimit = 1;
  state.adaptiveSafeLimit = Math.max(1, Math.trunc(inForce / 2));
  state.adaptiveWhy = "rate_limited";
  state.adaptiveChangedAtUs = nowUs;
  state.adaptiveLoweredAtUs = nowUs;
}
