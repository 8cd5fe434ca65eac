/** sluice.note_health and sluice.disable_destination over the simulated tables: adaptive limit, breaker, auto-disable. */
import type { DisableDestination, HealthAnswer, HealthReport } from "#db/queue/note-health.ts";
import { ROUND_MS } from "#domain/adaptive-limit.ts";
import {
  BREAKER_FAILURES,
  BREAKER_FIRST_MS,
  BREAKER_LONGEST_MS,
  BREAKER_MIN_SPAN_MS,
  DISABLE_AFTER_MS,
  DISABLE_FAILURES,
} from "#domain/breaker.ts";
import type { Us } from "#sim/scheduler.ts";
import { emptyState } from "./gate.ts";
import type { Database, DestinationTableRow, StateRow } from "./tables.ts";
import { fromMs, MS, rint, toFloatMs } from "./time.ts";

const BREAKER_MIN_SPAN_US = BREAKER_MIN_SPAN_MS * MS;
const BREAKER_MOST_DOUBLINGS = 20;
const ROUND_US = ROUND_MS * MS;
const DISABLE_AFTER_US = DISABLE_AFTER_MS * MS;

export function noteReports(
  database: Database,
  reports: readonly HealthReport[],
  random: number,
): HealthAnswer[] {
  const { tables } = database;
  const known = reports.filter(({ destination_id }) => tables.destinations.has(destination_id));
  const ordered = known.toSorted((a, b) => (a.destination_id < b.destination_id ? -1 : 1));
  return ordered.map((report) => note(database, report, random));
}

function note({ tables, nowUs: clock }: Database, report: HealthReport, random: number): HealthAnswer {
  const id = report.destination_id;
  const destination = tables.destinations.get(id) as DestinationTableRow;
  const cap = destination.concurrencyLimit ?? tables.defaultDestinationConcurrency;
  const nowUs = clock();
  const state = tables.states.get(id) ?? emptyState();
  const old = { ...state };
  tables.states.set(id, state);
  countFailures(state, report, destination.disabledAtUs !== null);
  moveBreaker(state, report, nowUs, random);
  if (!state.adaptivePinned) adapt(state, old, report, cap, destination.ratePerSecond, nowUs);
  return {
    destinationId: id,
    breaker: state.breaker,
    breakerUntilMs: msOrNull(state.breakerUntilUs),
    breakerChanged: state.breaker !== old.breaker || state.breakerOpens > old.breakerOpens,
    adaptiveLimit: state.adaptiveLimit,
    adaptiveChangedAtMs: msOrNull(state.adaptiveChangedAtUs),
    adaptiveMoved: state.adaptiveLimit !== old.adaptiveLimit,
    toDisable: destination.disabledAtUs === null && isLongEnough(state, nowUs),
  };
}

function countFailures(state: StateRow, report: HealthReport, disabled: boolean): void {
  const succeededUs = usOrNull(report.succeeded_ms);
  if (succeededUs !== null && (state.failingSinceUs === null || succeededUs >= state.failingSinceUs)) {
    state.failuresSinceSuccess = 0;
    state.failingSinceUs = null;
    state.lastSuccessAtUs = Math.max(state.lastSuccessAtUs ?? 0, succeededUs);
  }
  if (report.failures > 0 && !disabled) {
    state.failuresSinceSuccess += report.failures;
    state.failingSinceUs ??= usOrNull(report.first_failure_ms);
  }
}

function moveBreaker(state: StateRow, report: HealthReport, nowUs: Us, random: number): void {
  const aliveUs = usOrNull(report.alive_ms);
  if (aliveUs !== null && (state.downSinceUs === null || aliveUs >= state.downSinceUs)) {
    Object.assign(state, {
      breaker: "closed",
      breakerUntilUs: null,
      breakerOpens: 0,
      downInRow: 0,
      downSinceUs: null,
    });
  }
  if (report.downs === 0) return;
  state.downInRow += report.downs;
  state.downSinceUs ??= usOrNull(report.first_down_ms);
  const startedUs = usOrNull(report.last_down_started_ms);
  const open = state.breaker === "open";
  const probeFailed = open && startedUs !== null && startedUs >= (state.breakerUntilUs as Us);
  const spanUs = state.downSinceUs === null ? 0 : nowUs - state.downSinceUs;
  if (!probeFailed && (open || state.downInRow < BREAKER_FAILURES || spanUs < BREAKER_MIN_SPAN_US)) return;
  if (!open) state.breakerOpenedAtUs = nowUs;
  state.breaker = "open";
  state.breakerWhy = report.down_why ?? null;
  state.breakerOpens += 1;
  const plainMs = Math.min(
    BREAKER_FIRST_MS * 2 ** Math.min(state.breakerOpens - 1, BREAKER_MOST_DOUBLINGS),
    BREAKER_LONGEST_MS,
  );
  state.breakerUntilUs = nowUs + rint(MS * (plainMs * (0.8 + 0.4 * random)));
}

