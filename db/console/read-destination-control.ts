/** What stands before a dialog that steers a destination: limits, gate, breaker, secret times, its work and what was measured. */
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type Grant, permitsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { safeLimit } from "#domain/safe-limit.ts";
import { readLimitFacts } from "./commands/limit-rules.ts";
import { LAST_TEST_EVENT, TEST_EVENT_EVERY_MS } from "./commands/send-test-event.ts";
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
  type Waiting,
} from "./control-queue.ts";
import type { DestinationControlView, ServiceTime } from "./control-views.ts";
import { hostOf } from "./names.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

const ACTIONS = [
  "pause",
  "limits",
  "destination_disable",
  "open_gate",
  "rotate_secret",
  "test_event",
  "configure",
] as const;

/** $1 the time of the answer, $2 the destination, $3 the tenants of the scope (null: all). Never a secret's bytes. */
const DESTINATION = `
  SELECT x.id, x.name, x.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name, x.url, x.version, x.concurrency_limit,
         rc.default_destination_concurrency AS inherited, x.rate_per_second::float8 AS rate_per_second, x.rate_burst,
         x.disabled_at, x.disabled_reason, x.disabled_by, x.secret_set_at,
         CASE WHEN x.secret_previous_until > $1 THEN x.secret_previous_until END AS secret_previous_until,
         CASE WHEN s.hold_until > $1 THEN s.hold_until END AS hold_until, s.hold_set_at, s.hold_why, s.hold_status,
         left(s.hold_retry_after, 200) AS hold_retry_after, s.consecutive_gates, s.probing, s.adaptive_limit, s.adaptive_safe_limit,
         s.adaptive_pinned, s.adaptive_why, s.breaker, s.breaker_until, s.breaker_why, ${pauseColumns("x")}, ${POLICY_COLUMNS}
    FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
   WHERE x.id = $2 AND x.deleted_at IS NULL AND t.deleted_at IS NULL AND ($3::uuid[] IS NULL OR x.tenant_id = ANY ($3)) LIMIT 1`;

interface DestinationRow extends PauseColumns, PolicyRow {
  id: string;
  name: string;
  tenant_id: string;
  tenant_slug: string;
  tenant_name: string;
  url: string;
  version: number;
  concurrency_limit: number | null;
  inherited: number;
  rate_per_second: number | null;
  rate_burst: number;
  disabled_at: Date | null;
  disabled_reason: string | null;
  disabled_by: string | null;
  secret_set_at: Date;
  secret_previous_until: Date | null;
  hold_until: Date | null;
  hold_set_at: Date | null;
  hold_why: string | null;
  hold_status: number | null;
  hold_retry_after: string | null;
  consecutive_gates: number | null;
  probing: boolean | null;
  adaptive_limit: number | null;
  adaptive_safe_limit: number | null;
  adaptive_pinned: boolean | null;
  adaptive_why: string | null;
  breaker: "closed" | "open" | null;
  breaker_until: Date | null;
  breaker_why: string | null;
}

/** @throws SluiceError `bad_id`; `not_found`, also for what is outside of the scope */
export async function readDestinationControlView(
  access: AccessScope,
  grants: readonly Grant[],
  { region, id: publicId }: { readonly region: Region; readonly id: string },
): Promise<RegionAnswer<DestinationControlView>> {
  const scope = tenantsIn(access, region);
  const id = fromPublicId("dst", publicId);
  return readRegion(region, async (sql, asOf) => {
    const [row] = await sql<DestinationRow>(DESTINATION, [asOf, id, scope]);
    if (row === undefined) throw new SluiceError("not_found", `No destination ${publicId} in your scope.`);
    const whose = { tenantId: row.tenant_id, destinationId: id };
    const waiting = await readWaiting(sql, asOf, whose);
    const serviceTime = await readServiceTime(sql, asOf, whose);
    const throttle = await readThrottleShare(sql, whose);
    const subject = { kind: "destination" as const, id: publicId, read: readLimitFacts(row.inherited) };
    return {
      ...standing(row, waiting, asOf),
      ...measured(row, waiting, serviceTime),
      region,
      inFlight: await readInFlight(sql, whose),
      throttle,
      step: await readSteps(sql, asOf, subject, throttle),
      nextTestEventAt: await readNextTestEvent(sql, publicId),
      permit: permitsOf(grants, ACTIONS, { region, tenantId: row.tenant_id }),
    };
  });
}

function inForceOf(row: DestinationRow): number {
  const cap = row.concurrency_limit ?? row.inherited;
  return Math.min(cap, row.adaptive_limit ?? cap);
}

/** What the rows say. */
function standing(row: DestinationRow, waiting: Waiting, asOf: Date) {
  const iso = (at: Date | null) => at?.toISOString() ?? null;
  return {
    id: toPublicId("dst", row.id),
    name: row.name,
    tenantId: toPublicId("ten", row.tenant_id),
    tenantSlug: row.tenant_slug,
    tenantName: row.tenant_name,
    host: hostOf(row.url),
    version: row.version,
    pause: pauseOf(row, asOf),
    policy: policyOf(row),
    requestDeadlineMs: REQUEST_DEADLINE_MS,
    concurrency: { limit: row.concurrency_limit, inForce: inForceOf(row), inherited: row.inherited },
    rate: { perSecond: row.rate_per_second, burst: row.rate_burst },
    adaptive: {
      limit: row.adaptive_limit,
      safeLimit: row.adaptive_safe_limit,
      pinned: row.adaptive_pinned ?? false,
      why: row.adaptive_why,
    },
    gate:
      row.hold_until === null
        ? null
        : {
            until: row.hold_until.toISOString(),
            since: iso(row.hold_set_at),
            why: row.hold_why,
            status: row.hold_status,
            retryAfter: row.hold_retry_after,
            consecutive: row.consecutive_gates ?? 0,
            waiting: waiting.gated,
          },
    probing: row.probing ?? false,
    breaker: row.breaker === "open" ? { until: iso(row.breaker_until), why: row.breaker_why } : null,
    disabled:
      row.disabled_at === null
        ? null
        : { at: row.disabled_at.toISOString(), reason: row.disabled_reason, by: row.disabled_by },
    secret: { setAt: row.secret_set_at.toISOString(), previousUntil: iso(row.secret_previous_until) },
  };
}

/** What follows from the queue and from what was measured. */
function measured(
  row: DestinationRow,
  { held, due, gated, total }: Waiting,
  serviceTime: ServiceTime | null,
) {
  const serviceTimeMs = serviceTime?.p50Ms ?? null;
  return {
    held,
    due,
    gated,
    serviceTime,
    suggestion: safeLimit(row.rate_per_second, serviceTimeMs),
    drain: {
      waiting: total.count,
      waitingMore: total.more,
      concurrency: inForceOf(row),
      ratePerSecond: row.rate_per_second,
      serviceTimeMs,
    },
  };
}

async function readNextTestEvent(sql: Reader, publicId: string): Promise<string | null> {
  const [last] = await sql<{ next: Date }>(
    `SELECT at + $2::float8 * interval '1 millisecond' AS next ${LAST_TEST_EVENT}`,
    [publicId, TEST_EVENT_EVERY_MS],
  );
  return last?.next.toISOString() ?? null;
}
