/**
 * What stands before a dialog that steers a region: claims, leases, what is due and held, what rows inherit. A grant for
 * some tenants sees their work only. `drained` here is one snapshot; the proof is drain-status.ts, behind a barrier.
 */
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, type Grant, permitsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { HeldReason } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import {
  COUNT_LIMIT,
  counted,
  POLICY_COLUMNS,
  type PolicyRow,
  policyOf,
  REQUEST_DEADLINE_MS,
} from "./control-queue.ts";
import type { RegionControlView } from "./control-views.ts";
import { HEARTBEAT_LIMIT_MS } from "./objectives.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

const ACTIONS = ["region_claims", "policies"] as const;
const MAX_TENANTS = 20;

/** $1 the time of the answer, $2 the tenants of the scope (null: all), $3 the heartbeat's limit in ms. */
const REGION = `
  SELECT rc.version, rc.draining, rc.drain_reason, rc.drained_by, rc.drained_at, rc.default_tenant_concurrency AS tenant_default,
         rc.default_destination_concurrency AS destination_default, ${POLICY_COLUMNS}, l.leases, l.expired, l.last_until,
         (SELECT count(*)::integer FROM sluice.worker_process w WHERE w.heartbeat_at > $1 - $3::float8 * interval '1 millisecond') AS workers,
         (SELECT count(*)::integer FROM sluice.tenant t WHERE t.deleted_at IS NULL AND ($2::uuid[] IS NULL OR t.id = ANY ($2))) AS tenants
    FROM sluice.region_control rc
   CROSS JOIN (SELECT count(*)::integer AS leases, count(*) FILTER (WHERE d.lease_until <= $1)::integer AS expired, max(d.lease_until) AS last_until
                 FROM sluice.delivery d WHERE d.state = 'leased' AND ($2::uuid[] IS NULL OR d.tenant_id = ANY ($2))) l`;

interface RegionRow extends PolicyRow {
  version: number;
  draining: boolean;
  drain_reason: string | null;
  drained_by: string | null;
  drained_at: Date | null;
  tenant_default: number;
  destination_default: number;
  leases: number;
  expired: number;
  last_until: Date | null;
  workers: number;
  tenants: number;
}

/**
 * The oldest due rows of each lane and class, at most $3 of each, by what holds them. They are summed by destination first: what
 * holds a row is said by its tenant and its destination, of which there are far fewer.
 */
const DUE = `
  WITH d AS MATERIALIZED (
    SELECT o.tenant_id, o.destination_id, count(*) AS n, min(o.due_at) AS due_at
      FROM (VALUES ('first'::sluice.lane, 'urgent'::sluice.service_class), ('first', 'routine'), ('retry', 'urgent'), ('retry', 'routine'),
                   ('replay', 'urgent'), ('replay', 'routine')) AS k(lane, service_class)
     CROSS JOIN LATERAL (
       SELECT d.tenant_id, d.destination_id, d.due_at FROM sluice.delivery d
        WHERE d.lane = k.lane AND d.service_class = k.service_class AND d.due_at <= $1 AND d.state <> 'leased'
          AND ($2::uuid[] IS NULL OR d.tenant_id = ANY ($2)) ORDER BY d.due_at LIMIT $3) o
     GROUP BY 1, 2)
  SELECT w.held_why, sum(d.n)::float8 AS n, (extract(epoch FROM $1 - min(d.due_at)) * 1000)::float8 AS oldest_ms
    FROM d
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
    LEFT JOIN sluice.destination x ON x.id = d.destination_id
    LEFT JOIN sluice.destination_state s ON s.destination_id = d.destination_id
   CROSS JOIN LATERAL (SELECT
     CASE WHEN rc.draining THEN 'region_draining' WHEN t.pause_until > $1 THEN 'tenant_paused'
          WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled' WHEN x.pause_until > $1 THEN 'destination_paused' END AS held_why) w
   WHERE w.held_why IS NOT NULL
      OR coalesce(greatest(s.hold_until, CASE WHEN s.breaker = 'open' THEN s.breaker_until END) <= $1, true)
   GROUP BY 1`;

const IN_FLIGHT = `
  SELECT d.tenant_id, max(coalesce(t.name, 'Deleted tenant')) AS name, count(*)::integer AS n
    FROM sluice.delivery d LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
   WHERE d.state = 'leased' AND ($1::uuid[] IS NULL OR d.tenant_id = ANY ($1)) GROUP BY 1 ORDER BY n DESC, 1 LIMIT $2`;

/** @throws SluiceError `not_found` for a region outside of the scope */
export async function readRegionControlView(
  access: AccessScope,
  grants: readonly Grant[],
  region: Region,
): Promise<RegionAnswer<RegionControlView>> {
  const scope = tenantsIn(access, region);
  return readRegion(region, async (sql, asOf) => {
    const [row] = await sql<RegionRow>(REGION, [asOf, scope, HEARTBEAT_LIMIT_MS]);
    if (row === undefined) throw new Error("the region has no control row");
    return {
      region,
      version: row.version,
      ...claimsOf(row),
      inFlight: row.leases,
      expiredLeases: row.expired,
      lastLeaseUntil: row.last_until?.toISOString() ?? null,
      workers: row.workers,
      ...(await readDue(sql, asOf, scope)),
      tenants: await readTenants(sql, scope),
      tenantCount: row.tenants,
      requestDeadlineMs: REQUEST_DEADLINE_MS,
      defaults: { tenantConcurrency: row.tenant_default, destinationConcurrency: row.destination_default },
      policy: policyOf(row),
      permit: permitsOf(grants, ACTIONS, { region, tenantId: null }),
    };
  });
}

function claimsOf(row: RegionRow): Pick<RegionControlView, "claims" | "stopped" | "drained"> {
  if (!row.draining) return { claims: "on", stopped: null, drained: false };
  const at = row.drained_at?.toISOString() ?? null;
  return {
    claims: "stopped",
    stopped: at === null ? null : { at, reason: row.drain_reason, by: row.drained_by },
    drained: row.leases === 0,
  };
}

async function readDue(
  sql: Reader,
  asOf: Date,
  scope: TenantScope,
): Promise<Pick<RegionControlView, "due" | "held">> {
  const rows = await sql<{ held_why: HeldReason | null; n: number; oldest_ms: number }>(DUE, [
    asOf,
    scope,
    COUNT_LIMIT + 1,
  ]);
  const held = rows.filter((row) => row.held_why !== null);
  const due = rows.filter((row) => row.held_why === null);
  return {
    due: counted(due.map((row) => [row.n, row.oldest_ms])),
    held: { ...counted(held.map((row) => [row.n, row.oldest_ms])), why: held[0]?.held_why ?? null },
  };
}

async function readTenants(sql: Reader, scope: TenantScope): Promise<RegionControlView["tenants"]> {
  const rows = await sql<{ tenant_id: string; name: string; n: number }>(IN_FLIGHT, [scope, MAX_TENANTS]);
  return rows.map(({ tenant_id, name, n }) => ({ id: toPublicId("ten", tenant_id), name, inFlight: n }));
}
