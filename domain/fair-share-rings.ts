/**
 * The rings of the deficit round robin: one per class and lane, of tenants, each with a ring of destinations.
 * Kept apart from the rules so that these can be read alone. Building them is linear in the number of heads:
 * no sorting, since the order is that of the last plan, and newcomers wait at the end for one round. What a plan
 * does not touch is taken over from the last state as it is.
 */
import type { Lane, ServiceClass } from "./delivery.ts";
import {
  type DestinationBudget,
  destinationBudget,
  type LaneBudget,
  type TenantBudget,
  tenantBudget,
} from "./fair-share-budgets.ts";
import type { DrrState, LaneHead, PlanInput, TenantTurn } from "./fair-share-types.ts";

/** Classes and lanes in the order in which they are served. */
export const RING_ORDER: readonly { readonly serviceClass: ServiceClass; readonly lane: Lane }[] = [
  { serviceClass: "urgent", lane: "first" },
  { serviceClass: "urgent", lane: "retry" },
  { serviceClass: "routine", lane: "first" },
  { serviceClass: "routine", lane: "retry" },
  { serviceClass: "urgent", lane: "replay" },
  { serviceClass: "routine", lane: "replay" },
];

/** One head with what is left for it in this plan. */
export interface LaneWork extends LaneBudget {
  readonly destinationId: string;
  readonly track: TenantTrack;
  /** Place in the tenant's ring; -1 until it has one. */
  index: number;
  /** False for a lane that cannot be claimed now; it keeps its place in the ring. */
  claimable: boolean;
}

/** A tenant in one ring. */
export interface TenantTrack {
  readonly tenantId: string;
  readonly tenant: TenantBudget;
  /** How many lanes the heads named. */
  found: number;
  /** Its lanes in the order of its ring. */
  readonly lanes: LaneWork[];
  /** Place in the ring; -1 until it has one. */
  index: number;
  deficit: number;
  /** True when nothing of the tenant can be planned in this ring any more. */
  done: boolean;
  /** Rows planned in this ring. */
  rows: number;
  /** The destination whose turn is next, as a place in `lanes`. */
  cursor: number;
  /** Where the next plan has to start instead, when the number of entries ran out. */
  resumeAt: number | null;
  /** What the last plan said, while it is still true for the order of `lanes`. */
  turn: TenantTurn | null;
  /** Lanes still in play, in order, and the next of them; made at the first visit. */
  round: LaneWork[] | null;
  position: number;
  survivors: LaneWork[] | null;
}

export interface Ring {
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
  /** Lanes as the heads named them. */
  readonly found: LaneWork[];
  readonly order: TenantTrack[];
  cursor: number;
  resumeAt: number | null;
  /** True when at least one lane can be claimed as the plan begins. */
  hasDemand: boolean;
}

interface TenantNode {
  readonly budget: TenantBudget;
  readonly tracks: (TenantTrack | undefined)[];
}

interface DestinationNode {
  readonly budget: DestinationBudget;
  readonly works: (LaneWork | undefined)[];
}

export interface RingIndex {
  readonly rings: Ring[];
  readonly tenants: Map<string, TenantNode>;
  readonly destinations: Map<string, DestinationNode>;
}

export function emptyDrrState(): DrrState {
  return { rings: RING_ORDER.map(() => []) };
}

/** The place in RING_ORDER of a head. */
export function ringIndexOf(head: Pick<LaneHead, "lane" | "serviceClass">): number {
  const classOffset = head.serviceClass === "urgent" ? 0 : 1;
  if (head.lane === "replay") {
    return 4 + classOffset;
  }
  return classOffset * 2 + (head.lane === "retry" ? 1 : 0);
}

/** Reads every head, asks for each tenant and destination once, and puts all into the order of the last plan. */
export function buildRings(input: PlanInput): RingIndex & { readonly nextChangeMs: number | null } {
  const index: RingIndex = { rings: RING_ORDER.map(makeRing), tenants: new Map(), destinations: new Map() };
  let nextChangeMs = Number.POSITIVE_INFINITY;
  for (const head of input.heads) {
    const opensMs = addHead(index, head, input);
    if (opensMs > input.nowMs && opensMs < nextChangeMs) {
      nextChangeMs = opensMs;
    }
  }
  for (const [place, ring] of index.rings.entries()) {
    orderRing(index, place, ring, input.drr.rings[place] ?? []);
  }
  return { ...index, nextChangeMs: Number.isFinite(nextChangeMs) ? nextChangeMs : null };
}

function makeRing({ lane, serviceClass }: { lane: Lane; serviceClass: ServiceClass }): Ring {
  return { lane, serviceClass, found: [], order: [], cursor: 0, resumeAt: null, hasDemand: false };
}

