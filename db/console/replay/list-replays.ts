/**
 * Replay batches of a region, newest first, and how many stand in each tab. Reads only. A batch is shown to those who may
 * read every tenant that it touches, and to nobody else; what lies outside is in no row and no count.
 */
import { type AccessScope, regionsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayState } from "#domain/replay.ts";
import { type ReplayTab, TAB_STATES } from "#domain/replay-tabs.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { type RegionAnswer, readRegion } from "../read-region.ts";
import {
  awaitingTerm,
  type BatchRow,
  NOBODY,
  type ReplayViewer,
  ROW_COLUMNS,
  ROW_JOINS,
  scopeTerm,
  toReplayRow,
} from "./replay-row.ts";
import type { ReplayPage, ReplaySummary, ReplaySummaryAnswer } from "./replay-views.ts";

/** Of its cursors. */
const LIST = "replays";

export interface ReplayFilter {
  region: Region;
  tab?: ReplayTab | undefined;
  state?: ReplayState | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** @throws SluiceError `not_found` for a region outside the scope, `bad_cursor` */
export async function listReplays(
  access: AccessScope,
  filter: ReplayFilter,
  viewer: ReplayViewer = NOBODY,
): Promise<RegionAnswer<ReplayPage>> {
  const { region } = filter;
  const tenants = tenantsIn(access, region);
  const values: unknown[] = [filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = [scopeTerm(tenants, bind)];
  if (filter.state !== undefined) terms.push(`b.state = ${bind(filter.state)}`);
  if (filter.tab !== undefined) terms.push(`b.state = ANY (${bind(TAB_STATES[filter.tab])}::text[])`);
  // The ids are of UUIDv7: their order is that of the creation.
  if (filter.cursor !== undefined) terms.push(`b.id < ${bind(readCursor(LIST, filter.cursor).id)}::uuid`);
  // The page first: the numbers are of its batches only.
  const text = `
    SELECT ${ROW_COLUMNS}
      FROM (SELECT b.* FROM sluice.replay_batch b WHERE ${terms.join(" AND ")} ORDER BY b.id DESC LIMIT $1) b ${ROW_JOINS}
     ORDER BY b.id DESC`;
  return readRegion(region, async (sql) => {
    const found = await sql<BatchRow>(text, values);
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map((row) => toReplayRow(row, region, viewer)),
      next: found.length > filter.limit && last ? writeCursor(LIST, { id: last.id }) : null,
    };
  });
}

const MAX_FINISHED = 1_000;
/** Batches that have not ended; people make them, so there are never so many. */
const MAX_OPEN = 10_000;

/** Asks the given regions, or all in scope. @throws SluiceError `not_found` for a region outside the scope */
export async function readReplaySummary(
  access: AccessScope,
  viewer: ReplayViewer,
  regions?: readonly Region[],
): Promise<ReplaySummaryAnswer> {
  const asked = regions ?? regionsOf(access);
  for (const region of asked) tenantsIn(access, region);
  return { regions: await Promise.all(asked.map((region) => summarize(access, region, viewer))) };
}

interface OpenCounts {
  needs_review: number;
  awaiting: number;
  running: number;
  auto_paused: number;
  drafts: number;
}

function summarize(
  access: AccessScope,
  region: Region,
  viewer: ReplayViewer,
): Promise<RegionAnswer<ReplaySummary>> {
  const tenants = tenantsIn(access, region);
  const values: unknown[] = [TAB_STATES.running, TAB_STATES.finished];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const term = scopeTerm(tenants, bind);
  const open = `
    SELECT count(*) FILTER (WHERE b.state = 'in_review')::integer AS needs_review,
           count(*) FILTER (WHERE ${awaitingTerm(viewer, region, bind)})::integer AS awaiting,
           count(*) FILTER (WHERE b.state = ANY ($1::text[]))::integer AS running,
           count(*) FILTER (WHERE b.state = 'paused' AND b.paused_auto)::integer AS auto_paused,
           count(*) FILTER (WHERE b.state = 'draft')::integer AS drafts
      FROM (SELECT * FROM sluice.replay_batch b WHERE NOT b.state = ANY ($2::text[]) AND ${term} LIMIT ${MAX_OPEN}) b`;
  const ended: unknown[] = [TAB_STATES.finished];
  const endedTerm = scopeTerm(tenants, (value) => `$${ended.push(value)}`);
  return readRegion(region, async (sql) => {
    const [counts] = await sql<OpenCounts>(open, values);
    const [finished] = await sql<{ n: number }>(
      `SELECT count(*)::integer AS n FROM (
         SELECT 1 FROM sluice.replay_batch b WHERE b.state = ANY ($1::text[]) AND ${endedTerm} LIMIT ${MAX_FINISHED + 1}) b`,
      ended,
    );
    const n = finished?.n ?? 0;
    return {
      needsReview: counts?.needs_review ?? 0,
      awaitingMe: counts?.awaiting ?? 0,
      running: counts?.running ?? 0,
      autoPaused: counts?.auto_paused ?? 0,
      drafts: counts?.drafts ?? 0,
      finished: Math.min(n, MAX_FINISHED),
      finishedMore: n > MAX_FINISHED,
    };
  });
}
