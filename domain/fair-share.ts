/**
 * Plans one claim: which lanes get how many of the free slots. Pure and quick: linear in heads and free slots.
 * The plan may rest on stale numbers; the claim enforces every limit exactly and clips what is too much.
 *
 * The rules, in order:
 *  1. urgent before routine; routine keeps a part of the slots while any of it waits;
 *  2. in a class, tenants below their share of the slots before all others, then whoever has work;
 *  3. among those, first attempts before retries: never-attempted work may use every slot;
 *  4. then what is left to whoever can use it; replays come last of all;
 *  5. retries and replays never pass their part of the slots, even when the rest is idle;
 *  6. a few slots on top of all others are for first attempts of tenants that hold next to nothing;
 *  7. between tenants deficit round robin (quantum x weight rows a turn), between a tenant's destinations round
 *     robin in short runs, so that one deep lane cannot hide another.
 * The state goes from plan to plan: a round goes on where the last one stopped.
 */
import {
  type Budgets,
  bodyFits,
  isReserved,
  laneVerdict,
  makeBudgets,
  ROUTINE_KEEP_SHARE,
  setShares,
  takeRow,
  whole,
} from "./fair-share-budgets.ts";
import {
  buildRings,
  dropLane,
  keepLane,
  type LaneWork,
  peekLane,
  type Ring,
  stateOf,
  stayOnLane,
  type TenantTrack,
  tracksInTurn,
} from "./fair-share-rings.ts";
import type { ClaimPlan, PlanEntry, PlanInput } from "./fair-share-types.ts";

export {
  lightReserveOf,
  REPLAY_SLOT_SHARE,
  RETRY_SLOT_SHARE,
  ROUTINE_KEEP_SHARE,
} from "./fair-share-budgets.ts";
export { emptyDrrState, RING_ORDER } from "./fair-share-rings.ts";
export type {
  ClaimPlan,
  DestinationFacts,
  DrrState,
  LaneHead,
  PlanEntry,
  PlanInput,
  SlotFacts,
  TenantFacts,
  TenantTurn,
} from "./fair-share-types.ts";

/** Most (lane, class, tenant, destination) entries of one claim. */
export const MAX_CLAIM_ENTRIES = 256;
/** Rows that a tenant of weight 1 takes per turn. */
export const DEFAULT_QUANTUM = 4;
/**
 * Rows that a lane which is known to be deep gets in a run before the tenant's next destination: an entry of a claim
 * costs as much as several of its rows. A lane of unknown depth gets one row, so that shallow ones fill the claim; and
 * with few free slots a run is short, so that it takes at most RUN_SHARE of them.
 */
const MAX_RUN_ROWS = 8;
const RUN_SHARE = 1 / 8;
/** Bodies that one process may hold in memory. */
export const DEFAULT_BYTE_BUDGET_BYTES = 32 * 1024 * 1024;

interface Pass {
  /** Only tenants that hold less than their share. */
  readonly belowShareOnly: boolean;
  /** Slots to leave to what comes later. */
  readonly keepSlots: number;
}

type SixRings = readonly [Ring, Ring, Ring, Ring, Ring, Ring];

/**
 * Plans one claim. Does not change its input. Sum of k never exceeds the free slots, and no k exceeds what the
 * given caps, tokens, lane parts, hints and bytes allow.
 */
export function planClaims(input: PlanInput): ClaimPlan {
  const budgets = makeBudgets(input, input.maxEntries ?? MAX_CLAIM_ENTRIES);
  budgets.runRows = Math.min(MAX_RUN_ROWS, Math.max(1, Math.floor(budgets.freeSlots * RUN_SHARE)));
  const quantum = Math.max(1, whole(input.quantum ?? DEFAULT_QUANTUM));
  const { rings, tenants, nextChangeMs } = buildRings(input);
  const tenantBudgets = [...tenants.values()].map((node) => node.budget);
  setShares(tenantBudgets, budgets.totalSlots);

  const [urgentFirst, urgentRetry, routineFirst, routineRetry, ...replays] = rings as unknown as SixRings;
  const routineWaits = routineFirst.hasDemand || routineRetry.hasDemand;
  const keepRoutine = routineWaits ? keptSlots(ROUTINE_KEEP_SHARE, budgets.usedByClass.routine, budgets) : 0;
  runClass(urgentFirst, urgentRetry, keepRoutine, budgets, quantum);
  runClass(routineFirst, routineRetry, 0, budgets, quantum);
  for (const ring of [urgentFirst, urgentRetry, routineFirst, routineRetry]) {
    runPass(ring, { belowShareOnly: false, keepSlots: 0 }, budgets, quantum);
  }
  for (const ring of replays) {
    runPass(ring, { belowShareOnly: true, keepSlots: 0 }, budgets, quantum);
    runPass(ring, { belowShareOnly: false, keepSlots: 0 }, budgets, quantum);
  }
  const { rows, bytes, stoppedBy } = budgets;
  return { entries: entriesOf(rings), state: stateOf(rings), rows, bytes, stoppedBy, nextChangeMs };
}

