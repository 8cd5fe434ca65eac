/**
 * One delivery with its whole history, wherever it is: live, dead or archived. The region is not part of an id, so every
 * region of the scope is asked; one that does not answer leaves "not found" unproven, and that is said.
 * Of bodies it reads the size and the type, never the bytes.
 */
import type { DeliveryState, Lane, ServiceClass } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  BLOCKER_COLUMNS,
  BLOCKER_JOINS,
  type Blocker,
  type BlockerRow,
  blockersOf,
  earliestOf,
} from "./blockers.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type AttemptEntry, readAttempts } from "./read-attempts.ts";
import { type Reader, readRegion } from "./read-region.ts";

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
  payload: { sizeBytes: number; contentType: string | null; erasedAt: string | null };
  /** What stands in the way at this moment, its due time included; empty for a delivery that is leased or has ended. */
  blockers: Blocker[];
  /** Earliest moment at which it can leave; null when that is not known, or when it no longer waits. */
  earliestAt: string | null;
}

export interface DeliveryAnswer {
  region: Region;
  asOf: string;
  delivery: DeliveryDetail;
  attempts: AttemptEntry[];
  /** True when there are more attempts than are shown. */
  attemptsTruncated: boolean;
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

type Found = Pick<DeliveryAnswer, "delivery" | "attempts" | "attemptsTruncated">;

async function find(sql: Reader, asOf: Date, id: string, tenantIds: TenantScope): Promise<Found | null> {
  const [row] = await sql<DetailRow>(DETAIL, [asOf, id, tenantIds]);
  if (row === undefined) return null;
  return { delivery: toDetail(row, asOf), ...(await readAttempts(sql, id, row.created_at)) };
}

const SHARED = `b.id, b.region, b.tenant_id, b.destination_id, b.payload_id, b.payload_bytes, b.event_type, b.service_class,
  b.idempotency_key, b.traceparent, b.attempts, b.failures, b.throttles, b.cycle, b.created_at, b.first_due_at, b.due_at, b.replay_batch_id`;

/** $3: the tenants of the scope, null for all. */
const IN_SCOPE = "($3::uuid[] IS NULL OR b.tenant_id = ANY ($3))";

const DETAIL = `
  WITH d AS MATERIALIZED (
    SELECT ${SHARED}, b.state::text AS state, b.lane::text AS lane, NULL::text AS reason, NULL::text AS last_detail,
           b.lost_leases, b.leased_at, b.lease_until, b.leased_by, NULL::timestamptz AS finished_at
      FROM sluice.delivery b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT ${SHARED}, 'dead', NULL, b.reason, left(b.last_detail, 500), b.lost_leases, NULL, NULL, NULL, b.died_at
      FROM sluice.dead_letter b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT ${SHARED}, b.state, NULL, b.reason, NULL, 0, NULL, NULL, NULL, b.finished_at
      FROM sluice.delivery_archive b WHERE b.id = $2 AND ${IN_SCOPE}
    LIMIT 1)
  SELECT d.*, ${NAME_COLUMNS}, ${BLOCKER_COLUMNS},
         p.content_type AS payload_content_type, p.erased_at AS payload_erased_at, w.host AS worker_host, w.pid AS worker_pid
    FROM d ${BLOCKER_JOINS}
    LEFT JOIN sluice.payload p ON p.id = d.payload_id
    LEFT JOIN sluice.worker_process w ON w.id = d.leased_by
   LIMIT 1`;

interface DetailRow extends NameRow, BlockerRow {
  id: string;
  region: Region;
  payload_bytes: number;
  payload_content_type: string | null;
  payload_erased_at: Date | null;
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
}

function toDetail(row: DetailRow, asOf: Date): DeliveryDetail {
  const waiting = row.state === "ready" || row.state === "delayed";
  const blockers = blockersOf(row, asOf);
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
      sizeBytes: row.payload_bytes,
      contentType: row.payload_content_type,
      erasedAt: row.payload_erased_at?.toISOString() ?? null,
    },
    blockers,
    earliestAt: waiting ? earliestOf(blockers, asOf) : null,
  };
}

function workerName(row: DetailRow): string {
  return row.worker_host === null
    ? "a worker that has ended"
    : `${row.worker_host}, process ${row.worker_pid}`;
}
