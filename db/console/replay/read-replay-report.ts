/**
 * What came of a replay batch. The numbers add up to the frozen total, because they are the items themselves. Reads only; an
 * ended batch cannot change, so neither can its report.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayCounts } from "#domain/replay.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import { eventsOf } from "./read-replay.ts";
import { familyOf } from "./replay-links.ts";
import {
  type BatchRow,
  NOBODY,
  ROW_COLUMNS,
  ROW_JOINS,
  scopeTerm,
  toReplayRow,
  wholeCounts,
} from "./replay-row.ts";
import type { ReplayReport } from "./replay-views.ts";

type ReportRow = BatchRow & {
  frozen_sha256: Buffer | null;
  root_cause: string | null;
  fix_url: string | null;
  policy_version: number;
  submitted_at: Date | null;
  approved_at: Date | null;
};

const STOPS =
  "(e.kind IN ('auto_pause', 'pause', 'stop', 'resume', 'lane_stopped', 'lane_held', 'gave_up', 'expire') OR e.to_state IN ('stopping', 'stopped', 'failed'))";

/** Null when there is no such batch in the scope. @throws SluiceError `not_found` for a region outside it, `bad_id` */
export async function readReplayReport(
  access: AccessScope,
  region: Region,
  batchId: string,
): Promise<RegionAnswer<ReplayReport | null>> {
  const tenants = tenantsIn(access, region);
  const id = fromPublicId("rpl", batchId);
  return readRegion(region, async (sql) => {
    const values: unknown[] = [id];
    const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
    const [found] = await sql<ReportRow>(
      `SELECT ${ROW_COLUMNS}, b.frozen_sha256, b.root_cause, b.fix_url, b.policy_version, b.submitted_at, b.approved_at
         FROM (SELECT b.* FROM sluice.replay_batch b WHERE b.id = $1 AND ${term}) b ${ROW_JOINS}`,
      values,
    );
    if (found === undefined) return null;
    const row = toReplayRow(found, region, NOBODY);
    const { parent: _parent, ...family } = await familyOf(sql, found, tenants);
    const { requests, deliveries } = await requestsOf(sql, id);
    const { counts } = row;
    return {
      id: row.id,
      name: row.name,
      state: row.state,
      sha256: found.frozen_sha256?.toString("hex") ?? null,
      total: row.items,
      counts,
      byDestination: await byDestination(sql, id),
      byReason: await byReason(sql, id),
      amplification: deliveries === 0 ? null : requests / deliveries,
      requests,
      durationMs: durationOf(found),
      people: {
        requestedBy: row.requestedBy,
        editors: found.editors,
        approvedBy: row.approvedBy,
        breakGlassBy: row.breakGlassBy,
      },
      stops: await eventsOf(sql, id, STOPS),
      createdAt: row.createdAt,
      startedAt: row.startedAt,
      endedAt: row.endedAt,
      cause: row.cause,
      left: counts.selected + counts.frozen + counts.recalled + counts.not_released,
      reason: row.reason,
      ticket: row.ticket,
      rootCause: found.root_cause,
      fixUrl: found.fix_url,
      parentId: row.parentId,
      ...family,
      policyVersion: found.policy_version,
      timings: await timingsOf(sql, found),
    };
  });
}

async function timingsOf(sql: Reader, row: ReportRow): Promise<ReplayReport["timings"]> {
  const [canary] = await sql<{ at: Date | null }>(
    "SELECT max(e.at) AS at FROM sluice.replay_event e WHERE e.batch_id = $1 AND e.kind = 'canary_done'",
    [row.id],
  );
  const iso = (at: Date | null | undefined) => at?.toISOString() ?? null;
  return {
    createdAt: row.created_at.toISOString(),
    submittedAt: iso(row.submitted_at),
    approvedAt: iso(row.approved_at),
    startedAt: iso(row.started_at),
    canaryEndedAt: iso(canary?.at),
    endedAt: iso(row.ended_at),
  };
}

function durationOf({ started_at, ended_at }: ReportRow): number | null {
  return started_at === null || ended_at === null ? null : ended_at.getTime() - started_at.getTime();
}

async function requestsOf(sql: Reader, id: string): Promise<{ requests: number; deliveries: number }> {
  const [row] = await sql<{ requests: number; deliveries: number }>(
    `SELECT count(*)::integer AS requests, count(DISTINCT a.delivery_id)::integer AS deliveries FROM sluice.attempt a
      WHERE a.replay_batch_id = $1 AND a.kind = 'http' AND a.started_at >= (SELECT b.created_at FROM sluice.replay_batch b WHERE b.id = $1)`,
    [id],
  );
  return row ?? { requests: 0, deliveries: 0 };
}

async function byDestination(sql: Reader, id: string): Promise<ReplayReport["byDestination"]> {
  const rows = await sql<{
    destination_id: string;
    name: string | null;
    counts: Partial<ReplayCounts>;
    stop_text: string | null;
  }>(
    `SELECT g.destination_id, x.name, g.counts, l.stop_text
       FROM (SELECT c.destination_id, jsonb_object_agg(c.state, c.n) AS counts FROM (
               SELECT i.destination_id, i.state, count(*)::integer AS n FROM sluice.replay_item i WHERE i.batch_id = $1 GROUP BY 1, 2) c GROUP BY 1) g
       LEFT JOIN sluice.destination x ON x.id = g.destination_id
       LEFT JOIN sluice.replay_lane l ON l.batch_id = $1 AND l.destination_id = g.destination_id
      ORDER BY g.destination_id LIMIT 5000`,
    [id],
  );
  return rows.map((row) => ({
    destinationId: toPublicId("dst", row.destination_id),
    destinationName: row.name,
    counts: wholeCounts(row.counts),
    stopText: row.stop_text,
  }));
}

async function byReason(sql: Reader, id: string): Promise<ReplayReport["byReason"]> {
  const rows = await sql<{ reason: string; counts: Partial<ReplayCounts> }>(
    `SELECT c.reason, jsonb_object_agg(c.state, c.n) AS counts FROM (
       SELECT coalesce(i.reason, 'unknown') AS reason, i.state, count(*)::integer AS n FROM sluice.replay_item i WHERE i.batch_id = $1 GROUP BY 1, 2) c
      GROUP BY 1 ORDER BY 1 LIMIT 100`,
    [id],
  );
  return rows.map(({ reason, counts }) => ({ reason, counts: wholeCounts(counts) }));
}
