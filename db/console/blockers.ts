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
}

/** The claim's owner name that our workers use; another one means that the work was handed over. */
const OUR_OWNER = "sluice";

/** The columns of `BLOCKER_COLUMNS`. */
export interface BlockerRow {
  draining: boolean;
  drain_reason: string | null;
  region_owner: string;
  workers_alive: number;
  tenant_owner: string | null;
  tenant_pause_until: Date | null;
  tenant_pause_reason: string | null;
  tenant_limit: number | null;
  tenant_in_flight: number;
  destination_pause_until: Date | null;
  destination_pause_reason: string | null;
  disabled: boolean;
  disabled_reason: string | null;
  destination_limit: number | null;
  destination_in_flight: number;
  hold_until: Date | null;
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
  rc.draining, rc.drain_reason, rc.claim_owner AS region_owner, wp.alive AS workers_alive,
  t.claim_owner AS tenant_owner, t.pause_until AS tenant_pause_until, t.pause_reason AS tenant_pause_reason,
  coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS tenant_limit,
  coalesce(tl.n, 0)::integer AS tenant_in_flight,
  x.pause_until AS destination_pause_until, x.pause_reason AS destination_pause_reason,
  (x.disabled_at IS NOT NULL OR x.id IS NULL OR t.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL) AS disabled,
  CASE WHEN x.id IS NULL OR t.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'deleted'
       ELSE x.disabled_reason END AS disabled_reason,
  least(coalesce(x.concurrency_limit, rc.default_destination_concurrency), s.adaptive_limit) AS destination_limit,
  coalesce(dl.n, 0)::integer AS destination_in_flight,
  s.hold_until, s.hold_why, s.hold_status, s.probing,
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
  if (row.lane === null || (row.state !== "ready" && row.state !== "delayed")) return [];
  return whyHeld(factsOf(row, row.lane, asOf)).map(({ blocker, untilMs }) => ({
    code: blocker,
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    reason: reasonOf(blocker, row),
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

function factsOf(row: BlockerRow & WaitingRow, lane: Lane, asOf: Date): HoldFacts {
  const nowMs = asOf.getTime();
  return {
    nowMs,
    state: row.state,
    lane,
    dueMs: row.due_at.getTime(),
    leaseUntilMs: null,
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
      rate: rateOf(row),
    },
    replayRunning: lane === "replay" ? row.replay_running : null,
  };
}

function rateOf(row: BlockerRow): HoldFacts["destination"]["rate"] {
  if (row.rate_per_second === null || row.rate_burst === null || row.rate_tat === null) return null;
  return {
    limit: { ratePerSecond: row.rate_per_second, burst: row.rate_burst },
    tatMs: row.rate_tat.getTime(),
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
    case "gate":
    case "probe":
      return row.hold_why === null
        ? null
        : `${row.hold_status ?? "answer"} ${row.hold_why === "retry_after" ? "with" : "without a usable"} Retry-After`;
    case "tenant_cap":
      return `${row.tenant_in_flight} of ${row.tenant_limit} in flight`;
    case "destination_cap":
      return `${row.destination_in_flight} of ${row.destination_limit} in flight`;
    case "rate":
      return `${row.rate_per_second} per second`;
    default:
      return null;
  }
}

function isAhead(moment: Date | null, nowMs: number): boolean {
  return moment !== null && moment.getTime() > nowMs;
}
