/**
 * What this process knows of lanes that have due rows: their heads, and for blocked ones until when. It is a cache
 * that may be stale; the claim decides. No I/O here, and no lane is forgotten for good: a walk finds it again.
 */
import type { ClaimBlocker, EntryResult } from "#db/queue/claim.ts";
import type { LaneHead, LaneKey } from "#db/queue/types.ts";
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import { RATE_AHEAD_MS } from "#domain/rate.ts";

/** Most lanes that are remembered; a walk brings the others when there is room again. */
export const MAX_KNOWN_LANES = 50_000;
/** A blocker without a known end is looked at again after this: controls count within a second. */
const RECHECK_CONTROL_MS = 500;
/** A cap has room again as soon as any worker finishes; asking is cheap. */
const RECHECK_CAP_MS = 25;
/** ... but while this process holds a place of it, the end of that request asks at once: this is for places that others hold. */
const RECHECK_HELD_CAP_MS = 100;
/**
 * A lane that gave nothing although nothing blocked it, and whose very same row still waits: the row is one that no claim
 * takes now (its replay batch does not run). Without a pause the next look would find it again at once, and so on.
 */
const RECHECK_UNCLAIMABLE_MS = 250;
/**
 * A token is asked for this long before it is there: the way to the claim and from it to the socket costs no time of it.
 * Who got the last token asks first, the others step in later: so the starts of a destination mostly come from one
 * process, which keeps their distance (pacer.ts).
 */
const ASK_AHEAD_MS = RATE_AHEAD_MS * 0.8;
const STEP_IN_AHEAD_MS = RATE_AHEAD_MS * 0.4;

/** Depth that a lane is taken to have at most; a deeper one proves it again with the next claim. */
const MAX_DEPTH = 64;

interface KnownLane {
  head: LaneHead;
  /** Rows that a lane is taken to have, from what it gave; null when it has not given any yet. */
  depth: number | null;
  blockedUntilMs: number;
  blocker: ClaimBlocker | null;
  /** When the token is there that a rate lets the lane wait for; null when it waits for none. */
  tokenMs: number | null;
  /** It was this process that got the last one. */
  gotToken: boolean;
  /** How many walks had begun when it was last found. */
  foundIn: number;
}

export class LaneBook {
  readonly #lanes = new Map<string, KnownLane>();
  readonly #byDestination = new Map<string, Set<string>>();
  /** Heads of lanes that gave nothing, and until when the same head is left alone. */
  readonly #unclaimable = new Map<string, { readonly dueMs: number; readonly untilMs: number }>();
  /** Destinations of which a slot became free while a claim was under way, which still counted it. */
  readonly #freedSince = new Set<string>();
  #walks = 0;
  #askedAgain = 0;

  get size(): number {
    return this.#lanes.size;
  }

