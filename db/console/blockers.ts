/**
 * Reads the facts that domain/held-reason.ts judges, from the same rows that the claim looks at, and adds what was
 * written down as a cause. Which blocker there is and when it can end is decided there and nowhere else.
 */
import type { DeliveryState, Lane } from "#domain/delivery.ts";
import { type BlockerName, earliestPossibleMs, type HoldFacts, whyHeld } from "#domain/held-reason.ts";
import { HEARTBEAT_LIMIT_MS } from "./objectives.ts";

export interface Blocker {
  code: BlockerName;
  /** Earliest moment at which it can be gone, UTC; null when no time is known. */
  until: string | null;
  /** What was written down as its cause. */
  reason: string | null;
  /** Who or what decided it, where somebody did. */
  by: string | null;
  /** Since when, UTC, where that is known. */
  since: string | null;
}

/** The claim's owner name that our workers use; another one means that the work was handed over. */
const OUR_OWNER = "sluice";
const MAX_RAW_CHARS = 60;

/** The columns of `BLOCKER_COLUMNS`. */
export interface BlockerRow {
  draining: boolean;
  drain_reason: string | null;
  drained_by: string | null;
  drained_at: Date | null;
  region_owner: string;
  workers_alive: number;
  tenant_owner: string | null;
  tenant_pause_until: Date | null;
  tenant_pause_reason: string | null;
  tenant_paused_by: string | null;
  tenant_paused_at: Date | null;
  tenant_limit: number | null;
  tenant_in_flight: number;
  destination_pause_until: Date | null;
  destination_pause_reason: string | null;
  destination_paused_by: string | null;
  destination_paused_at: Date | null;
  disabled: boolean;
  disabled_reason: string | null;
  disabled_by: string | null;
  disabled_at: Date | null;
  destination_limit: number | null;
  destination_in_flight: number;
  adaptive_limit: number | null;
  adaptive_why: string | null;
  adaptive_pinned: boolean | null;
  breaker: "closed" | "open" | null;
  breaker_until: Date | null;
  breaker_opened_at: Date | null;
  breaker_why: string | null;
  down_in_row: number | null;
  ramp_line: Date | null;
  ramp_part: number | null;
  ramp_in_flight: number | null;
  ramp_tat: Date | null;
  hold_until: Date | null;
  hold_set_at: Date | null;
  hold_retry_after: string | null;
  hold_why: string | null;
  hold_status: number | null;
  probing: boolean | null;
  rate_per_second: number | null;
  rate_burst: number | null;
  rate_tat: Date | null;
  replay_running: boolean | null;
}

/** Columns for a statement that has the joins below. */
export const BLOCKER_COLUMNS = `
  rc.draining, rc.drain_reason, rc.drained_by, rc.drained_at, rc.claim_owner AS region_owner, wp.alive AS workers_alive,
  t.claim_owner AS tenant_owner, t.pause_until AS tenant_pause_until, t.pause_reason AS tenant_pause_reason,
  t.paused_by AS tenant_paused_by, t.paused_at AS tenant_paused_at,
  coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS tenant_limit,
  coalesce(tl.n, 0)::integer AS tenant_in_flight,
  x.pause_until AS destination_pause_until, x.pause_reason AS destination_pause_reason,
  x.paused_by AS destination_paused_by, x.paused_at AS destination_paused_at, x.disabled_by, x.disabled_at,
  (x.disabled_at IS NOT NULL OR x.id IS NULL OR t.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL) AS disabled,
  CASE WHEN x.id IS NULL OR t.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'deleted'
       ELSE x.disabled_reason END AS disabled_reason,
  coalesce(x.concurrency_limit, rc.default_destination_concurrency) AS destination_limit,
  s.adaptive_limit, s.adaptive_why, s.adaptive_pinned, s.breaker, s.breaker_until, s.breaker_opened_at, s.breaker_why, s.down_in_row,
  q.line AS ramp_line, q.part::double precision AS ramp_part, r.ramp_tat,
  CASE WHEN q.line IS NOT NULL THEN (
    SELECT count(*)::integer FROM sluice.delivery o
     WHERE o.state = 'leased' AND o.lease_until > $1 AND o.destination_id = d.destination_id AND o.due_at < q.line) END AS ramp_in_flight,
  coalesce(dl.n, 0)::integer AS destination_in_flight,
  s.hold_until, s.hold_set_at, s.hold_retry_after, s.hold_why, s.hold_status, s.probing,
  x.rate_per_second::double precision AS rate_per_second, x.rate_burst, r.rate_tat,
  rb.state IN ('canary', 'running') AS replay_running`;

