/**
 * Everything that is held back on purpose in a region, with who or what did it, when, why and until when, the replays that
 * are out, and how many wait for the reader's review: for banners and badges. A pause or a disabling that nobody is told of must not exist (fault 83). Bounded; the
 * counts are exact. What lies outside of the reader's scope is in no row, no count and no time.
 */
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, regionsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";
import { type ActiveReplays, activeReplays } from "./replay/active-replays.ts";
import { NOBODY, type ReplayViewer } from "./replay/replay-row.ts";

/** Most rows of each kind; the counts say if there are more. */
export const MAX_ACTIVE_CONTROLS = 100;

/** A tenant or destination that is held. Times are UTC. */
export interface ActiveControl {
  readonly kind: "tenant_paused" | "destination_paused" | "destination_disabled";
  /** `ten_...` or `dst_...`. */
  readonly id: string;
  readonly name: string;
  readonly tenantId: string;
  readonly tenantSlug: string;
  /** A person, or `worker` for what the product did by its rules. */
  readonly by: string | null;
  readonly reason: string;
  readonly since: string;
  /** When it ends by itself; null for what only a person ends. */
  readonly until: string | null;
}

export interface ActiveControls extends ActiveReplays {
  /** Null while claims are on. Who and why are told only to those who see the region as a whole. */
  readonly claimsStopped: {
    readonly by: string | null;
    readonly reason: string | null;
    readonly since: string | null;
  } | null;
  /** Those that end next first; what has no end comes last. */
  readonly controls: readonly ActiveControl[];
  readonly pausedTenants: number;
  readonly pausedDestinations: number;
  readonly disabledDestinations: number;
  /** When the next pause ends. */
  readonly nextEnd: string | null;
}

export interface ActiveControlsAnswer {
  regions: RegionAnswer<ActiveControls>[];
}

/** Asks the given regions, or all in scope. @throws SluiceError `not_found` for a region outside the scope */
export async function readActiveControls(
  access: AccessScope,
  regions?: readonly Region[],
  viewer: ReplayViewer = NOBODY,
): Promise<ActiveControlsAnswer> {
  const asked = regions ?? regionsOf(access);
  for (const region of asked) tenantsIn(access, region);
  return { regions: await Promise.all(asked.map((region) => listActiveControls(access, region, viewer))) };
}

/**
 * What holds in a region at this moment. A pause whose end has come holds nothing and is not listed.
 * @param viewer whose reviews are counted
 * @throws SluiceError `not_found` for a region outside the scope
 */
export async function listActiveControls(
  access: AccessScope,
  region: Region,
  viewer: ReplayViewer = NOBODY,
): Promise<RegionAnswer<ActiveControls>> {
  const tenantIds = tenantsIn(access, region);
  return readRegion(region, async (sql) => {
    const [control] = await sql<ControlRow>(CLAIMS);
    const rows = await sql<ActiveRow>(ACTIVE, [MAX_ACTIVE_CONTROLS, tenantIds]);
    const whole = tenantIds === null;
    const countOf = (kind: ActiveControl["kind"]) => rows.find((row) => row.kind === kind)?.total ?? 0;
    const ends = rows.flatMap(({ until }) => (until === null ? [] : [until.toISOString()])).sort();
    return {
      claimsStopped:
        control?.draining === true
          ? {
              by: whole ? control.drained_by : null,
              reason: whole ? (control.drain_reason ?? "") : null,
              since: control.drained_at?.toISOString() ?? null,
            }
          : null,
      controls: rows.map(activeControl),
      pausedTenants: countOf("tenant_paused"),
      pausedDestinations: countOf("destination_paused"),
      disabledDestinations: countOf("destination_disabled"),
      nextEnd: ends[0] ?? null,
      ...(await activeReplays(sql, region, tenantIds, viewer)),
    };
  });
}

interface ControlRow {
  draining: boolean;
  drain_reason: string | null;
  drained_by: string | null;
  drained_at: Date | null;
}

const CLAIMS = "SELECT draining, drain_reason, drained_by, drained_at FROM sluice.region_control";

interface ActiveRow {
  kind: ActiveControl["kind"];
  id: string;
  name: string;
  tenant_id: string;
  tenant_slug: string;
  by: string | null;
  reason: string;
  since: Date;
  until: Date | null;
  total: number;
}

const ACTIVE = `
  WITH held AS (
    SELECT 'tenant_paused' AS kind, t.id, t.name, t.id AS tenant_id, t.slug AS tenant_slug, t.paused_by AS by, t.pause_reason AS reason,
           t.paused_at AS since, t.pause_until AS until
      FROM sluice.tenant t WHERE t.paused_at IS NOT NULL AND t.pause_until > clock_timestamp() AND t.deleted_at IS NULL
       AND ($2::uuid[] IS NULL OR t.id = ANY ($2))
    UNION ALL
    SELECT 'destination_paused', x.id, x.name, t.id, t.slug, x.paused_by, x.pause_reason, x.paused_at, x.pause_until
      FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id
     WHERE x.paused_at IS NOT NULL AND x.pause_until > clock_timestamp() AND x.deleted_at IS NULL AND t.deleted_at IS NULL
       AND ($2::uuid[] IS NULL OR t.id = ANY ($2))
    UNION ALL
    SELECT 'destination_disabled', x.id, x.name, t.id, t.slug, x.disabled_by, x.disabled_reason, x.disabled_at, NULL
      FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id
     WHERE x.disabled_at IS NOT NULL AND x.deleted_at IS NULL AND t.deleted_at IS NULL
       AND ($2::uuid[] IS NULL OR t.id = ANY ($2))
  ), ranked AS (
    SELECT h.*, row_number() OVER (PARTITION BY h.kind ORDER BY h.until NULLS LAST, h.since DESC, h.id) AS nth,
           count(*) OVER (PARTITION BY h.kind)::integer AS total FROM held h
  )
  SELECT kind, id, name, tenant_id, tenant_slug, by, reason, since, until, total FROM ranked WHERE nth <= $1
   ORDER BY until NULLS LAST, since DESC, id`;

function activeControl(row: ActiveRow): ActiveControl {
  return {
    kind: row.kind,
    id: toPublicId(row.kind === "tenant_paused" ? "ten" : "dst", row.id),
    name: row.name,
    tenantId: toPublicId("ten", row.tenant_id),
    tenantSlug: row.tenant_slug,
    by: row.by,
    reason: row.reason,
    since: row.since.toISOString(),
    until: row.until?.toISOString() ?? null,
  };
}