  /** Adds lanes, or moves a known one's head to the earlier time. Returns whether there was one that was not known. */
  add(heads: readonly LaneHead[]): boolean {
    const before = this.#lanes.size;
    for (const head of heads) {
      const key = laneKey(head);
      const known = this.#lanes.get(key);
      if (known !== undefined) {
        if (head.dueMs < known.head.dueMs) known.head = head;
        known.foundIn = this.#walks;
      } else if (this.#lanes.size < MAX_KNOWN_LANES) {
        this.#lanes.set(key, {
          head,
          depth: null,
          blockedUntilMs: this.#untilOf(key, head),
          blocker: null,
          tokenMs: null,
          gotToken: false,
          foundIn: this.#walks,
        });
        let keys = this.#byDestination.get(head.destinationId);
        if (keys === undefined) {
          keys = new Set();
          this.#byDestination.set(head.destinationId, keys);
        }
        keys.add(key);
      }
    }
    return this.#lanes.size > before;
  }

  /** A walk over all lanes begins. Returns its number, for `dropUnseen`. */
  beginWalk(): number {
    this.#walks += 1;
    return this.#walks;
  }

  /**
   * The walk saw every lane of one kind: those that it did not find due are gone, unless somebody else found them while it went on.
   * What it found itself has been added before.
   */
  dropUnseen(lane: Lane, serviceClass: ServiceClass, walk: number): void {
    for (const [key, known] of this.#lanes) {
      if (known.head.lane === lane && known.head.serviceClass === serviceClass && known.foundIn < walk)
        this.#drop(key);
    }
  }

  /** Of the lanes that `open` returned last, those that something held before: most of them are held still, and give nothing. */
  get askedAgain(): number {
    return this.#askedAgain;
  }

  /** Lanes that may give rows now, with a guess of their depth where they have shown that they are deep. */
  open(nowMs: number): (LaneHead & { readonly waitingHint?: number })[] {
    const heads: (LaneHead & { readonly waitingHint?: number })[] = [];
    this.#askedAgain = 0;
    for (const known of this.#lanes.values()) {
      if (known.blockedUntilMs > nowMs) continue;
      // The time of a token is known: such a lane is asked when it has something to give.
      if (known.blocker !== null && known.blocker !== "rate") this.#askedAgain += 1;
      heads.push(known.depth === null ? known.head : { ...known.head, waitingHint: known.depth });
    }
    return heads;
  }

  /** Whether any lane may give rows now. */
  hasOpen(nowMs: number): boolean {
    for (const known of this.#lanes.values()) if (known.blockedUntilMs <= nowMs) return true;
    return false;
  }

  /** The first moment at which a blocked lane may be asked again; null when none is blocked. */
  nextOpeningMs(nowMs: number): number | null {
    let next: number | null = null;
    for (const known of this.#lanes.values()) {
      if (known.blockedUntilMs > nowMs && (next === null || known.blockedUntilMs < next))
        next = known.blockedUntilMs;
    }
    return next;
  }

  /** A claim is sent: what becomes free from now on it may not have seen. */
  claimBegins(): void {
    this.#freedSince.clear();
  }

  /**
   * Takes over what a claim said about an entry.
   * @param holdsPlace this process has requests of the destination in flight, or has just claimed some
   */
  learn(
    entry: LaneKey & { readonly wanted: number },
    result: EntryResult,
    nowMs: number,
    holdsPlace = false,
  ): void {
    const key = laneKey(entry);
    const known = this.#lanes.get(key);
    if (known === undefined) return;
    if (result.taken >= entry.wanted) {
      // All that was asked for was there: ask for more next time.
      known.depth = Math.min(MAX_DEPTH, Math.max(2, entry.wanted * 2));
    }
    if (result.taken > 0) known.gotToken = true;
    // The token that it waited for went to another process.
    else if (known.tokenMs !== null && (result.untilMs ?? 0) > known.tokenMs + 1) known.gotToken = false;
    known.tokenMs = result.blocker === "rate" ? result.untilMs : null;
    if (result.blocker !== null) {
      const isOver = isCap(result.blocker) && this.#freedSince.has(entry.destinationId);
      known.blocker = isOver ? null : result.blocker;
      known.blockedUntilMs = isOver ? 0 : blockedUntil(result, nowMs, known.gotToken, holdsPlace);
    } else if (result.taken < entry.wanted) {
      // It gave less than it was asked for and nothing blocked it: it ran dry.
      if (result.taken === 0) this.#noteUnclaimable(key, known.head.dueMs, nowMs);
      this.#drop(key);
    } else known.blocker = null;
  }

  /**
   * Whether more of this destination is known to be due, and only a free slot of its cap is missing to it.
   * @param isFull as many of its requests as its cap allows are in flight in this process
   */
  waitsForSlot(destinationId: string, isFull: boolean): boolean {
    for (const key of this.#byDestination.get(destinationId) ?? []) {
      const known = this.#lanes.get(key);
      if (known !== undefined && (known.blocker === null ? isFull : isCap(known.blocker))) return true;
    }
    return false;
  }

  /** A slot of this destination became free: its lanes blocked by a cap may be asked at once. Says if there were any. */
  freed(destinationId: string): boolean {
    let any = false;
    this.#freedSince.add(destinationId);
    for (const key of this.#byDestination.get(destinationId) ?? []) {
      const known = this.#lanes.get(key);
      if (known === undefined || !isCap(known.blocker)) continue;
      known.blocker = null;
      known.blockedUntilMs = 0;
      any = true;
    }
    return any;
  }

  /** A control was changed: whatever held a lane, or the lanes of these destinations, is asked about again. */
  askAgain(destinationIds: readonly string[] | "all" = "all"): void {
    const keys =
      destinationIds === "all"
        ? this.#lanes.keys()
        : destinationIds.flatMap((id) => [...(this.#byDestination.get(id) ?? [])]);
    for (const key of keys) {
      const known = this.#lanes.get(key);
      if (known === undefined) continue;
      known.blocker = null;
      known.blockedUntilMs = 0;
    }
  }

  /** A gate was shut: nothing of this destination is asked for before it opens, or before it may have been opened early. */
  block(destinationId: string, untilMs: number, nowMs: number): void {
    const againMs = Math.min(untilMs, nowMs + RECHECK_CONTROL_MS);
    for (const key of this.#byDestination.get(destinationId) ?? []) {
      const known = this.#lanes.get(key);
      if (known === undefined) continue;
      known.blocker = "gate";
      known.blockedUntilMs = Math.max(known.blockedUntilMs, againMs);
    }
  }

  /** From when a lane that comes back may be asked: at once, unless its head is the one that nobody could claim. */
  #untilOf(key: string, head: LaneHead): number {
    const seen = this.#unclaimable.get(key);
    if (seen === undefined) return 0;
    this.#unclaimable.delete(key);
    return seen.dueMs === head.dueMs ? seen.untilMs : 0;
  }

  #noteUnclaimable(key: string, dueMs: number, nowMs: number): void {
    if (this.#unclaimable.size >= MAX_KNOWN_LANES) this.#unclaimable.clear();
    this.#unclaimable.set(key, { dueMs, untilMs: nowMs + RECHECK_UNCLAIMABLE_MS });
  }

  #drop(key: string): void {
    const known = this.#lanes.get(key);
    if (known === undefined) return;
    this.#lanes.delete(key);
    const keys = this.#byDestination.get(known.head.destinationId);
    keys?.delete(key);
    if (keys?.size === 0) this.#byDestination.delete(known.head.destinationId);
  }
}

/** It ends with a slot of the destination. */
function isCap(blocker: ClaimBlocker | null): boolean {
  return blocker === "destination_cap" || blocker === "adaptive_limit";
}

function blockedUntil(result: EntryResult, nowMs: number, gotToken: boolean, holdsPlace: boolean): number {
  switch (result.blocker) {
    case "destination_cap":
    case "adaptive_limit":
      return nowMs + (holdsPlace ? RECHECK_HELD_CAP_MS : RECHECK_CAP_MS);
    case "tenant_cap":
    case "deferred":
      return nowMs + RECHECK_CAP_MS;
    case "resume_ramp":
      return Math.min(result.untilMs ?? nowMs + RECHECK_CAP_MS, nowMs + RECHECK_CONTROL_MS);
    case "rate":
      // A rate that is raised meanwhile counts within a second, however far ahead the next token was.
      return Math.min(
        (result.untilMs ?? nowMs + RECHECK_CAP_MS) - (gotToken ? ASK_AHEAD_MS : STEP_IN_AHEAD_MS),
        nowMs + RECHECK_CONTROL_MS,
      );
    default:
      // Staff may open a gate or end a pause early, so these are looked at again before their end.
      return Math.min(result.untilMs ?? Number.POSITIVE_INFINITY, nowMs + RECHECK_CONTROL_MS);
  }
}

function laneKey(key: LaneKey): string {
  return `${key.lane}${key.serviceClass}${key.tenantId}${key.destinationId}`;
}
