/**
 * The statements behind the page of regions: control row, workers, leases by lane, partitions and the database itself.
 * Each is bounded; none looks at the archive, at attempts or at waiting rows.
 */
import type { Lane } from "#domain/delivery.ts";
import type { TenantScope } from "#domain/permissions.ts";
import { HEARTBEAT_LIMIT_MS } from "./objectives.ts";
import type { Reader } from "./read-region.ts";

/** Most worker processes that are listed; the sums count all of them. */
export const MAX_WORKERS = 100;
/** Leases are counted up to this; a region has at most as many as its workers have slots. */
export const MAX_LEASES = 20_000;

export interface ControlRow {
  draining: boolean;
  drain_reason: string | null;
  drained_by: string | null;
  drained_at: Date | null;
  claim_owner: string;
  version: number;
  /** Tenants whose claims somebody else has. */
  handed_over: number;
}

export async function readControlRow(sql: Reader, tenants: TenantScope): Promise<ControlRow> {
  const [row] = await sql<ControlRow>(
    `SELECT rc.draining, rc.drain_reason, rc.drained_by, rc.drained_at, rc.claim_owner, rc.version,
            (SELECT count(*)::integer FROM (
               SELECT 1 FROM sluice.tenant t WHERE t.claim_owner <> rc.claim_owner AND t.deleted_at IS NULL
                  AND ($1::uuid[] IS NULL OR t.id = ANY ($1)) LIMIT 10000) n) AS handed_over
       FROM sluice.region_control rc`,
    [tenants],
  );
  if (row === undefined) throw new Error("the region has no control row");
  return row;
}

export interface WorkerRow {
  id: string;
  host: string;
  pid: number;
  version: string;
  state: "running" | "stopping";
  slots: number;
  in_flight: number;
  started_at: Date;
  heartbeat_at: Date;
  /** Heard of lately. */
  alive: boolean;
  /** Of all, also those that are not listed. */
  total: number;
  /** Slots of those that run and were heard of. */
  usable: number;
}

/** Those that were heard of last come first. */
export async function readWorkers(sql: Reader): Promise<WorkerRow[]> {
  return sql<WorkerRow>(
    `SELECT w.*, count(*) OVER ()::integer AS total,
            coalesce(sum(w.slots) FILTER (WHERE w.alive AND w.state = 'running') OVER (), 0)::integer AS usable
       FROM (SELECT p.id, p.host, p.pid, p.version, p.state, p.slots, p.in_flight, p.started_at, p.heartbeat_at,
                    p.heartbeat_at > clock_timestamp() - $1::integer * interval '1 millisecond' AS alive
               FROM sluice.worker_process p ORDER BY p.heartbeat_at DESC LIMIT 1000) w
      ORDER BY w.alive DESC, w.started_at DESC, w.id LIMIT ${MAX_WORKERS}`,
    [HEARTBEAT_LIMIT_MS],
  );
}

export interface LeaseRow {
  lane: Lane;
  leases: number;
  expired: number;
  last_until: Date;
}

/** Lanes without a lease have no row. */
export async function readLeases(sql: Reader, tenants: TenantScope): Promise<LeaseRow[]> {
  return sql<LeaseRow>(
    `SELECT d.lane::text AS lane, count(*)::integer AS leases,
            count(*) FILTER (WHERE d.lease_until <= clock_timestamp())::integer AS expired, max(d.lease_until) AS last_until
       FROM (SELECT l.lane, l.lease_until, l.tenant_id FROM sluice.delivery l
              WHERE l.state = 'leased' ORDER BY l.lease_until LIMIT ${MAX_LEASES}) d
      WHERE $1::uuid[] IS NULL OR d.tenant_id = ANY ($1)
      GROUP BY 1`,
    [tenants],
  );
}

export interface PartitionRow {
  parent: string;
  partitions: number;
  has_default: boolean;
  /** Estimated by the database's own statistics. */
  default_rows: number;
  /** Of yesterday, today and tomorrow, UTC. */
  missing: string[];
}

export async function readPartitions(sql: Reader): Promise<PartitionRow[]> {
  return sql<PartitionRow>(
    `SELECT p.parent,
            (SELECT count(*)::integer FROM pg_inherits i WHERE i.inhparent = to_regclass('sluice.' || p.parent)) AS partitions,
            to_regclass('sluice.' || p.parent || '_default') IS NOT NULL AS has_default,
            coalesce(pg_stat_get_live_tuples(to_regclass('sluice.' || p.parent || '_default')), 0)::integer AS default_rows,
            ARRAY(SELECT to_char(d.day, 'YYYY-MM-DD')
                    FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date + n AS day FROM generate_series(-1, 1) n) d
                   WHERE to_regclass('sluice.' || p.parent || '_' || to_char(d.day, 'YYYYMMDD')) IS NULL ORDER BY 1) AS missing
       FROM unnest(ARRAY['payload', 'attempt', 'delivery_archive']) p (parent)`,
  );
}

export interface ServerRow {
  connections: number;
  connections_max: number;
  /** Of the oldest transaction that is open in this database, this read's own left out; null when there is none. */
  oldest_transaction_ms: number | null;
}

export async function readServer(sql: Reader): Promise<ServerRow> {
  const [row] = await sql<ServerRow>(
    `SELECT count(*)::integer AS connections, current_setting('max_connections')::integer AS connections_max,
            (extract(epoch FROM clock_timestamp() - min(a.xact_start) FILTER (WHERE a.pid <> pg_backend_pid())) * 1000)::double precision
              AS oldest_transaction_ms
       FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_type = 'client backend'`,
  );
  if (row === undefined) throw new Error("an aggregate always has a row");
  return row;
}
