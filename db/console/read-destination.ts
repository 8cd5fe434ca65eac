/**
 * One destination of one region with the evidence of everything that holds it back: gate, breaker, adaptive limit,
 * failures, secret rotation, policy override. It must never hold a secret, nor more of the URL than host and mask.
 * What may be done with it, and the values that a change is based on, are in its control view.
 */
import type { DeliveryState } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import type { Thresholds } from "#domain/objectives.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { readThresholds } from "./objectives.ts";
import { type DestinationHealth, readDestinationHealth } from "./read-destination-health.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { DETAIL_COUNT_LIMIT } from "./read-tenant.ts";
import { ageOf } from "./read-tenant-numbers.ts";

/** What shut the gate the last time, and whether it still is. Kept after it has opened: it is the newest evidence. */
export interface GateEvidence {
  /** UTC; in the past once it has opened. */
  until: string;
  shut: boolean;
  /** Open again, and one request at a time until one has an outcome. */
  probing: boolean;
  setAt: string | null;
  why: "retry_after" | "rate_limited" | null;
  status: number | null;
  /** As received, bounded. */
  retryAfterRaw: string | null;
  consecutive: number;
  /** `dlv_...`: the delivery whose answer shut it. */
  deliveryId: string | null;
}

export interface BreakerState {
  open: boolean;
  /** When the next single request may go; null: closed. */
  until: string | null;
  openedAt: string | null;
  opens: number;
  why: string | null;
  downInRow: number;
  downSince: string | null;
}

/** The newest signed test event that staff sent, and what became of it. */
export interface TestEventResult {
  /** `dlv_...` */
  deliveryId: string;
  sentAt: string;
  sentBy: string;
  /** Null: retention has removed the delivery. */
  state: DeliveryState | null;
  outcome: string | null;
  status: number | null;
  attempts: number;
}

export interface DestinationDetail extends DestinationHealth {
  region: Region;
  version: number;
  createdAt: string;
  deletedAt: string | null;
  paused: { since: string; until: string; reason: string; by: string | null } | null;
  disabled: { at: string; reason: string; by: string | null } | null;
  firstAttemptMs: number;
  due: CountAndAge;
  gated: number;
  held: CountAndAge & { why: string | null };
  ready: number;
  delayed: number;
  /** Null: there never was one. */
  gate: GateEvidence | null;
  adaptive: {
    limit: number | null;
    safeLimit: number | null;
    pinned: boolean;
    why: string | null;
    changedAt: string | null;
  };
  breaker: BreakerState;
  /** Since when only failures come; null: the last answer was a success, or there was none yet. */
  failingSince: string | null;
  plainSignatureHeader: string | null;
  /** As stored; null: the class's policy alone. */
  policyOverride: Readonly<Record<string, unknown>> | null;
  testEvent: TestEventResult | null;
}

export interface DestinationAnswer extends Pick<Thresholds, "objectives" | "dueLag"> {
  destination: DestinationDetail;
  /** `deadLetters.count` is exact up to here. */
  countLimit: number;
}

/**
 * @param publicId `dst_...`
 * @throws SluiceError `not_found` for a region or a destination outside the scope, `bad_id`
 */
export async function readDestination(
  access: AccessScope,
  region: Region,
  publicId: string,
): Promise<RegionAnswer<DestinationAnswer>> {
  const id = fromPublicId("dst", publicId);
  const tenantIds = tenantsIn(access, region);
  const answer = await readRegion(region, async (sql, asOf) => ({
    destination: await find(sql, asOf, region, id, tenantIds),
    thresholds: await readThresholds(sql),
  }));
  if (answer.status === "unavailable") return answer;
  const { destination, thresholds } = answer.data;
  if (destination === null)
    throw new SluiceError("not_found", `No such destination in ${region} in your scope.`);
  const { objectives, dueLag } = thresholds;
  return { ...answer, data: { destination, objectives, dueLag, countLimit: DETAIL_COUNT_LIMIT } };
}

