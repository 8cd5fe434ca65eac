/**
 * The causes of a region's dead letters, each with its newest entry and the state that people gave it. A cause costs one
 * step of an index, however many entries it has; it must never count entries, which is for the page that is shown.
 */

import { type GroupState, groupStateOf } from "#domain/dead-letter-group.ts";
import type { DeadClass, DeadReason } from "#domain/delivery.ts";
import { fromPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";
import { intersectTenants } from "./dead-letter-terms.ts";
import type { Reader } from "./read-region.ts";

/** Most causes of one read. With more, those with the newest entries are among them, and the answer says so. */
export const MAX_CAUSES = 2_000;
/** Newest entries whose causes are looked at when there are more causes than that. */
const MAX_RECENT_ROWS = 2_000;

/** One cause. Times are milliseconds since 1970. */
export interface Cause {
  /** UUID of the group's row. */
  readonly groupId: string;
  readonly fingerprint: string;
  readonly state: GroupState;
  readonly stateBy: string | null;
  readonly stateAt: Date | null;
  readonly assignee: string | null;
  readonly noted: boolean;
  readonly version: number;
  /** The newest entry that the caller may see stands for all: they share reason, code and destination. */
  readonly newest: NewestEntry;
}

export interface NewestEntry {
  readonly id: string;
  readonly diedAt: Date;
  /** With microseconds, which a JavaScript date would cut. */
  readonly position: string;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly reason: DeadReason;
  readonly reasonClass: DeadClass;
  readonly lastStatus: number | null;
  readonly lastOutcome: string | null;
}

export interface Causes {
  /** Newest entry first. */
  readonly causes: Cause[];
  /** There are more than MAX_CAUSES. */
  readonly truncated: boolean;
}

/**
 * All causes that the caller may see, of one tenant where one is named. `tenant` is a slug or `ten_...`; one that does
 * not exist or lies outside has no causes.
 */
export async function walkCauses(
  sql: Reader,
  scope: TenantScope,
  tenant: string | undefined,
): Promise<Causes> {
  const tenants = await narrow(sql, scope, tenant);
  if (tenants !== null && tenants.length === 0) return { causes: [], truncated: false };
  const rows = await sql<CauseRow>(tenants === null ? ALL : OF_TENANTS, [tenants, MAX_CAUSES + 1]);
  const truncated = rows.length > MAX_CAUSES;
  if (truncated) rows.push(...(await sql<CauseRow>(RECENT, [tenants, MAX_RECENT_ROWS])));
  const newest = new Map<string, CauseRow>();
  for (const row of rows) {
    const before = newest.get(row.fingerprint);
    if (before === undefined || isNewer(row, before)) newest.set(row.fingerprint, row);
  }
  return { causes: [...newest.values()].sort((a, b) => (isNewer(a, b) ? -1 : 1)).map(toCause), truncated };
}

/** One cause by its group, or null when it has no entry that the caller may see. */
export async function readCause(sql: Reader, tenants: TenantScope, groupId: string): Promise<Cause | null> {
  const [row] = await sql<CauseRow>(ONE, [tenants, groupId]);
  return row === undefined ? null : toCause(row);
}

/** The causes are read with their newest entry under this scope; a narrower one has fewer. */
async function narrow(sql: Reader, scope: TenantScope, tenant: string | undefined): Promise<TenantScope> {
  if (tenant === undefined) return scope;
  const id = tenant.startsWith("ten_")
    ? fromPublicId("ten", tenant)
    : (await sql<{ id: string }>("SELECT id FROM sluice.tenant WHERE slug = $1 LIMIT 1", [tenant]))[0]?.id;
  return intersectTenants(scope, id === undefined ? [] : [id]);
}

const ENTRY =
  "d.fingerprint, d.died_at, d.id, d.tenant_id, d.destination_id, d.reason, d.reason_class, d.last_status, d.last_outcome";

/** The state of each walked cause, and the first entry after it was called resolved. `$1` the tenants, null: all. */
const WITH_STATE = `
  SELECT w.fingerprint, w.died_at, to_char(w.died_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position,
         w.id, w.tenant_id, w.destination_id, w.reason, w.reason_class, w.last_status, w.last_outcome,
         g.id AS group_id, g.state, g.state_by, g.state_at, g.assignee, g.note IS NOT NULL AS noted, g.version,
         g.resolved_at, a.died_at AS first_after,
         EXISTS (SELECT 1 FROM sluice.replay_item i
                  WHERE i.fingerprint = g.fingerprint AND i.state IN ('frozen', 'released') AND ($1::uuid[] IS NULL OR i.tenant_id = ANY ($1)))
           AS replaying
    FROM walk w
    JOIN sluice.dead_letter_group g ON g.fingerprint = w.fingerprint
    LEFT JOIN LATERAL (
      SELECT d.died_at FROM sluice.dead_letter d
       WHERE d.fingerprint = g.fingerprint AND d.died_at > g.resolved_at AND ($1::uuid[] IS NULL OR d.tenant_id = ANY ($1))
       ORDER BY d.died_at LIMIT 1) a ON true`;

/** From one fingerprint to the next: the first entry of each is its newest. */
const ALL = `
  WITH RECURSIVE walk AS (
    (SELECT ${ENTRY}, 1 AS step FROM sluice.dead_letter d ORDER BY d.fingerprint, d.died_at DESC, d.id LIMIT 1)
    UNION ALL
    SELECT n.*, w.step + 1 FROM walk w CROSS JOIN LATERAL (
      SELECT ${ENTRY} FROM sluice.dead_letter d
       WHERE d.fingerprint > w.fingerprint ORDER BY d.fingerprint, d.died_at DESC, d.id LIMIT 1) n
     WHERE w.step < $2::integer)
  ${WITH_STATE}`;

const OF_TENANTS = `
  WITH walk AS (
    SELECT n.* FROM unnest($1::uuid[]) AS t (tenant_id) CROSS JOIN LATERAL (
      WITH RECURSIVE own AS (
        (SELECT ${ENTRY}, 1 AS step FROM sluice.dead_letter d
          WHERE d.tenant_id = t.tenant_id ORDER BY d.fingerprint, d.died_at DESC, d.id LIMIT 1)
        UNION ALL
        SELECT n.*, o.step + 1 FROM own o CROSS JOIN LATERAL (
          SELECT ${ENTRY} FROM sluice.dead_letter d
           WHERE d.tenant_id = t.tenant_id AND d.fingerprint > o.fingerprint
           ORDER BY d.fingerprint, d.died_at DESC, d.id LIMIT 1) n
         WHERE o.step < $2::integer)
      SELECT * FROM own) n
    LIMIT $2::integer)
  ${WITH_STATE}`;

const RECENT = `
  WITH walk AS (
    SELECT DISTINCT ON (r.fingerprint) r.* FROM (
      SELECT ${ENTRY} FROM sluice.dead_letter d WHERE $1::uuid[] IS NULL OR d.tenant_id = ANY ($1)
       ORDER BY d.died_at DESC, d.id LIMIT $2::integer) r
     ORDER BY r.fingerprint, r.died_at DESC, r.id)
  ${WITH_STATE}`;

const ONE = `
  WITH walk AS (
    SELECT ${ENTRY} FROM sluice.dead_letter d
     WHERE d.fingerprint = (SELECT fingerprint FROM sluice.dead_letter_group WHERE id = $2::uuid)
       AND ($1::uuid[] IS NULL OR d.tenant_id = ANY ($1))
     ORDER BY d.died_at DESC, d.id LIMIT 1)
  ${WITH_STATE}`;

interface CauseRow {
  fingerprint: string;
  died_at: Date;
  position: string;
  id: string;
  tenant_id: string;
  destination_id: string;
  reason: DeadReason;
  reason_class: DeadClass;
  last_status: number | null;
  last_outcome: string | null;
  group_id: string;
  state: GroupState;
  state_by: string | null;
  state_at: Date | null;
  assignee: string | null;
  noted: boolean;
  version: number;
  resolved_at: Date | null;
  first_after: Date | null;
  replaying: boolean;
}

/** Texts of one width sort like their moments; the group's id makes the order total, also for a cursor. */
function isNewer(a: CauseRow, b: CauseRow): boolean {
  if (a.position !== b.position) return a.position > b.position;
  return a.group_id < b.group_id;
}

function toCause(row: CauseRow): Cause {
  return {
    groupId: row.group_id,
    fingerprint: row.fingerprint,
    state: groupStateOf({
      stored: row.state,
      resolvedMs: row.resolved_at?.getTime() ?? null,
      firstAfterMs: row.first_after?.getTime() ?? null,
      isReplaying: row.replaying,
    }),
    stateBy: row.state_by,
    stateAt: row.state_at,
    assignee: row.assignee,
    noted: row.noted,
    version: row.version,
    newest: {
      id: row.id,
      diedAt: row.died_at,
      position: row.position,
      tenantId: row.tenant_id,
      destinationId: row.destination_id,
      reason: row.reason,
      reasonClass: row.reason_class,
      lastStatus: row.last_status,
      lastOutcome: row.last_outcome,
    },
  };
}