/** First attempts and retries of one class: first the tenants below their share, then all. */
function runClass(first: Ring, retry: Ring, keepSlots: number, budgets: Budgets, quantum: number): void {
  for (const belowShareOnly of [true, false]) {
    runPass(first, { belowShareOnly, keepSlots }, budgets, quantum);
    runPass(retry, { belowShareOnly, keepSlots }, budgets, quantum);
  }
}

/** Slots that must stay free so that work which is behind its part of all slots can have it. */
function keptSlots(share: number, used: number, budgets: Budgets): number {
  // Rounded down: a process with very few slots keeps none, or its only slot would never do first attempts.
  const kept = whole(Math.floor(budgets.totalSlots * share) - used);
  return kept === 0 ? 0 : kept + budgets.lightReserve;
}

/** Goes round the tenants of a ring until the slots, the lane's part or the work is used up. */
function runPass(ring: Ring, pass: Pass, budgets: Budgets, quantum: number): void {
  if (!ring.hasDemand || passIsOver(ring, pass, budgets)) {
    return;
  }
  let round = tracksInTurn(ring);
  while (round.length > 0) {
    const stillActive: TenantTrack[] = [];
    for (const track of round) {
      const visit = visitTenant(ring, track, pass, budgets, quantum);
      if (visit === "stop") {
        return;
      }
      if (visit === "more") {
        stillActive.push(track);
      }
    }
    round = stillActive;
  }
}

function passIsOver(ring: Ring, pass: Pass, budgets: Budgets): boolean {
  if (budgets.freeSlots < 1) {
    budgets.stoppedBy ??= "slots";
  }
  return budgets.freeSlots <= pass.keepSlots || budgets.freeByLane[ring.lane] < 1;
}

/**
 * One turn of a tenant. `more`: its turn is over, it has work left. `out`: nothing more for it in this pass.
 * `stop`: the pass is over; a tenant that has not had its whole turn begins the next plan.
 */
function visitTenant(
  ring: Ring,
  track: TenantTrack,
  pass: Pass,
  budgets: Budgets,
  quantum: number,
): "more" | "out" | "stop" {
  if (passIsOver(ring, pass, budgets)) {
    // Before the deficit grows: a turn that cannot be had now is not a turn.
    return "stop";
  }
  if (track.deficit < 1) {
    track.deficit += quantum * track.tenant.weight;
  }
  while (track.deficit >= 1) {
    if (passIsOver(ring, pass, budgets)) {
      return "stop";
    }
    if (pass.belowShareOnly && track.tenant.held >= track.tenant.share) {
      return "out";
    }
    if (isReserved(track.tenant, ring.lane, budgets)) {
      budgets.stoppedBy ??= "slots";
      return "out";
    }
    const work = nextClaimable(ring, track, budgets);
    if (work === null) {
      track.done = true;
      return "out";
    }
    if (!bodyFits(work, budgets)) {
      // Everyone waits, not only this lane: small bodies would else pass a large one for ever.
      budgets.stoppedBy = "bytes";
      return "stop";
    }
    takeRow(work, track.tenant, ring, budgets);
    if (isKnownDeep(work) && work.k % budgets.runRows !== 0) {
      stayOnLane(track, work);
    } else {
      keepLane(track, work);
    }
    track.deficit -= 1;
    ring.cursor = track.index;
  }
  ring.cursor = (track.index + 1) % ring.order.length;
  return "more";
}

function isKnownDeep(work: LaneWork): boolean {
  return Number.isFinite(work.waiting);
}

/** The tenant's next lane that can take a row, or null; lanes that cannot are taken out of play on the way. */
function nextClaimable(ring: Ring, track: TenantTrack, budgets: Budgets): LaneWork | null {
  const noEntryLeft = budgets.entries >= budgets.maxEntries;
  if (noEntryLeft && track.rows === 0) {
    // No need to look at its lanes. It keeps its deficit and comes first in the next plan.
    budgets.stoppedBy ??= "entries";
    ring.resumeAt ??= track.index;
    return null;
  }
  let work = track.tenant.remaining >= 1 ? peekLane(track) : null;
  while (work !== null) {
    const verdict = laneVerdict(work, budgets);
    if (verdict === "ok") {
      return work;
    }
    if (verdict === "entries") {
      budgets.stoppedBy ??= "entries";
      ring.resumeAt ??= track.index;
      track.resumeAt ??= work.index;
    }
    dropLane(track);
    work = peekLane(track);
  }
  // Nothing to claim is nothing to save up for.
  track.deficit = noEntryLeft ? track.deficit : 0;
  return null;
}

function entriesOf(rings: readonly Ring[]): PlanEntry[] {
  const entries: PlanEntry[] = [];
  for (const { lane, serviceClass, order } of rings) {
    for (const { tenantId, rows, lanes } of order) {
      for (const { destinationId, k } of rows > 0 ? lanes : []) {
        if (k > 0) {
          entries.push({ lane, serviceClass, tenantId, destinationId, k });
        }
      }
    }
  }
  return entries;
}