/** Joins for rows named `d` with tenant_id, destination_id and replay_batch_id. $1 is the time of the answer. */
export const BLOCKER_JOINS = `
  CROSS JOIN sluice.region_control rc
  CROSS JOIN (SELECT count(*)::integer AS alive FROM sluice.worker_process
               WHERE heartbeat_at > $1::timestamptz - ${HEARTBEAT_LIMIT_MS} * interval '1 millisecond') wp
  LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
  LEFT JOIN sluice.destination x ON x.id = d.destination_id
  LEFT JOIN sluice.destination_state s ON s.destination_id = d.destination_id
  LEFT JOIN sluice.destination_rate r ON r.destination_id = d.destination_id
  LEFT JOIN LATERAL sluice.resume_ramp(d.tenant_id, d.destination_id, $1::timestamptz) q ON true
  LEFT JOIN sluice.replay_batch rb ON rb.id = d.replay_batch_id
  LEFT JOIN (SELECT destination_id, count(*) AS n FROM sluice.delivery
              WHERE state = 'leased' AND lease_until > $1 GROUP BY 1) dl ON dl.destination_id = d.destination_id
  LEFT JOIN (SELECT tenant_id, count(*) AS n FROM sluice.delivery
              WHERE state = 'leased' AND lease_until > $1 GROUP BY 1) tl ON tl.tenant_id = d.tenant_id`;

/** What the delivery itself adds to the facts. */
export interface WaitingRow {
  state: DeliveryState;
  /** Null for a terminal delivery, which nothing blocks. */
  lane: Lane | null;
  due_at: Date;
}

/** Every blocker at `asOf`, the strongest first; none for a delivery that is leased or has ended. */
export function blockersOf(row: BlockerRow & WaitingRow, asOf: Date): Blocker[] {
  return row.state === "leased" ? [] : whyNotSent(row, null, asOf);
}

/** The same, and for a leased one whether it is in flight or waits to be taken back. */
export function whyNotSent(row: BlockerRow & WaitingRow, leaseUntil: Date | null, asOf: Date): Blocker[] {
  if (row.lane === null) return [];
  return whyHeld(factsOf(row, row.lane, leaseUntil, asOf)).map(({ blocker, untilMs }) => ({
    code: blocker,
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    reason: reasonOf(blocker, row),
    ...originOf(blocker, row),
  }));
}

/** The earliest moment at which a delivery with these blockers can leave, UTC; null when that is not known. */
export function earliestOf(blockers: readonly Blocker[], asOf: Date): string | null {
  const known = blockers.map(({ code, until }) => ({
    blocker: code,
    untilMs: until === null ? null : Date.parse(until),
  }));
  const earliestMs = earliestPossibleMs(known, asOf.getTime());
  return earliestMs === null ? null : new Date(earliestMs).toISOString();
}

function factsOf(row: BlockerRow & WaitingRow, lane: Lane, leaseUntil: Date | null, asOf: Date): HoldFacts {
  const nowMs = asOf.getTime();
  return {
    nowMs,
    state: row.state,
    lane,
    dueMs: row.due_at.getTime(),
    leaseUntilMs: leaseUntil?.getTime() ?? null,
    regionDraining: row.draining,
    ownedBySluice: row.region_owner === OUR_OWNER && (row.tenant_owner ?? OUR_OWNER) === OUR_OWNER,
    workersAlive: row.workers_alive,
    tenant: {
      paused: isAhead(row.tenant_pause_until, nowMs),
      pausedUntilMs: row.tenant_pause_until?.getTime() ?? null,
      concurrencyLimit: row.tenant_limit,
      inFlight: row.tenant_in_flight,
    },
    destination: {
      disabled: row.disabled,
      paused: isAhead(row.destination_pause_until, nowMs),
      pausedUntilMs: row.destination_pause_until?.getTime() ?? null,
      concurrencyLimit: row.destination_limit,
      inFlight: row.destination_in_flight,
      gateUntilMs: row.hold_until?.getTime() ?? null,
      probeOnly: row.probing ?? false,
      breakerUntilMs: row.breaker === "open" ? (row.breaker_until?.getTime() ?? null) : null,
      adaptiveLimit: row.adaptive_limit,
      rate: rateOf(row, row.rate_tat, 1),
      ramp: rampOf(row),
    },
    replayRunning: lane === "replay" ? row.replay_running : null,
  };
}

