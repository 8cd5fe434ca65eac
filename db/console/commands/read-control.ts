/**
 * The present values of what a command can change, with the version to base a change on. Reads only; no secret and no
 * URL beyond its host.
 */
import type { Pool } from "pg";
import { kindOfId } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { hostOf } from "../names.ts";
import { isoOf } from "./locked-row.ts";

type Reading = Pick<Pool, "query">;

export interface TenantControl {
  /** `ten_...` */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly version: number;
  readonly pausedUntil: string | null;
  readonly pauseReason: string | null;
  readonly pausedBy: string | null;
  readonly resumedAt: string | null;
  readonly resumeShare: number | null;
  readonly weight: number;
  /** Its own cap; null inherits. */
  readonly concurrencyLimit: number | null;
  /** The cap in force. */
  readonly concurrencyInForce: number;
}

export interface DestinationControl extends Omit<TenantControl, "slug" | "weight"> {
  readonly tenantId: string;
  readonly tenantSlug: string;
  readonly host: string;
  readonly ratePerSecond: number | null;
  readonly rateBurst: number;
  readonly disabledAt: string | null;
  readonly disabledReason: string | null;
  readonly disabledBy: string | null;
  /** When the gate opens; null when it is not shut. */
  readonly gateUntil: string | null;
  readonly gateWhy: string | null;
  readonly gateStatus: number | null;
  readonly gateRetryAfter: string | null;
  readonly adaptiveLimit: number | null;
  readonly adaptiveSafeLimit: number | null;
  readonly adaptivePinned: boolean;
}

const PAUSE = (row: string) => `
  CASE WHEN ${row}.pause_until > clock_timestamp() THEN (extract(epoch FROM ${row}.pause_until) * 1000)::float8 END AS pause_until_ms,
  ${row}.pause_reason, ${row}.paused_by, (extract(epoch FROM ${row}.resumed_at) * 1000)::float8 AS resumed_ms,
  ${row}.resume_share::float8 AS resume_share, ${row}.version, ${row}.concurrency_limit`;

interface PauseRow {
  id: string;
  name: string;
  pause_until_ms: number | null;
  pause_reason: string | null;
  paused_by: string | null;
  resumed_ms: number | null;
  resume_share: number | null;
  version: number;
  concurrency_limit: number | null;
  concurrency_in_force: number;
}

/**
 * @param reference `ten_...` or a slug
 * @throws SluiceError `not_found`, `bad_id`
 */
export async function readTenantControl(pool: Reading, reference: string): Promise<TenantControl> {
  const id = kindOfId(reference) === null ? null : fromPublicId("ten", reference);
  const { rows } = await pool.query<PauseRow & { slug: string; weight: number }>(
    `SELECT t.id, t.slug, t.name, t.weight, ${PAUSE("t")},
            coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS concurrency_in_force
       FROM sluice.tenant t CROSS JOIN sluice.region_control rc
      WHERE t.deleted_at IS NULL AND (t.id = $1 OR ($1::uuid IS NULL AND t.slug = $2))`,
    [id, reference],
  );
  const row = rows[0];
  if (row === undefined) throw notFound("tenant", reference);
  return { ...shared(row), id: toPublicId("ten", row.id), slug: row.slug, weight: row.weight };
}

interface DestinationControlRow extends PauseRow {
  tenant_id: string;
  tenant_slug: string;
  url: string;
  rate_per_second: number | null;
  rate_burst: number;
  disabled_ms: number | null;
  disabled_reason: string | null;
  disabled_by: string | null;
  gate_ms: number | null;
  hold_why: string | null;
  hold_status: number | null;
  hold_retry_after: string | null;
  adaptive_limit: number | null;
  adaptive_safe_limit: number | null;
  adaptive_pinned: boolean | null;
}

const DESTINATION = `
  SELECT x.id, x.name, x.tenant_id, t.slug AS tenant_slug, x.url, ${PAUSE("x")}, x.rate_per_second::float8 AS rate_per_second, x.rate_burst,
         coalesce(x.concurrency_limit, rc.default_destination_concurrency) AS concurrency_in_force,
         (extract(epoch FROM x.disabled_at) * 1000)::float8 AS disabled_ms, x.disabled_reason, x.disabled_by,
         CASE WHEN s.hold_until > clock_timestamp() THEN (extract(epoch FROM s.hold_until) * 1000)::float8 END AS gate_ms,
         s.hold_why, s.hold_status, s.hold_retry_after, s.adaptive_limit, s.adaptive_safe_limit, s.adaptive_pinned
    FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
   WHERE x.deleted_at IS NULL AND (x.id = $1 OR ($1::uuid IS NULL AND t.slug = $2 AND x.name = $3)) LIMIT 2`;

