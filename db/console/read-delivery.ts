/**
 * One delivery with its whole history, wherever it is: live, dead or archived. The region is not part of an id, so every
 * region of the scope is asked; one that does not answer leaves "not found" unproven, and that is said.
 * Of bodies it reads the size and the type, never the bytes.
 */
import type { DeliveryState, Lane, ServiceClass } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import { maxFailuresOf, type RetryPolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { type PreviewStep, previewNextAttempts, type RetryState } from "#domain/retry-policy.ts";
import {
  BLOCKER_COLUMNS,
  BLOCKER_JOINS,
  type Blocker,
  type BlockerRow,
  earliestOf,
  whyNotSent,
} from "./blockers.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type Policies, readPolicies } from "./policies.ts";
import { type Annotation, readAnnotations } from "./read-annotations.ts";
import { type AttemptEntry, readAttempts } from "./read-attempts.ts";
import { type Reader, readRegion } from "./read-region.ts";

/** Attempts that the preview looks ahead. */
export const PREVIEW_ATTEMPTS = 10;

export interface DeliveryDetail {
  id: string;
  region: Region;
  tenant: TenantName;
  destination: DestinationName;
  eventType: string;
  serviceClass: ServiceClass;
  idempotencyKey: string;
  traceparent: string | null;
  state: DeliveryState;
  lane: Lane | null;
  reason: string | null;
  lastDetail: string | null;
  attempts: number;
  failures: number;
  throttles: number;
  lostLeases: number;
  cycle: number;
  createdAt: string;
  firstDueAt: string;
  dueAt: string;
  leasedAt: string | null;
  leaseUntil: string | null;
  /** Which worker holds the lease: host and process number. */
  leasedBy: string | null;
  finishedAt: string | null;
  payload: {
    /** `pay_...` */
    id: string;
    sizeBytes: number;
    /** Null when the payload is stored no longer. */
    contentType: string | null;
    /** When it was erased for good; null: it was not. */
    erasedAt: string | null;
    /** Since when it is kept apart, out of reach of every attempt, until a person gives it back or erases it; null: it is not. */
    restrictedAt: string | null;
  };
  /** The replay batch that it belongs to, while it does. */
  replay: { id: string; name: string } | null;
  /** What stands in the way at this moment, its due time and its lease included; empty for one that has ended. */
  blockers: Blocker[];
  /** Earliest moment at which it can leave; null when that is not known, or when it no longer waits. */
  earliestAt: string | null;
  next: NextAttempts | null;
  signing: {
    /** Header of the second, plain signature; null when its destination asks for none. */
    plainHeader: string | null;
    /** Secrets that sign now: two during a rotation. */
    secrets: number;
    secretSetAt: string | null;
  };
}

/** What would happen, from the worker's own function; null for a delivery that has ended. */
export interface NextAttempts {
  /** Null: its policy cannot be used, and the worker ends it as `config_error`. */
  policy: {
    maxFailures: number;
    maxThrottleMs: number;
    minDelayMs: number;
    maxDelayMs: number;
  } | null;
  /** If every attempt failed without an answer. */
  failed: PreviewStep[];
  /** If every attempt was answered with a 429 without a Retry-After. */
  throttled: PreviewStep[];
}

export interface DeliveryAnswer {
  region: Region;
  asOf: string;
  delivery: DeliveryDetail;
  attempts: AttemptEntry[];
  /** True when there are more attempts than are shown. */
  attemptsTruncated: boolean;
  /** What was done to it and to what it belongs to, oldest first. */
  annotations: Annotation[];
}

/**
 * Finds a delivery by its public id, where the scope covers its region and tenant. Outside of it no region is asked.
 * @throws SluiceError `bad_id`; `not_found`; `region_unavailable` when a region that did not answer might hold it.
 */
export async function readDelivery(access: AccessScope, publicId: string): Promise<DeliveryAnswer> {
  const id = fromPublicId("dlv", publicId);
  const answers = await Promise.all(
    regionsOf(access).map((region) =>
      readRegion(region, (sql, asOf) => find(sql, asOf, id, tenantsIn(access, region))),
    ),
  );
  for (const answer of answers) {
    if (answer.status === "ok" && answer.data !== null) {
      return { region: answer.region, asOf: answer.asOf, ...answer.data };
    }
  }
  const silent = answers.filter((answer) => answer.status === "unavailable");
  if (silent.length === 0) throw new SluiceError("not_found", `No delivery ${publicId} in your scope.`);
  const names = silent.map((answer) => answer.region).join(", ");
  throw new SluiceError(
    "region_unavailable",
    `The delivery is in none of the regions that answered. It may be in ${names}, which does not answer.`,
    { regions: silent.map(({ region, status, detail }) => ({ region, status, detail })) },
  );
}

type Found = Omit<DeliveryAnswer, "region" | "asOf">;

async function find(sql: Reader, asOf: Date, id: string, tenantIds: TenantScope): Promise<Found | null> {
  const [row] = await sql<DetailRow>(DETAIL, [asOf, id, tenantIds]);
  if (row === undefined) return null;
  const policies = await readPolicies(sql);
  const attempts = await readAttempts(sql, id, row.created_at);
  const annotations = await readAnnotations(sql, {
    region: row.region,
    id,
    tenantId: row.tenant_id,
    destinationId: row.destination_id,
    payloadId: row.payload_id,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  });
  return { delivery: toDetail(row, asOf, policies), ...attempts, annotations };
}

const SHARED = `b.id, b.region, b.tenant_id, b.destination_id, b.payload_id, b.payload_bytes, b.event_type, b.service_class,
  b.idempotency_key, b.traceparent, b.attempts, b.failures, b.throttles, b.cycle, b.created_at, b.first_due_at, b.due_at, b.replay_batch_id`;

/** $3: the tenants of the scope, null for all. */
const IN_SCOPE = "($3::uuid[] IS NULL OR b.tenant_id = ANY ($3))";

const DETAIL = `
  WITH d AS MATERIALIZED (
    SELECT ${SHARED}, b.state::text AS state, b.lane::text AS lane, NULL::text AS reason, NULL::text AS last_detail,
           b.lost_leases, b.rejections, b.throttled_ms, b.leased_at, b.lease_until, b.leased_by, NULL::timestamptz AS finished_at
      FROM sluice.delivery b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT ${SHARED}, 'dead', NULL, b.reason, left(b.last_detail, 500), b.lost_leases, b.rejections, b.throttled_ms, NULL, NULL, NULL, b.died_at
      FROM sluice.dead_letter b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT ${SHARED}, b.state, NULL, b.reason, NULL, 0, 0, 0, NULL, NULL, NULL, b.finished_at
      FROM sluice.delivery_archive b WHERE b.id = $2 AND ${IN_SCOPE}
    LIMIT 1)
  SELECT d.*, ${NAME_COLUMNS}, ${BLOCKER_COLUMNS},
         p.content_type AS payload_content_type, p.erased_at AS payload_erased_at,
         pr.restricted_at AS payload_restricted_at, w.host AS worker_host, w.pid AS worker_pid,
         x.policy_override, x.plain_signature_header, x.secret_set_at, s.consecutive_gates, rb.name AS replay_name,
         CASE WHEN x.id IS NULL THEN 0 WHEN x.secret_previous_until > $1 THEN 2 ELSE 1 END AS live_secrets
    FROM d ${BLOCKER_JOINS}
    LEFT JOIN sluice.payload p ON p.id = d.payload_id
    LEFT JOIN sluice.payload_restricted pr ON pr.payload_id = d.payload_id
    LEFT JOIN sluice.worker_process w ON w.id = d.leased_by
   LIMIT 1`;

interface DetailRow extends NameRow, BlockerRow {
  id: string;
  region: Region;
  payload_id: string;
  payload_bytes: number;
  payload_content_type: string | null;
  payload_erased_at: Date | null;
  payload_restricted_at: Date | null;
  event_type: string;
  service_class: ServiceClass;
  idempotency_key: string;
  traceparent: string | null;
  attempts: number;
  failures: number;
  throttles: number;
  lost_leases: number;
  cycle: number;
  created_at: Date;
  first_due_at: Date;
  due_at: Date;
  state: DeliveryState;
  lane: Lane | null;
  reason: string | null;
  last_detail: string | null;
  leased_at: Date | null;
  lease_until: Date | null;
  leased_by: string | null;
  worker_host: string | null;
  worker_pid: number | null;
  finished_at: Date | null;
  rejections: number;
  throttled_ms: number;
  policy_override: unknown;
  plain_signature_header: string | null;
  secret_set_at: Date | null;
  consecutive_gates: number | null;
  live_secrets: number;
  replay_batch_id: string | null;
  replay_name: string | null;
}

function toDetail(row: DetailRow, asOf: Date, policies: Policies): DeliveryDetail {
  const waiting = row.state === "ready" || row.state === "delayed";
  const blockers = whyNotSent(row, row.lease_until, asOf);
  return {
    id: toPublicId("dlv", row.id),
    region: row.region,
    tenant: tenantName(row),
    destination: destinationName(row),
    eventType: row.event_type,
    serviceClass: row.service_class,
    idempotencyKey: row.idempotency_key,
    traceparent: row.traceparent,
    state: row.state,
    lane: row.lane,
    reason: row.reason,
    lastDetail: row.last_detail,
    attempts: row.attempts,
    failures: row.failures,
    throttles: row.throttles,
    lostLeases: row.lost_leases,
    cycle: row.cycle,
    createdAt: row.created_at.toISOString(),
    firstDueAt: row.first_due_at.toISOString(),
    dueAt: row.due_at.toISOString(),
    leasedAt: row.leased_at?.toISOString() ?? null,
    leaseUntil: row.lease_until?.toISOString() ?? null,
    leasedBy: row.leased_by === null ? null : workerName(row),
    finishedAt: row.finished_at?.toISOString() ?? null,
    payload: {
      id: toPublicId("pay", row.payload_id),
      sizeBytes: row.payload_bytes,
      contentType: row.payload_content_type,
      // The place that workers read is empty in both cases.
      erasedAt: row.payload_restricted_at === null ? (row.payload_erased_at?.toISOString() ?? null) : null,
      restrictedAt: row.payload_restricted_at?.toISOString() ?? null,
    },
    replay:
      row.replay_batch_id === null
        ? null
        : { id: toPublicId("rpl", row.replay_batch_id), name: row.replay_name ?? "a batch that is gone" },
    blockers,
    earliestAt: waiting ? earliestOf(blockers, asOf) : null,
    next:
      waiting || row.state === "leased"
        ? nextOf(row, policies(row.service_class, row.policy_override))
        : null,
    signing: {
      plainHeader: row.plain_signature_header,
      secrets: row.live_secrets,
      secretSetAt: row.secret_set_at?.toISOString() ?? null,
    },
  };
}

function nextOf(row: DetailRow, policy: RetryPolicy | null): NextAttempts {
  if (policy === null) return { policy: null, failed: [], throttled: [] };
  const state: RetryState = {
    attempts: row.attempts,
    failures: row.failures,
    rejections: row.rejections,
    throttles: row.throttles,
    throttledMs: row.throttled_ms,
    cycle: row.cycle,
    consecutiveGates: row.consecutive_gates ?? 0,
  };
  return {
    policy: {
      maxFailures: maxFailuresOf(policy),
      maxThrottleMs: policy.maxThrottleMs,
      minDelayMs: policy.retryAfter.minMs,
      maxDelayMs: policy.retryAfter.maxMs,
    },
    failed: previewNextAttempts(state, policy, PREVIEW_ATTEMPTS, "failed"),
    throttled: previewNextAttempts(state, policy, PREVIEW_ATTEMPTS, "throttled"),
  };
}

function workerName(row: DetailRow): string {
  return row.worker_host === null
    ? "a worker that has ended"
    : `${row.worker_host}, process ${row.worker_pid}`;
}
