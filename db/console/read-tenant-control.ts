/** What stands before a dialog that steers a tenant: its limits and pause, its work, and what the caller may do. */
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type Grant, permitsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { readLimitFacts } from "./commands/limit-rules.ts";
import {
  type PauseColumns,
  POLICY_COLUMNS,
  type PolicyRow,
  pauseColumns,
  pauseOf,
  policyOf,
  REQUEST_DEADLINE_MS,
  readInFlight,
  readServiceTime,
  readSteps,
  readThrottleShare,
  readWaiting,
} from "./control-queue.ts";
import type { TenantControlView } from "./control-views.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

const ACTIONS = ["pause", "limits", "configure"] as const;

/** $1 the time of the answer, $2 the tenant, $3 the tenants of the scope (null: all). */
const TENANT = `
  SELECT t.id, t.slug, t.name, t.version, t.weight, t.replay_header, t.concurrency_limit, rc.default_tenant_concurrency AS inherited, ${pauseColumns("t")},
         ${POLICY_COLUMNS},
         (SELECT count(*)::integer FROM sluice.destination x WHERE x.tenant_id = t.id AND x.deleted_at IS NULL) AS destinations
    FROM sluice.tenant t CROSS JOIN sluice.region_control rc
   WHERE t.id = $2 AND t.deleted_at IS NULL AND ($3::uuid[] IS NULL OR t.id = ANY ($3)) LIMIT 1`;

interface TenantRow extends PauseColumns, PolicyRow {
  id: string;
  slug: string;
  name: string;
  version: number;
  weight: number;
  replay_header: boolean;
  concurrency_limit: number | null;
  inherited: number;
  destinations: number;
}

/** @throws SluiceError `bad_id`; `not_found`, also for what is outside of the scope */
export async function readTenantControlView(
  access: AccessScope,
  grants: readonly Grant[],
  { region, id: publicId }: { readonly region: Region; readonly id: string },
): Promise<RegionAnswer<TenantControlView>> {
  const scope = tenantsIn(access, region);
  const id = fromPublicId("ten", publicId);
  return readRegion(region, async (sql, asOf) => {
    const [row] = await sql<TenantRow>(TENANT, [asOf, id, scope]);
    if (row === undefined) throw new SluiceError("not_found", `No tenant ${publicId} in your scope.`);
    const whose = { tenantId: id, destinationId: null };
    const waiting = await readWaiting(sql, asOf, whose);
    const serviceTime = await readServiceTime(sql, asOf, whose);
    const throttle = await readThrottleShare(sql, whose);
    const subject = { kind: "tenant" as const, id: publicId, read: readLimitFacts(row.inherited) };
    const inForce = row.concurrency_limit ?? row.inherited;
    return {
      id: toPublicId("ten", row.id),
      slug: row.slug,
      name: row.name,
      region,
      version: row.version,
      weight: row.weight,
      concurrency: { limit: row.concurrency_limit, inForce, inherited: row.inherited },
      destinations: row.destinations,
      replayHeader: row.replay_header,
      pause: pauseOf(row, asOf),
      inFlight: await readInFlight(sql, whose),
      held: waiting.held,
      due: waiting.due,
      gated: waiting.gated,
      requestDeadlineMs: REQUEST_DEADLINE_MS,
      serviceTime,
      throttle,
      drain: {
        waiting: waiting.total.count,
        waitingMore: waiting.total.more,
        concurrency: inForce,
        // Its destinations may each have a rate; the tenant itself has none.
        ratePerSecond: null,
        serviceTimeMs: serviceTime?.p50Ms ?? null,
      },
      step: await readSteps(sql, asOf, subject, throttle),
      policy: policyOf(row),
      permit: permitsOf(grants, ACTIONS, { region, tenantId: id }),
    };
  });
}