/**
 * @param reference `dst_...`, or `<tenant slug>/<name>`
 * @throws SluiceError `not_found`, `bad_id`, `state_conflict` when two destinations have the name
 */
export async function readDestinationControl(pool: Reading, reference: string): Promise<DestinationControl> {
  const id = kindOfId(reference) === null ? null : fromPublicId("dst", reference);
  const slash = reference.indexOf("/");
  const { rows } = await pool.query<DestinationControlRow>(DESTINATION, [
    id,
    reference.slice(0, Math.max(slash, 0)),
    reference.slice(slash + 1),
  ]);
  const row = rows[0];
  if (row === undefined) throw notFound("destination", reference);
  if (rows.length > 1)
    throw new SluiceError("state_conflict", "two destinations have this name: use the dst_ id");
  return {
    ...shared(row),
    id: toPublicId("dst", row.id),
    tenantId: toPublicId("ten", row.tenant_id),
    tenantSlug: row.tenant_slug,
    host: hostOf(row.url),
    ratePerSecond: row.rate_per_second,
    rateBurst: row.rate_burst,
    disabledAt: isoOf(row.disabled_ms),
    disabledReason: row.disabled_reason,
    disabledBy: row.disabled_by,
    gateUntil: isoOf(row.gate_ms),
    gateWhy: row.hold_why,
    gateStatus: row.hold_status,
    gateRetryAfter: row.hold_retry_after,
    adaptiveLimit: row.adaptive_limit,
    adaptiveSafeLimit: row.adaptive_safe_limit,
    adaptivePinned: row.adaptive_pinned ?? false,
  };
}

export interface RegionControl {
  readonly version: number;
  readonly draining: boolean;
  readonly tenantConcurrency: number;
  readonly destinationConcurrency: number;
  readonly maxTenantConcurrency: number;
  readonly maxDestinationConcurrency: number;
  readonly maxRatePerSecond: number;
}

/** The version of the region's control row, whether its claims are on, what its rows inherit, and the policy's bounds. */
export async function readRegionControl(pool: Reading): Promise<RegionControl> {
  const { rows } = await pool.query<RegionControl>(
    `SELECT version, draining, default_tenant_concurrency AS "tenantConcurrency",
            default_destination_concurrency AS "destinationConcurrency", policy_max_tenant_concurrency AS "maxTenantConcurrency",
            policy_max_destination_concurrency AS "maxDestinationConcurrency", policy_max_rate_per_second::float8 AS "maxRatePerSecond"
       FROM sluice.region_control`,
  );
  if (rows[0] === undefined)
    throw new SluiceError("region_mismatch", "the database was not migrated for any region");
  return rows[0];
}

/** @throws SluiceError `bad_id`, `not_found` */
export async function readDeadLetterVersion(pool: Reading, publicId: string): Promise<number> {
  const { rows } = await pool.query<{ version: number }>(
    "SELECT version FROM sluice.dead_letter WHERE id = $1",
    [fromPublicId("dlv", publicId)],
  );
  if (rows[0] === undefined) throw notFound("dead letter", publicId);
  return rows[0].version;
}

/**
 * @param reference `pay_...`, or the `dlv_...` of a delivery that uses it
 * @returns the payload's `pay_...`
 * @throws SluiceError `not_found`, `bad_id`
 */
export async function findPayload(pool: Reading, reference: string): Promise<string> {
  if (kindOfId(reference) === "pay") return toPublicId("pay", fromPublicId("pay", reference));
  const { rows } = await pool.query<{ payload_id: string }>(
    "SELECT payload_id FROM sluice.delivery_all WHERE id = $1 LIMIT 1",
    [fromPublicId("dlv", reference)],
  );
  if (rows[0] === undefined) throw notFound("delivery", reference);
  return toPublicId("pay", rows[0].payload_id);
}

function shared(row: PauseRow) {
  const paused = row.pause_until_ms !== null;
  return {
    name: row.name,
    version: row.version,
    pausedUntil: isoOf(row.pause_until_ms),
    pauseReason: paused ? row.pause_reason : null,
    pausedBy: paused ? row.paused_by : null,
    resumedAt: isoOf(row.resumed_ms),
    resumeShare: row.resume_share,
    concurrencyLimit: row.concurrency_limit,
    concurrencyInForce: row.concurrency_in_force,
  };
}

function notFound(kind: string, reference: string): SluiceError {
  return new SluiceError("not_found", `no ${kind} "${reference.slice(0, 80)}" in this region`);
}
