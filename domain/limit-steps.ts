/**
 * How far and how fast a limit may be raised, and who may raise it. Pure: the command reads the facts in its transaction
 * and asks here. Lowering is always allowed: it is how harm is stopped, and must never wait.
 */

/** One change raises to at most this many times the value in force. */
export const MAX_RAISE_FACTOR = 2;
/** Between two raises of one row: time to see what the first one did. */
export const RAISE_WAIT_MS = 120_000;
/** A destination that answers more than this part of its requests with 429 is asked for less, not more. */
export const ACKNOWLEDGE_SHARE = 0.1;
/** A value that was in force this short a time ago was borne: going back to it is an undo, not a raise. */
export const UNDO_WINDOW_MS = 600_000;

export const LIMIT_NAMES = ["concurrency", "rate", "burst", "weight"] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** A limit in force before and after; Infinity is "no rate". */
export interface LimitChange {
  readonly name: LimitName;
  readonly from: number;
  readonly to: number;
}

export interface StepFacts {
  /** The database's time. */
  readonly nowMs: number;
  /** When a limit of this row was last raised; null: not lately. */
  readonly lastRaiseMs: number | null;
  /** The highest value that was in force within `UNDO_WINDOW_MS`, by limit. */
  readonly recentHighest: Readonly<Partial<Record<LimitName, number>>>;
  /** Part of the answers of the last minutes that were 429; null: there were none. */
  readonly throttledShare: number | null;
  /** The person has been told of the 429s and raises all the same. */
  readonly acknowledged: boolean;
}

export interface StepRefusal {
  readonly why: "factor" | "too_soon" | "throttled";
  readonly detail: string;
  /** The largest value that this change could have asked for. */
  readonly most?: number;
  readonly retryAtMs?: number;
}

/** Limits whose raises go in steps. A burst only counts requests that may go at once; a weight only shares what is there. */
const STEPPED: ReadonlySet<LimitName> = new Set(["concurrency", "rate"]);

/** Whether the change lets more through than before. */
export function isRaise({ from, to }: LimitChange): boolean {
  return to > from;
}

/** Why these changes of one row cannot be made in one step now, or null. */
export function refuseStep(changes: readonly LimitChange[], facts: StepFacts): StepRefusal | null {
  const raises = changes.filter((change) => isRaise(change) && change.name !== "weight");
  const forward = raises.filter(
    (change) => STEPPED.has(change.name) && change.to > (facts.recentHighest[change.name] ?? 0),
  );
  return (
    forward.map(refuseFactor).find((refusal) => refusal !== null) ??
    (forward.length > 0 ? refuseSoon(facts) : null) ??
    (raises.length > 0 ? refuseThrottled(facts) : null)
  );
}

/** When the next raise may be made, in the database's time; null: now. */
export function nextRaiseAtMs(lastRaiseMs: number | null, nowMs: number): number | null {
  if (lastRaiseMs === null) return null;
  const atMs = lastRaiseMs + RAISE_WAIT_MS;
  return atMs > nowMs ? atMs : null;
}

/** Whether a raise has to be acknowledged. */
export function needsAcknowledgement(throttledShare: number | null): boolean {
  return throttledShare !== null && throttledShare > ACKNOWLEDGE_SHARE;
}

/** Removing a rate has no factor; that it is allowed at all is for the role to say (`refuseReach`). */
function refuseFactor({ name, from, to }: LimitChange): StepRefusal | null {
  const most = from * MAX_RAISE_FACTOR;
  if (to === Number.POSITIVE_INFINITY || to <= most) return null;
  return {
    why: "factor",
    most,
    detail: `${name}: ${to} is more than twice the ${from} in force; raise to at most ${most}, then look`,
  };
}

function refuseSoon({ lastRaiseMs, nowMs }: StepFacts): StepRefusal | null {
  const retryAtMs = nextRaiseAtMs(lastRaiseMs, nowMs);
  if (retryAtMs === null) return null;
  const seconds = Math.ceil((retryAtMs - nowMs) / 1_000);
  return {
    why: "too_soon",
    retryAtMs,
    detail: `a limit of it was raised less than ${RAISE_WAIT_MS / 60_000} minutes ago: wait ${seconds} s and look at what that did`,
  };
}

function refuseThrottled({ throttledShare, acknowledged }: StepFacts): StepRefusal | null {
  if (acknowledged || throttledShare === null || !needsAcknowledgement(throttledShare)) return null;
  const percent = Math.round(throttledShare * 100);
  return {
    why: "throttled",
    detail: `${percent} % of its answers are 429: it asks for less, not more. To raise all the same, acknowledge that`,
  };
}

/** The most that a role may set which changes limits "within policy". */
export interface LimitBounds {
  readonly concurrency: number;
  readonly rate: number;
}

/**
 * Why the caller's role does not reach this far, or null. Going down from above the bounds is always allowed.
 * @param only what the role may do; undefined: any value
 */
export function refuseReach(
  only: "lower" | "within_policy" | "own_approved" | undefined,
  changes: readonly LimitChange[],
  bounds: LimitBounds,
): string | null {
  const raises = changes.filter(isRaise);
  const [first] = raises;
  if (only === undefined || first === undefined) return null;
  if (only !== "within_policy")
    return `${first.name}: this role may only lower limits; operator or admin may raise them`;
  for (const { name, to } of raises) {
    const bound = name === "concurrency" || name === "rate" ? bounds[name] : Number.POSITIVE_INFINITY;
    if (to <= bound) continue;
    const asked = to === Number.POSITIVE_INFINITY ? "no rate at all" : String(to);
    return `${name}: ${asked} is above the policy of this region (${bound}); an admin may set it`;
  }
  return null;
}