/** $1 the id, $2 the tenants of the scope. */
const OWNER = `
  SELECT x.tenant_id FROM sluice.destination x WHERE x.id = $1 AND ($2::uuid[] IS NULL OR x.tenant_id = ANY ($2)) LIMIT 1`;

/** $1 the time of the answer, $2 the id, $3 its tenant, in an array: known before, so that only its own rows are read. */
const DETAIL = `
  SELECT x.version, x.created_at, x.deleted_at, x.paused_at, x.pause_until, x.pause_reason, x.paused_by,
         x.disabled_at, x.disabled_reason, x.disabled_by, x.plain_signature_header, x.policy_override,
         s.hold_until, s.hold_set_at, s.hold_why, s.hold_status, s.hold_retry_after, s.hold_delivery_id, coalesce(s.probing, false) AS probing,
         coalesce(s.consecutive_gates, 0) AS consecutive_gates, s.adaptive_limit, s.adaptive_safe_limit,
         coalesce(s.adaptive_pinned, false) AS adaptive_pinned, s.adaptive_why, s.adaptive_changed_at,
         coalesce(s.breaker = 'open', false) AS breaker_open, s.breaker_until, s.breaker_opened_at, coalesce(s.breaker_opens, 0) AS breaker_opens,
         s.breaker_why, coalesce(s.down_in_row, 0) AS down_in_row, s.down_since, s.failing_since,
         q.first_due_at, coalesce(q.due_count, 0) AS due_count, q.due_since, coalesce(q.gated, 0) AS gated,
         coalesce(q.held_count, 0) AS held_count, q.held_since, q.held_why, coalesce(q.ready, 0) AS ready, coalesce(q.delayed, 0) AS delayed
    FROM sluice.destination x
    LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
   CROSS JOIN (
     SELECT min(a.first_due_at) AS first_due_at, sum(a.due_count)::integer AS due_count, min(a.due_since) AS due_since,
            sum(a.gated_count)::integer AS gated, sum(a.held_count)::integer AS held_count, min(a.held_since) AS held_since,
            min(a.held_why) FILTER (WHERE a.held_count > 0) AS held_why, sum(a.ready)::integer AS ready, sum(a.delayed)::integer AS delayed
       FROM sluice.queue_age($1, $3::uuid[], $2::uuid) a) q
   WHERE x.id = $2 AND x.tenant_id = ANY ($3)
   LIMIT 1`;

interface DetailRow {
  version: number;
  created_at: Date;
  deleted_at: Date | null;
  paused_at: Date | null;
  pause_until: Date | null;
  pause_reason: string | null;
  paused_by: string | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  disabled_by: string | null;
  plain_signature_header: string | null;
  policy_override: Record<string, unknown> | null;
  hold_until: Date | null;
  hold_set_at: Date | null;
  hold_why: GateEvidence["why"];
  hold_status: number | null;
  hold_retry_after: string | null;
  hold_delivery_id: string | null;
  probing: boolean;
  consecutive_gates: number;
  adaptive_limit: number | null;
  adaptive_safe_limit: number | null;
  adaptive_pinned: boolean;
  adaptive_why: string | null;
  adaptive_changed_at: Date | null;
  breaker_open: boolean;
  breaker_until: Date | null;
  breaker_opened_at: Date | null;
  breaker_opens: number;
  breaker_why: string | null;
  down_in_row: number;
  down_since: Date | null;
  failing_since: Date | null;
  first_due_at: Date | null;
  due_count: number;
  due_since: Date | null;
  gated: number;
  held_count: number;
  held_since: Date | null;
  held_why: string | null;
  ready: number;
  delayed: number;
}

