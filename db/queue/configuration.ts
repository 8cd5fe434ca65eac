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

/** The newest policy body of each class that has one; a class without a row uses the built-in default. */
export async function readPolicies(pool: Queryable): Promise<Map<ServiceClass, unknown>> {
  const result = await pool.query<{ service_class: ServiceClass; body: unknown }>({
    name: "sluice-policies",
    text: "SELECT DISTINCT ON (service_class) service_class, body FROM sluice.policy ORDER BY service_class, version DESC",
  });
  return new Map(result.rows.map((row) => [row.service_class, row.body]));
}
