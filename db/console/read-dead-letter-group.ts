/**
 * One cause of dead letters: its numbers, whom it hits, its newest entries, what people wrote and did about it, and what
 * the caller may do. All of the tenants that the caller may see; a note that was written about others too is kept back.
 */
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type Grant, permitsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { Permits } from "./control-views.ts";
import { COUNT_LIMIT, countCauses } from "./dead-letter-groups-counts.ts";
import { readCause } from "./dead-letter-groups-walk.ts";
import { type DeadLetterGroupRow, groupRow } from "./list-dead-letter-groups.ts";
import { type DeadLetterRow, readSampleEntries } from "./list-dead-letters.ts";
import { type DestinationName, hostOf, type TenantName } from "./names.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

export const SAMPLE_ROWS = 10;
/** Tenants and destinations with the most entries. */
export const MAX_SHARES = 20;
export const MAX_HISTORY_ROWS = 20;

export interface TenantShare {
  tenant: TenantName;
  destination: DestinationName;
  entries: number;
  /** What the destination said to all of its requests of the last hour: whether other bodies succeed. */
  lastHour: { requests: number; delivered: number };
}

/** What somebody did about the cause. */
export interface GroupEvent {
  /** `aud_...` */
  id: string;
  at: string;
  actor: string;
  action: string;
  reason: string;
  ticket: string | null;
}

export interface DeadLetterGroupView extends DeadLetterGroupRow {
  /** Null: none, or `noteHidden`. */
  note: string | null;
  /** There is one, but the cause also holds entries of tenants outside the caller's scope. */
  noteHidden: boolean;
  resolvedAt: string | null;
  countLimit: number;
  shares: TenantShare[];
  /** Newest first. */
  samples: DeadLetterRow[];
  history: GroupEvent[];
  /** dead_letter_triage, will_not_replay. */
  permit: Permits;
}

/**
 * @param grants of the caller: what they may do is told from them, as the commands do
 * @param id `dlg_...`
 * @throws SluiceError `not_found` also when none of its entries is of the caller's tenants, `bad_id`
 */
export async function readDeadLetterGroup(
  access: AccessScope,
  grants: readonly Grant[],
  { region, id }: { region: Region; id: string },
): Promise<RegionAnswer<DeadLetterGroupView>> {
  const tenants = tenantsIn(access, region);
  const groupId = fromPublicId("dlg", id);
  return readRegion(region, async (sql, asOf) => {
    const cause = await readCause(sql, tenants, groupId);
    const counts =
      cause && (await countCauses(sql, [cause], tenants, asOf, COUNT_LIMIT)).get(cause.fingerprint);
    if (!cause || !counts) throw new SluiceError("not_found", `There is no cause ${id} in your scope.`);
    const { fingerprint } = cause;
    const facts = await readNote(sql, groupId);
    const shared = await hasForeign(sql, fingerprint, tenants);
    // A decision about a cause is one about all of its entries: of several tenants, it is one about the region.
    const alone = !(await hasForeign(sql, fingerprint, [cause.newest.tenantId]));
    const tenantId = alone ? cause.newest.tenantId : null;
    return {
      ...groupRow(cause, counts),
      note: shared ? null : facts.note,
      noteHidden: shared && facts.note !== null,
      resolvedAt: facts.resolved_at?.toISOString() ?? null,
      countLimit: COUNT_LIMIT,
      shares: await readShares(sql, fingerprint, tenants, asOf),
      samples: await readSampleEntries(sql, tenants, { region, group: id, limit: SAMPLE_ROWS }),
      history: shared ? [] : await readHistory(sql, id),
      permit: permitsOf(grants, ["dead_letter_triage", "will_not_replay"], { region, tenantId }),
    };
  });
}

async function readNote(
  sql: Reader,
  groupId: string,
): Promise<{ note: string | null; resolved_at: Date | null }> {
  const [row] = await sql<{ note: string | null; resolved_at: Date | null }>(
    "SELECT note, resolved_at FROM sluice.dead_letter_group WHERE id = $1",
    [groupId],
  );
  return row ?? { note: null, resolved_at: null };
}

/** True when the cause has entries of tenants outside the scope. */
async function hasForeign(sql: Reader, fingerprint: string, tenants: TenantScope): Promise<boolean> {
  if (tenants === null) return false;
  const rows = await sql(
    "SELECT 1 FROM sluice.dead_letter WHERE fingerprint = $1 AND NOT tenant_id = ANY ($2::uuid[]) LIMIT 1",
    [fingerprint, tenants],
  );
  return rows.length > 0;
}

interface ShareRow {
  tenant_id: string;
  tenant_slug: string | null;
  tenant_name: string | null;
  destination_id: string;
  destination_name: string | null;
  destination_url: string | null;
  n: number;
  requests: number;
  delivered: number;
}

async function readShares(
  sql: Reader,
  fingerprint: string,
  tenants: TenantScope,
  asOf: Date,
): Promise<TenantShare[]> {
  const rows = await sql<ShareRow>(
    `SELECT d.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name, d.destination_id, x.name AS destination_name,
            x.url AS destination_url, d.n, coalesce(m.requests, 0)::integer AS requests, coalesce(m.delivered, 0)::integer AS delivered
       FROM (SELECT r.tenant_id, r.destination_id, count(*)::integer AS n
               FROM (SELECT l.tenant_id, l.destination_id FROM sluice.dead_letter l
                      WHERE l.fingerprint = $1 AND ($2::uuid[] IS NULL OR l.tenant_id = ANY ($2))
                      ORDER BY l.died_at DESC, l.id LIMIT ${COUNT_LIMIT}) r
              GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT ${MAX_SHARES}) d
       LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
       LEFT JOIN sluice.destination x ON x.id = d.destination_id
       LEFT JOIN LATERAL (
         SELECT sum(m.requests) AS requests, sum(m.delivered) AS delivered FROM sluice.series_minute m
          WHERE m.destination_id = d.destination_id AND m.minute > $3::timestamptz - interval '1 hour') m ON true
      ORDER BY d.n DESC, d.tenant_id, d.destination_id`,
    [fingerprint, tenants, asOf],
  );
  return rows.map((row) => {
    const tenantId = toPublicId("ten", row.tenant_id);
    return {
      tenant: { id: tenantId, slug: row.tenant_slug ?? tenantId, name: row.tenant_name ?? "Deleted tenant" },
      destination: {
        id: toPublicId("dst", row.destination_id),
        name: row.destination_name ?? "Deleted destination",
        host: hostOf(row.destination_url),
      },
      entries: row.n,
      lastHour: { requests: row.requests, delivered: row.delivered },
    };
  });
}

interface EventRow {
  id: string;
  at: Date;
  actor: string;
  action: string;
  reason: string;
  ticket: string | null;
}

async function readHistory(sql: Reader, id: string): Promise<GroupEvent[]> {
  const rows = await sql<EventRow>(
    `SELECT id, at, actor, action, reason, ticket FROM sluice.operator_action
      WHERE target_id = $1 AND result = 'done' ORDER BY at DESC, id LIMIT ${MAX_HISTORY_ROWS}`,
    [id],
  );
  return rows.map((row) => ({ ...row, id: toPublicId("aud", row.id), at: row.at.toISOString() }));
}