async function find(
  sql: Reader,
  asOf: Date,
  region: Region,
  id: string,
  tenantIds: TenantScope,
): Promise<DestinationDetail | null> {
  const [owner] = await sql<{ tenant_id: string }>(OWNER, [id, tenantIds]);
  if (owner === undefined) return null;
  const [row] = await sql<DetailRow>(DETAIL, [asOf, id, [owner.tenant_id]]);
  if (row === undefined) return null;
  const health = (await readDestinationHealth(sql, asOf, [id], DETAIL_COUNT_LIMIT)).get(id);
  if (health === undefined) return null;
  return {
    ...health,
    region,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    deletedAt: iso(row.deleted_at),
    paused: pauseOf(row, asOf),
    disabled:
      row.disabled_at === null
        ? null
        : { at: row.disabled_at.toISOString(), reason: row.disabled_reason ?? "", by: row.disabled_by },
    firstAttemptMs: ageOf(row.first_due_at, asOf),
    due: { count: row.due_count, oldestMs: ageOf(row.due_since, asOf) },
    gated: row.gated,
    held: { count: row.held_count, oldestMs: ageOf(row.held_since, asOf), why: row.held_why },
    ready: row.ready,
    delayed: row.delayed,
    gate: gateOf(row, asOf),
    adaptive: {
      limit: row.adaptive_limit,
      safeLimit: row.adaptive_safe_limit,
      pinned: row.adaptive_pinned,
      why: row.adaptive_why,
      changedAt: iso(row.adaptive_changed_at),
    },
    breaker: breakerOf(row),
    failingSince: iso(row.failing_since),
    plainSignatureHeader: row.plain_signature_header,
    policyOverride: row.policy_override,
    testEvent: await readTestEvent(sql, health.id),
  };
}

const TEST_SENT = `
  SELECT a.at, a.actor, a.after ->> 'deliveryId' AS delivery_id FROM sluice.operator_action a
   WHERE a.target_kind = 'destination' AND a.target_id = $1 AND a.action = 'destination.test_event' AND a.result = 'done'
   ORDER BY a.at DESC LIMIT 1`;
const TEST_ENDED =
  "SELECT d.state, d.last_outcome, d.last_status, d.attempts FROM sluice.delivery_all d WHERE d.id = $1 LIMIT 1";

async function readTestEvent(sql: Reader, publicId: string): Promise<TestEventResult | null> {
  const [sent] = await sql<{ at: Date; actor: string; delivery_id: string | null }>(TEST_SENT, [publicId]);
  if (sent === undefined || sent.delivery_id === null) return null;
  const [ended] = await sql<{
    state: DeliveryState;
    last_outcome: string | null;
    last_status: number | null;
    attempts: number;
  }>(TEST_ENDED, [fromPublicId("dlv", sent.delivery_id)]);
  return {
    deliveryId: sent.delivery_id,
    sentAt: sent.at.toISOString(),
    sentBy: sent.actor,
    state: ended?.state ?? null,
    outcome: ended?.last_outcome ?? null,
    status: ended?.last_status ?? null,
    attempts: ended?.attempts ?? 0,
  };
}

function pauseOf(row: DetailRow, asOf: Date): DestinationDetail["paused"] {
  if (row.paused_at === null || row.pause_until === null) return null;
  if (row.pause_until.getTime() <= asOf.getTime()) return null;
  return {
    since: row.paused_at.toISOString(),
    until: row.pause_until.toISOString(),
    reason: row.pause_reason ?? "",
    by: row.paused_by,
  };
}

function gateOf(row: DetailRow, asOf: Date): GateEvidence | null {
  if (row.hold_until === null) return null;
  const shut = row.hold_until.getTime() > asOf.getTime();
  return {
    until: row.hold_until.toISOString(),
    shut,
    probing: row.probing && !shut,
    setAt: iso(row.hold_set_at),
    why: row.hold_why,
    status: row.hold_status,
    retryAfterRaw: row.hold_retry_after,
    consecutive: row.consecutive_gates,
    deliveryId: row.hold_delivery_id === null ? null : toPublicId("dlv", row.hold_delivery_id),
  };
}

function breakerOf(row: DetailRow): BreakerState {
  return {
    open: row.breaker_open,
    until: row.breaker_open ? iso(row.breaker_until) : null,
    openedAt: iso(row.breaker_opened_at),
    opens: row.breaker_opens,
    why: row.breaker_why,
    downInRow: row.down_in_row,
    downSince: iso(row.down_since),
  };
}

function iso(moment: Date | null): string | null {
  return moment?.toISOString() ?? null;
}
