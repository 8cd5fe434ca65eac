/**
 * The dead letters of a region by cause, the cause with the newest entry first, so that hundreds of unreadable bodies and
 * one destination that is down look different. Everything in it is of the tenants that the caller may see; nothing here
 * changes or removes anything.
 */

import type { GroupState } from "#domain/dead-letter-group.ts";
import { DEAD_CLASSES, type DeadClass, type DeadReason } from "#domain/delivery.ts";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type Position, readTimedCursor, writeCursor } from "./cursor.ts";
import { type CauseCounts, countCauses, countLimitOf } from "./dead-letter-groups-counts.ts";
import { type Cause, MAX_CAUSES, walkCauses } from "./dead-letter-groups-walk.ts";
import { type CauseFilter, filterTerms, matches } from "./dead-letter-terms.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

/** Of its cursors. */
const LIST = "dead-letter-groups";
/** Causes that an export asks for at a time. */
export const MAX_EXPORT_PAGE_CAUSES = 100;
/** Entries by class are counted up to this, all classes together. */
export const CLASS_COUNT_LIMIT = 10_000;

export interface GroupFilter extends CauseFilter {
  region: Region;
  status?: GroupState | undefined;
  /** A name as it was assigned, or `nobody`. */
  assignee?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface DeadLetterGroupRow extends CauseCounts {
  /** `dlg_...` */
  id: string;
  /** Tells causes of one reason, code and destination apart: the end of the fingerprint. */
  tag: string;
  reason: DeadReason;
  reasonClass: DeadClass;
  lastStatus: number | null;
  lastOutcome: string | null;
  lastSeenAt: string;
  state: GroupState;
  /** Who gave it its state; null while nobody has. */
  stateBy: string | null;
  stateAt: string | null;
  assignee: string | null;
  noted: boolean;
  version: number;
}

export interface ClassTotal {
  reasonClass: DeadClass;
  /** Among the causes of the filter, its class apart. */
  causes: number;
  /** Entries of tenant and destination of the filter. */
  entries: number;
}

export interface DeadLetterGroupPage {
  rows: DeadLetterGroupRow[];
  next: string | null;
  /** One for each class, also those without any. */
  classes: ClassTotal[];
  /** The entries of `classes` are only the first CLASS_COUNT_LIMIT. */
  entriesMore: boolean;
  /** Causes that match. */
  causes: number;
  /** There are more causes than were looked at: narrow the filter. */
  truncated: boolean;
  causesLimit: number;
  /** When the latest one of the region and the scope died, whatever the filter; null when there is none. */
  latestDiedAt: string | null;
}

/** @throws SluiceError `not_found` for a region outside the scope, `bad_cursor`, `bad_id`. */
export async function listDeadLetterGroups(
  access: AccessScope,
  filter: GroupFilter,
): Promise<RegionAnswer<DeadLetterGroupPage>> {
  const tenants = tenantsIn(access, filter.region);
  const from = filter.cursor === undefined ? null : readTimedCursor(LIST, filter.cursor);
  return readRegion(filter.region, async (sql, asOf) => {
    const { causes, truncated } = await walkCauses(sql, tenants, filter.tenant);
    const unclassed = causes.filter((cause) => fits(cause, { ...filter, cause: undefined }));
    const fitting = filter.cause === undefined ? unclassed : unclassed.filter((cause) => fits(cause, filter));
    const rest = from === null ? fitting : fitting.filter((cause) => isAfter(cause, from));
    const page = rest.slice(0, filter.limit);
    const counts = await countCauses(sql, page, tenants, asOf, countLimitOf(page.length));
    const last = page.at(-1);
    return {
      rows: page.flatMap((cause) => toRow(cause, counts.get(cause.fingerprint))),
      next: rest.length > page.length && last ? writeCursor(LIST, positionOf(last)) : null,
      ...(await classTotals(sql, tenants, filter, unclassed)),
      causes: fitting.length,
      truncated,
      causesLimit: MAX_CAUSES,
      latestDiedAt: await latestDeath(sql, tenants),
    };
  });
}

function fits(cause: Cause, filter: GroupFilter): boolean {
  if (filter.status !== undefined && cause.state !== filter.status) return false;
  if (filter.assignee === "nobody" && cause.assignee !== null) return false;
  if (filter.assignee !== undefined && filter.assignee !== "nobody" && cause.assignee !== filter.assignee) {
    return false;
  }
  return matches(cause.newest, filter);
}

function positionOf(cause: Cause): Position {
  return { id: cause.groupId, at: cause.newest.position };
}

/** Texts of one width sort like their moments. */
function isAfter(cause: Cause, { id, at }: Required<Position>): boolean {
  const { position } = cause.newest;
  return position === at ? cause.groupId > id : position < at;
}

/** A cause whose entries have gone between two statements does not happen in one snapshot; it would only be left out. */
function toRow(cause: Cause, counts: CauseCounts | undefined): DeadLetterGroupRow[] {
  return counts === undefined ? [] : [groupRow(cause, counts)];
}

/** One cause with its numbers, as lists and panels show it. */
export function groupRow(cause: Cause, counts: CauseCounts): DeadLetterGroupRow {
  const { newest } = cause;
  return {
    ...counts,
    id: toPublicId("dlg", cause.groupId),
    tag: cause.fingerprint.slice(-6),
    reason: newest.reason,
    reasonClass: newest.reasonClass,
    lastStatus: newest.lastStatus,
    lastOutcome: newest.lastOutcome,
    lastSeenAt: newest.diedAt.toISOString(),
    state: cause.state,
    stateBy: cause.stateBy,
    stateAt: cause.stateAt?.toISOString() ?? null,
    assignee: cause.assignee,
    noted: cause.noted,
    version: cause.version,
  };
}

async function classTotals(
  sql: Reader,
  tenants: TenantScope,
  { tenant, destination }: GroupFilter,
  causes: readonly Cause[],
): Promise<Pick<DeadLetterGroupPage, "classes" | "entriesMore">> {
  const values: unknown[] = [CLASS_COUNT_LIMIT + 1, tenants];
  const terms = filterTerms({ tenant, destination }, (value) => `$${values.push(value)}`);
  const rows = await sql<{ reason_class: DeadClass; n: number }>(
    `SELECT r.reason_class, count(*)::integer AS n
       FROM (SELECT d.reason_class FROM sluice.dead_letter d
              WHERE ${["($2::uuid[] IS NULL OR d.tenant_id = ANY ($2))", ...terms].join(" AND ")} LIMIT $1::integer) r
      GROUP BY 1`,
    values,
  );
  const total = rows.reduce((sum, { n }) => sum + n, 0);
  return {
    classes: DEAD_CLASSES.map((reasonClass) => ({
      reasonClass,
      causes: causes.filter(({ newest }) => newest.reasonClass === reasonClass).length,
      entries: rows.find((row) => row.reason_class === reasonClass)?.n ?? 0,
    })),
    entriesMore: total > CLASS_COUNT_LIMIT,
  };
}

/** When the newest entry of the scope died. */
export async function latestDeath(sql: Reader, tenants: TenantScope): Promise<string | null> {
  const [latest] = await sql<{ died_at: Date }>(
    `SELECT died_at FROM sluice.dead_letter WHERE $1::uuid[] IS NULL OR tenant_id = ANY ($1)
      ORDER BY died_at DESC, id LIMIT 1`,
    [tenants],
  );
  return latest?.died_at.toISOString() ?? null;
}
