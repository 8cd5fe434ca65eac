/**
 * One tenant of one region: who it is, what holds it, and its numbers at this moment. What may be done with it, and the
 * values that a change is based on, are in its control view. Also a deleted one is shown, as such: links to it live on.
 */
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import type { Thresholds } from "#domain/objectives.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { readThresholds } from "./objectives.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { readTenantNumbers, type TenantNumbers } from "./read-tenant-numbers.ts";

/** Dead letters of the one tenant are counted up to here; more are answered as one more than this. */
export const DETAIL_COUNT_LIMIT = 10_000;

export type TenantState = "active" | "paused" | "limited" | "circuit_open" | "deleted";

export interface TenantDetail extends TenantNumbers {
  /** `ten_...` */
  id: string;
  slug: string;
  name: string;
  region: Region;
  version: number;
  state: TenantState;
  /** When the state ends by itself, UTC. */
  stateUntil: string | null;
  pause: { since: string; until: string; reason: string; by: string | null } | null;
  /** Destinations behind a shut gate or an open breaker at this moment. */
  gates: number;
  openBreakers: number;
  claimOwner: string;
  weight: number;
  /** Its replayed attempts carry the batch's id in the header `webhook-replay` too. */
  replayHeader: boolean;
  createdAt: string;
  deletedAt: string | null;
  lastDeliveredAt: string | null;
}

export interface TenantAnswer extends Pick<Thresholds, "objectives" | "dueLag"> {
  tenant: TenantDetail;
  /** `deadLetters.count` is exact up to here. */
  countLimit: number;
}

/**
 * @param reference `ten_...` or a slug
 * @throws SluiceError `not_found` for a region or a tenant outside the scope, `bad_id`
 */
export async function readTenant(
  access: AccessScope,
  region: Region,
  reference: string,
): Promise<RegionAnswer<TenantAnswer>> {
  const tenantIds = tenantsIn(access, region);
  const answer = await readRegion(region, async (sql, asOf) => ({
    tenant: await find(sql, asOf, region, reference, tenantIds),
    thresholds: await readThresholds(sql),
  }));
  if (answer.status === "unavailable") return answer;
  const { tenant, thresholds } = answer.data;
  if (tenant === null) throw new SluiceError("not_found", `No such tenant in ${region} in your scope.`);
  const { objectives, dueLag } = thresholds;
  return { ...answer, data: { tenant, objectives, dueLag, countLimit: DETAIL_COUNT_LIMIT } };
}

/** $1 the time of the answer, $2 the id or null, $3 the slug, $4 the tenants of the scope. */
const TENANT = `
  SELECT t.id, t.slug, t.name, t.version, t.weight, t.replay_header, t.claim_owner, t.created_at, t.deleted_at,
         t.paused_at, t.pause_until, t.pause_reason, t.paused_by,
         g.gates, g.gated_until, g.breakers, g.open_until, l.finished_at AS last_delivered_at
    FROM sluice.tenant t
   CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE s.hold_until > $1)::integer AS gates, max(s.hold_until) FILTER (WHERE s.hold_until > $1) AS gated_until,
            count(*) FILTER (WHERE s.breaker = 'open')::integer AS breakers,
            max(s.breaker_until) FILTER (WHERE s.breaker = 'open' AND s.breaker_until > $1) AS open_until
       FROM sluice.destination x JOIN sluice.destination_state s ON s.destination_id = x.id
      WHERE x.tenant_id = t.id AND x.deleted_at IS NULL AND x.disabled_at IS NULL) g
    LEFT JOIN LATERAL (
     -- The ends of the newest few: ids follow creation, so the very latest end is among them but for old retries.
     SELECT max(a.finished_at) AS finished_at FROM (
       SELECT a.finished_at FROM sluice.delivery_archive a
        WHERE a.tenant_id = t.id AND a.state = 'delivered' ORDER BY a.id DESC LIMIT 20) a) l ON true
   WHERE (t.id = $2::uuid OR ($2::uuid IS NULL AND t.slug = $3)) AND ($4::uuid[] IS NULL OR t.id = ANY ($4))
   LIMIT 1`;

interface DetailRow {
  id: string;
  slug: string;
  name: string;
  version: number;
  weight: number;
  replay_header: boolean;
  claim_owner: string;
  created_at: Date;
  deleted_at: Date | null;
  paused_at: Date | null;
  pause_until: Date | null;
  pause_reason: string | null;
  paused_by: string | null;
  gates: number;
  gated_until: Date | null;
  breakers: number;
  open_until: Date | null;
  last_delivered_at: Date | null;
}

async function find(
  sql: Reader,
  asOf: Date,
  region: Region,
  reference: string,
  tenantIds: TenantScope,
): Promise<TenantDetail | null> {
  const id = reference.startsWith("ten_") ? fromPublicId("ten", reference) : null;
  const [row] = await sql<DetailRow>(TENANT, [asOf, id, reference, tenantIds]);
  if (row === undefined) return null;
  const numbers = (await readTenantNumbers(sql, asOf, [row.id], { deadLimit: DETAIL_COUNT_LIMIT })).get(
    row.id,
  );
  if (numbers === undefined) return null;
  return {
    id: toPublicId("ten", row.id),
    slug: row.slug,
    name: row.name,
    region,
    version: row.version,
    ...stateOf(row, asOf),
    pause: pauseOf(row, asOf),
    gates: row.gates,
    openBreakers: row.breakers,
    claimOwner: row.claim_owner,
    weight: row.weight,
    replayHeader: row.replay_header,
    createdAt: row.created_at.toISOString(),
    deletedAt: row.deleted_at?.toISOString() ?? null,
    lastDeliveredAt: row.last_delivered_at?.toISOString() ?? null,
    ...numbers,
  };
}

function stateOf(row: DetailRow, asOf: Date): Pick<TenantDetail, "state" | "stateUntil"> {
  const until = (moment: Date | null) => moment?.toISOString() ?? null;
  if (row.deleted_at !== null) return { state: "deleted", stateUntil: null };
  if (isPaused(row, asOf)) return { state: "paused", stateUntil: until(row.pause_until) };
  if (row.breakers > 0) return { state: "circuit_open", stateUntil: until(row.open_until) };
  if (row.gates > 0) return { state: "limited", stateUntil: until(row.gated_until) };
  return { state: "active", stateUntil: null };
}

/** A pause whose end has come holds nothing, even before a worker has ended it. */
function isPaused({ pause_until }: DetailRow, asOf: Date): boolean {
  return pause_until !== null && pause_until.getTime() > asOf.getTime();
}

function pauseOf(row: DetailRow, asOf: Date): TenantDetail["pause"] {
  if (!isPaused(row, asOf) || row.paused_at === null || row.pause_until === null) return null;
  return {
    since: row.paused_at.toISOString(),
    until: row.pause_until.toISOString(),
    reason: row.pause_reason ?? "",
    by: row.paused_by,
  };
}
