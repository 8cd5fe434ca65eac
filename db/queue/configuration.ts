/**
 * What the worker has to know before it sends: destinations by id, tenants' limits, policies. Secrets leave the
 * database sealed; nothing of this is ever logged.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import type { Queryable } from "./types.ts";

export interface DestinationRow {
  readonly id: string;
  readonly version: number;
  readonly url: string;
  readonly secretCurrent: Buffer;
  /** Null when there is none, or when it has ended. */
  readonly secretPrevious: Buffer | null;
  readonly secretPreviousUntilMs: number | null;
  readonly plainSignatureHeader: string | null;
  readonly policyOverride: unknown;
}

/** The named destinations; unknown ids are left out. */
export async function readDestinations(pool: Queryable, ids: readonly string[]): Promise<DestinationRow[]> {
  const result = await pool.query<DestinationRow>({
    name: "sluice-destinations",
    text: `SELECT id, version, url, secret_current AS "secretCurrent",
                  CASE WHEN secret_previous_until > clock_timestamp() THEN secret_previous END AS "secretPrevious",
                  CASE WHEN secret_previous_until > clock_timestamp() THEN
                    (extract(epoch FROM secret_previous_until) * 1000)::float8 END AS "secretPreviousUntilMs",
                  plain_signature_header AS "plainSignatureHeader", policy_override AS "policyOverride"
             FROM sluice.destination WHERE id = ANY($1::uuid[])`,
    values: [ids],
  });
  return result.rows;
}

export interface LimitRow {
  readonly destinationId: string;
  readonly tenantId: string;
  readonly tenantWeight: number;
  readonly tenantConcurrency: number;
  readonly destinationConcurrency: number;
  readonly ratePerSecond: number | null;
  readonly rateBurst: number;
}

/** Caps and weights that the plan goes by, with defaults filled in. The claim decides; this may be a second old. */
export async function readLimits(pool: Queryable, destinationIds: readonly string[]): Promise<LimitRow[]> {
  const result = await pool.query<LimitRow>({
    name: "sluice-limits",
    text: `SELECT x.id AS "destinationId", t.id AS "tenantId", t.weight AS "tenantWeight",
                  coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS "tenantConcurrency",
                  coalesce(x.concurrency_limit, rc.default_destination_concurrency) AS "destinationConcurrency",
                  x.rate_per_second::float8 AS "ratePerSecond", x.rate_burst AS "rateBurst"
             FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id CROSS JOIN sluice.region_control rc
            WHERE x.id = ANY($1::uuid[])`,
    values: [destinationIds],
  });
  return result.rows;
}

/** Most destinations that one look at changed limits names. */
export const MAX_CHANGED_LIMITS = 500;

export interface ChangedLimits {
  readonly nowMs: number;
  /** `<id>@<time>` of each destination whose own or whose tenant's limits were changed since: the same change, the same text. */
  readonly changes: readonly { readonly destinationId: string; readonly change: string }[];
  /** There were more than can be named. */
  readonly more: boolean;
  /** The region's defaults, which every destination without limits of its own inherits. */
  readonly defaults: string;
}

/** What was changed since `sinceMs` (database time). A change is stamped before its commit: look back a few seconds. */
export async function changedLimits(pool: Queryable, sinceMs: number): Promise<ChangedLimits> {
  const result = await pool.query<{ now_ms: number; defaults: string; changes: ChangedLimits["changes"] }>({
    name: "sluice-changed-limits",
    text: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
                  concat_ws('/', rc.default_tenant_concurrency, rc.default_destination_concurrency) AS defaults,
                  coalesce((SELECT json_agg(json_build_object('destinationId', c.id, 'change', c.id || '@' || c.at)) FROM (
                    (SELECT x.id, x.limits_changed_at AS at FROM sluice.destination x
                      WHERE x.limits_changed_at > to_timestamp($1::float8 / 1000) ORDER BY x.limits_changed_at LIMIT $2 + 1)
                    UNION ALL
                    (SELECT x.id, t.limits_changed_at FROM sluice.tenant t JOIN sluice.destination x ON x.tenant_id = t.id
                      WHERE t.limits_changed_at > to_timestamp($1::float8 / 1000) ORDER BY t.limits_changed_at LIMIT $2 + 1)) c), '[]') AS changes
             FROM sluice.region_control rc`,
    values: [sinceMs, MAX_CHANGED_LIMITS],
  });
  const row = result.rows[0];
  if (row === undefined) throw new Error("changed limits were not answered");
  const { now_ms: nowMs, defaults, changes } = row;
  return { nowMs, defaults, changes, more: changes.length > MAX_CHANGED_LIMITS };
}

/** The newest policy body of each class that has one; a class without a row uses the built-in default. */
export async function readPolicies(pool: Queryable): Promise<Map<ServiceClass, unknown>> {
  const result = await pool.query<{ service_class: ServiceClass; body: unknown }>({
    name: "sluice-policies",
    text: "SELECT DISTINCT ON (service_class) service_class, body FROM sluice.policy ORDER BY service_class, version DESC",
  });
  return new Map(result.rows.map((row) => [row.service_class, row.body]));
}
