/**
 * How far a drain has come, and the proof that it has ended: claims are stopped, the barrier was passed, and then no
 * lease is left. It must never call a region drained by anything but that count.
 */
import type { Region } from "#domain/region.ts";
import { HEARTBEAT_LIMIT_MS } from "../objectives.ts";
import { type CommandContext, passBarrier } from "./run-command.ts";

export interface DrainStatus {
  readonly region: Region;
  /** The database's time of the count, UTC. */
  readonly asOf: string;
  readonly claims: "on" | "stopped";
  readonly reason: string | null;
  readonly stoppedBy: string | null;
  readonly stoppedAt: string | null;
  readonly version: number;
  /** Deliveries under a lease, those included whose lease has ended but was not taken back yet. */
  readonly leases: number;
  /** Of those: leases whose time is over. A living worker takes them back within seconds. */
  readonly expiredLeases: number;
  /** When the last lease ends by itself; null when there is none. */
  readonly lastLeaseUntil: string | null;
  /** Processes with a fresh heartbeat. */
  readonly workers: number;
  /**
   * True: claims were stopped and not one lease was left at `asOf`, counted after the barrier. Nothing of this region is
   * being sent, and nothing will be until claims are started.
   */
  readonly drained: boolean;
}

interface StatusRow {
  as_of: Date;
  draining: boolean;
  drain_reason: string | null;
  drained_by: string | null;
  drained_at: Date | null;
  version: number;
  leases: number;
  expired: number;
  last_until: Date | null;
  workers: number;
}

const STATUS = `
  SELECT clock_timestamp() AS as_of, rc.draining, rc.drain_reason, rc.drained_by, rc.drained_at, rc.version, l.leases, l.expired, l.last_until,
         (SELECT count(*)::integer FROM sluice.worker_process
           WHERE heartbeat_at > clock_timestamp() - $1::float8 * interval '1 millisecond') AS workers
    FROM sluice.region_control rc
   CROSS JOIN (SELECT count(*)::integer AS leases, count(*) FILTER (WHERE d.lease_until <= clock_timestamp())::integer AS expired,
                      max(d.lease_until) AS last_until
                 FROM sluice.delivery d WHERE d.state = 'leased') l`;

/** Counts, after a barrier. Reads only. */
export async function drainStatus(context: Pick<CommandContext, "region" | "pool">): Promise<DrainStatus> {
  const passed = await passBarrier(context.pool);
  // A new statement, whose snapshot sees every claim that committed before the barrier.
  const { rows } = await context.pool.query<StatusRow>(STATUS, [HEARTBEAT_LIMIT_MS]);
  const row = rows[0];
  if (row === undefined) throw new Error("the region has no control row");
  return {
    region: context.region,
    asOf: row.as_of.toISOString(),
    claims: row.draining ? "stopped" : "on",
    reason: row.drain_reason,
    stoppedBy: row.drained_by,
    stoppedAt: row.drained_at?.toISOString() ?? null,
    version: row.version,
    leases: row.leases,
    expiredLeases: row.expired,
    lastLeaseUntil: row.last_until?.toISOString() ?? null,
    workers: row.workers,
    drained: passed && row.draining && row.leases === 0,
  };
}