/** @param part of rate and burst, as a ramp allows it */
function rateOf(row: BlockerRow, tat: Date | null, part: number): HoldFacts["destination"]["rate"] {
  if (row.rate_per_second === null || row.rate_burst === null || tat === null) return null;
  const limit = {
    ratePerSecond: row.rate_per_second * part,
    burst: Math.max(1, Math.floor(row.rate_burst * part)),
  };
  return { limit, tatMs: tat.getTime() };
}

function rampOf(row: BlockerRow): HoldFacts["destination"]["ramp"] {
  if (row.ramp_line === null || row.ramp_part === null) return null;
  const limit = Math.min(row.destination_limit ?? 1, row.adaptive_limit ?? Number.POSITIVE_INFINITY);
  return {
    lineMs: row.ramp_line.getTime(),
    room: Math.max(1, Math.floor(limit * row.ramp_part)),
    inFlight: row.ramp_in_flight ?? 0,
    rate: rateOf(row, row.ramp_tat, row.ramp_part),
  };
}

function reasonOf(blocker: BlockerName, row: BlockerRow): string | null {
  switch (blocker) {
    case "region_draining":
      return row.drain_reason;
    case "tenant_paused":
      return row.tenant_pause_reason;
    case "destination_paused":
      return row.destination_pause_reason;
    case "destination_disabled":
      return row.disabled_reason;
    case "other_owner":
      return ownerReason(row);
    case "gate":
    case "probe":
      return gateReason(row);
    case "tenant_cap":
      return `${row.tenant_in_flight} of ${row.tenant_limit} in flight`;
    case "destination_cap":
      return `${row.destination_in_flight} of ${row.destination_limit} in flight`;
    case "breaker":
      return `${row.down_in_row} requests in a row failed, the last with ${row.breaker_why ?? "no answer"}`;
    case "adaptive_limit":
      return adaptiveReason(row);
    case "rate":
      return `${row.rate_per_second} per second`;
    case "resume_ramp":
      return `resumed: ${Math.round((row.ramp_part ?? 1) * 100)} % of cap and rate for what was due before`;
    default:
      return null;
  }
}

/** Who decided it and since when, of what somebody or something decides. */
function originOf(blocker: BlockerName, row: BlockerRow): { by: string | null; since: string | null } {
  const origin = (by: string | null, since: Date | null) => ({ by, since: since?.toISOString() ?? null });
  switch (blocker) {
    case "region_draining":
      return origin(row.drained_by, row.drained_at);
    case "tenant_paused":
      return origin(row.tenant_paused_by, row.tenant_paused_at);
    case "destination_paused":
      return origin(row.destination_paused_by, row.destination_paused_at);
    case "destination_disabled":
      return origin(row.disabled_by, row.disabled_at);
    case "gate":
      return origin(null, row.hold_set_at);
    case "breaker":
      return origin(null, row.breaker_opened_at);
    default:
      return origin(null, null);
  }
}

function ownerReason(row: BlockerRow): string {
  const regional = row.region_owner !== OUR_OWNER;
  return `the claims of ${regional ? "the region" : "its tenant"} belong to ${regional ? row.region_owner : row.tenant_owner}`;
}

function gateReason(row: BlockerRow): string | null {
  if (row.hold_why === null) return null;
  const usable = row.hold_why === "retry_after";
  const raw = row.hold_retry_after === null ? "" : ` "${row.hold_retry_after.slice(0, MAX_RAW_CHARS)}"`;
  return `${row.hold_status ?? "answer"} ${usable ? "with" : "without a usable"} Retry-After${raw}`;
}

const ADAPTIVE_CAUSES: Readonly<Record<string, string>> = {
  rate_limited: "lowered by a gate",
  timeout: "lowered by timeouts",
  breaker: "begun again behind a breaker",
};

function adaptiveReason(row: BlockerRow): string {
  const cause = row.adaptive_pinned ? "pinned" : (ADAPTIVE_CAUSES[row.adaptive_why ?? ""] ?? "found");
  return `${row.destination_in_flight} of ${row.adaptive_limit} in flight, ${cause}`;
}

function isAhead(moment: Date | null, nowMs: number): boolean {
  return moment !== null && moment.getTime() > nowMs;
}