/** Adds one head to its ring and returns when it can be claimed. A head that is named twice counts once. */
function addHead(index: RingIndex, head: LaneHead, input: PlanInput): number {
  let tenant = index.tenants.get(head.tenantId);
  if (tenant === undefined) {
    tenant = { budget: tenantBudget(input.tenant(head.tenantId)), tracks: [] };
    index.tenants.set(head.tenantId, tenant);
  }
  let destination = index.destinations.get(head.destinationId);
  if (destination === undefined) {
    const facts = input.destination(head.destinationId);
    destination = { budget: destinationBudget(facts, input.nowMs), works: [] };
    index.destinations.set(head.destinationId, destination);
  }
  const opensMs = Math.max(head.dueMs, destination.budget.gateUntilMs ?? head.dueMs);
  const place = ringIndexOf(head);
  const ring = index.rings[place];
  if (ring === undefined || destination.works[place] !== undefined) {
    return opensMs;
  }
  const track = tenant.tracks[place] ?? makeTrack(head.tenantId, tenant.budget);
  const waiting = head.waitingHint ?? Number.POSITIVE_INFINITY;
  const open = opensMs <= input.nowMs && waiting >= 1;
  const claimable = open && destination.budget.remaining >= 1 && tenant.budget.remaining >= 1;
  const { destinationId } = head;
  const work = { destinationId, track, destination: destination.budget, waiting, k: 0, index: -1, claimable };
  tenant.tracks[place] = track;
  destination.works[place] = work;
  track.found += 1;
  ring.found.push(work);
  if (claimable) {
    track.done = false;
    ring.hasDemand = true;
    tenant.budget.hasDemand = true;
  }
  return opensMs;
}

function makeTrack(tenantId: string, tenant: TenantBudget): TenantTrack {
  return {
    tenantId,
    tenant,
    found: 0,
    lanes: [],
    index: -1,
    deficit: 0,
    done: true,
    rows: 0,
    cursor: 0,
    resumeAt: null,
    turn: null,
    round: null,
    position: 0,
    survivors: null,
  };
}

/** Puts tenants and their destinations into the order of the last plan; who was not in it goes to the end. */
function orderRing(index: RingIndex, place: number, ring: Ring, turns: readonly TenantTurn[]): void {
  for (const turn of turns) {
    const track = index.tenants.get(turn.tenantId)?.tracks[place];
    if (track === undefined || track.index >= 0) {
      continue;
    }
    placeTrack(ring, track);
    track.deficit = Number.isFinite(turn.deficit) ? Math.max(turn.deficit, 0) : 0;
    for (const destinationId of turn.destinations) {
      const work = index.destinations.get(destinationId)?.works[place];
      if (work !== undefined && work.track === track && work.index < 0) {
        placeLane(track, work);
      }
    }
    const unchanged = track.lanes.length === turn.destinations.length && track.lanes.length === track.found;
    track.turn = unchanged ? turn : null;
  }
  for (const work of ring.found) {
    if (work.index < 0) {
      if (work.track.index < 0) {
        placeTrack(ring, work.track);
      }
      placeLane(work.track, work);
    }
  }
}

function placeTrack(ring: Ring, track: TenantTrack): void {
  track.index = ring.order.length;
  ring.order.push(track);
}

function placeLane(track: TenantTrack, work: LaneWork): void {
  work.index = track.lanes.length;
  track.lanes.push(work);
}

/** The tenants of a ring that still have something to plan, the one whose turn it is first. */
export function tracksInTurn(ring: Ring): TenantTrack[] {
  return rotated(ring.order, ring.cursor).filter((track) => !track.done);
}

/** The tenant's next lane in play, or null. The caller then calls `keepLane` or `dropLane`. */
export function peekLane(track: TenantTrack): LaneWork | null {
  track.round ??= track.lanes.filter((work) => work.claimable);
  if (track.position >= track.round.length) {
    track.round = track.survivors ?? [];
    track.survivors = null;
    track.position = 0;
  }
  return track.round[track.position] ?? null;
}

/** The peeked lane was served: it stays in play, and the turn goes to the one after it. */
export function keepLane(track: TenantTrack, work: LaneWork): void {
  track.position += 1;
  track.survivors ??= [];
  track.survivors.push(work);
  track.rows += 1;
  track.cursor = (work.index + 1) % track.lanes.length;
}

/** The peeked lane got a row and may get the next one too. */
export function stayOnLane(track: TenantTrack, work: LaneWork): void {
  track.rows += 1;
  // Where the plan ends, the next one begins behind this lane.
  track.cursor = (work.index + 1) % track.lanes.length;
}

/** The peeked lane can get nothing more in this plan. */
export function dropLane(track: TenantTrack): void {
  track.position += 1;
}

/** What the next plan needs to go on where this one stopped. */
export function stateOf(rings: readonly Ring[]): DrrState {
  return { rings: rings.map((ring) => rotated(ring.order, ring.resumeAt ?? ring.cursor).map(turnOf)) };
}

function turnOf(track: TenantTrack): TenantTurn {
  const start = track.resumeAt ?? track.cursor;
  if (track.turn !== null && start === 0 && track.turn.deficit === track.deficit) {
    return track.turn;
  }
  const destinations = rotated(track.lanes, start).map((work) => work.destinationId);
  return { tenantId: track.tenantId, deficit: track.deficit, destinations };
}

function rotated<T>(items: readonly T[], start: number): T[] {
  return start === 0 ? items.slice() : items.slice(start).concat(items.slice(0, start));
}