function adapt(
  state: StateRow,
  old: StateRow,
  report: HealthReport,
  cap: number,
  ratePerSecond: number | null,
  nowUs: Us,
): void {
  const timeoutUs = usOrNull(report.timeout_started_ms);
  const roundUs = usOrNull(report.round_since_ms);
  const limit = old.adaptiveLimit;
  const half = Math.trunc(Math.min(cap, limit ?? cap) / 2);
  const lowered = (to: number, why: string) =>
    Object.assign(state, {
      adaptiveLimit: to,
      adaptiveWhy: why,
      adaptiveLoweredAtUs: nowUs,
      adaptiveChangedAtUs: nowUs,
    });
  if (old.breaker === "open" && state.breaker === "closed") {
    state.adaptiveSafeLimit ??= Math.max(1, half);
    lowered(1, "breaker");
  } else if (
    timeoutUs !== null &&
    report.drain_gained !== true &&
    timeoutUs >= (state.adaptiveLoweredAtUs ?? 0)
  ) {
    const bound =
      limit === null && ratePerSecond !== null && report.service_ms !== undefined
        ? Math.max(1, Math.floor((ratePerSecond * report.service_ms) / 1000)) - 1
        : half;
    const next = Math.max(1, Math.min(half, bound));
    state.adaptiveSafeLimit = Math.min(state.adaptiveSafeLimit ?? next, next);
    lowered(next, "timeout");
  } else if (
    limit !== null &&
    roundUs !== null &&
    isClean(state, report, limit, roundUs, nowUs) &&
    timeoutUs === null
  ) {
    const slow = state.adaptiveSafeLimit !== null && limit < state.adaptiveSafeLimit;
    const next = slow
      ? Math.min(limit * 2, state.adaptiveSafeLimit as number)
      : limit + Math.max(1, Math.trunc(cap / 16));
    state.adaptiveSafeLimit = Math.max(state.adaptiveSafeLimit ?? limit, limit);
    state.adaptiveLimit = next >= cap ? null : next;
    state.adaptiveChangedAtUs = nowUs;
  }
}

function isClean(state: StateRow, report: HealthReport, limit: number, roundUs: Us, nowUs: Us): boolean {
  return (
    (report.round_successes ?? 0) >= limit &&
    roundUs >= (state.adaptiveChangedAtUs ?? 0) &&
    nowUs - roundUs >= ROUND_US &&
    state.breaker === "closed" &&
    !state.probing
  );
}

function isLongEnough(state: StateRow, nowUs: Us): boolean {
  return (
    state.failuresSinceSuccess >= DISABLE_FAILURES &&
    state.failingSinceUs !== null &&
    nowUs - state.failingSinceUs >= DISABLE_AFTER_US
  );
}

export function disable({ tables, nowUs: clock }: Database, what: DisableDestination): boolean {
  const destination = tables.destinations.get(what.destinationId);
  const state = tables.states.get(what.destinationId);
  if (!destination || destination.disabledAtUs !== null || destination.deletedAtUs !== null) return false;
  if (what.automatic && (state === undefined || !isLongEnough(state, clock()))) return false;
  destination.disabledAtUs = clock();
  destination.version += 1;
  if (state !== undefined) Object.assign(state, { failuresSinceSuccess: 0, failingSinceUs: null });
  return true;
}

function usOrNull(ms: number | undefined): Us | null {
  return ms === undefined ? null : fromMs(ms);
}

function msOrNull(us: Us | null): number | null {
  return us === null ? null : toFloatMs(us);
}
