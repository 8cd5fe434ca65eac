/**
 * Batches that are out, batches that went without their second person, and how many wait for the caller to be it: for the
 * banners and the badge of every page. Reads only. A batch is told to those who may read every tenant of it. Nothing that is
 * out may be missing from the counts, and nothing that has ended may be read for them.
 */
import { toPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayState } from "#domain/replay.ts";
import type { Reader } from "../read-region.ts";
import { awaitingTerm, type ReplayViewer, scopeTerm } from "./replay-row.ts";
import type { ActiveBreakGlass, ActiveReplay } from "./replay-views.ts";

const MAX_ACTIVE_REPLAYS = 100;
/** People write batches, so there are never so many that wait. */
const MAX_AWAITING = 1_000;
/** How long it is told that somebody went without the second person. */
export const BREAK_GLASS_TOLD_MS = 24 * 60 * 60 * 1_000;

export interface ActiveReplays {
  /** The last started first, at most 100. */
  readonly replays: readonly ActiveReplay[];
  /** All that are out and not paused, exact. */
  readonly replaysRunning: number;
  readonly replaysPaused: number;
  /** Of the paused ones those that a stop condition paused. */
  readonly replaysAutoPaused: number;
  /** Of the last 24 hours, the newest first. */
  readonly breakGlass: readonly ActiveBreakGlass[];
  /** Under review, and the caller may be the second person. */
  readonly awaitingMe: number;
}

interface OutRow {
  id: string;
  name: string;
  state: ReplayState;
  paused_auto: boolean;
  cause: string | null;
  started_at: Date;
  items: number;
  delivered: number;
  running: number;
  paused: number;
  auto_paused: number;
}

// The terms of states repeat the partial index's own words, so that only batches that have not ended are looked at.
const AWAITING = (term: string) => `
  SELECT count(*)::integer AS n FROM (
    SELECT 1 FROM sluice.replay_batch b
     WHERE b.state NOT IN ('draft', 'completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled') AND ${term} LIMIT $1) w`;

const OUT = (term: string) => `
  SELECT o.id, o.name, o.state, o.paused_auto, CASE WHEN o.state = 'paused' THEN o.pause_cause ELSE o.stop_cause END AS cause,
         coalesce(o.started_at, o.created_at) AS started_at, n.items, n.delivered, o.running, o.paused, o.auto_paused
    FROM (SELECT b.*, count(*) FILTER (WHERE b.state <> 'paused') OVER ()::integer AS running,
                 count(*) FILTER (WHERE b.state = 'paused') OVER ()::integer AS paused,
                 count(*) FILTER (WHERE b.state = 'paused' AND b.paused_auto) OVER ()::integer AS auto_paused
            FROM sluice.replay_batch b
           WHERE b.state NOT IN ('draft', 'completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled')
             AND b.state NOT IN ('in_review', 'approved') AND ${term}
           ORDER BY b.started_at DESC, b.id LIMIT $1) o
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS items, count(*) FILTER (WHERE i.state = 'delivered')::integer AS delivered
       FROM sluice.replay_item i WHERE i.batch_id = o.id) n
   ORDER BY o.started_at DESC, o.id`;

const BROKEN = (term: string) => `
  SELECT b.id, b.name, b.break_glass_by, b.break_glass_at,
         (SELECT e.detail FROM sluice.replay_event e WHERE e.batch_id = b.id AND e.kind = 'break_glass' ORDER BY e.at DESC LIMIT 1) AS reason
    FROM sluice.replay_batch b
   WHERE b.break_glass_at > clock_timestamp() - $2::float8 * interval '1 millisecond' AND ${term}
   ORDER BY b.break_glass_at DESC, b.id LIMIT $1`;

export async function activeReplays(
  sql: Reader,
  region: Region,
  tenants: TenantScope,
  viewer: ReplayViewer,
): Promise<ActiveReplays> {
  const values: unknown[] = [MAX_ACTIVE_REPLAYS];
  const out = await sql<OutRow>(OUT(scopeTerm(tenants, (value) => `$${values.push(value)}`)), values);
  const told: unknown[] = [MAX_ACTIVE_REPLAYS, BREAK_GLASS_TOLD_MS];
  const broken = await sql<{
    id: string;
    name: string;
    break_glass_by: string;
    break_glass_at: Date;
    reason: string | null;
  }>(BROKEN(scopeTerm(tenants, (value) => `$${told.push(value)}`)), told);
  const waiting: unknown[] = [MAX_AWAITING];
  const bind = (value: unknown) => `$${waiting.push(value)}`;
  const mine = `${awaitingTerm(viewer, region, bind)} AND ${scopeTerm(tenants, bind)}`;
  const [awaiting] = await sql<{ n: number }>(AWAITING(mine), waiting);
  const [first] = out;
  return {
    replays: out.map((row) => ({
      id: toPublicId("rpl", row.id),
      name: row.name,
      region,
      state: row.state,
      pausedBy: row.state !== "paused" ? null : row.paused_auto ? "auto" : "person",
      cause: row.cause,
      since: row.started_at.toISOString(),
      items: row.items,
      delivered: row.delivered,
    })),
    replaysRunning: first?.running ?? 0,
    replaysPaused: first?.paused ?? 0,
    replaysAutoPaused: first?.auto_paused ?? 0,
    breakGlass: broken.map((row) => ({
      id: toPublicId("rpl", row.id),
      name: row.name,
      by: row.break_glass_by,
      reason: row.reason,
      at: row.break_glass_at.toISOString(),
      until: new Date(row.break_glass_at.getTime() + BREAK_GLASS_TOLD_MS).toISOString(),
    })),
    awaitingMe: awaiting?.n ?? 0,
  };
}
