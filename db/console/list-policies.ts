/**
 * The policies that are in force in a region, with version, who wrote them and why: the retry policy of each class as it
 * resolves over the built-in one, and the objectives. Read only.
 */
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { type AccessScope, regionsOf, tenantsIn } from "#domain/permissions.ts";
import { type RetryPolicy, resolvePolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { DEAD_LETTER_WARN_MS, DUE_LAG, OBJECTIVES, type Objective } from "./objectives.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

export interface PolicyInForce {
  serviceClass: ServiceClass;
  /** 0: the built-in one, which nobody has changed here. */
  version: number;
  /** Null when it is the built-in one, or when the caller does not see the region as a whole. */
  changedBy: string | null;
  changedAt: string | null;
  reason: string | null;
  /** Null when what is stored cannot be used; workers then answer with `config_error`. */
  retry: RetryPolicy | null;
}

export interface RegionPolicies {
  policies: PolicyInForce[];
}

export interface PoliciesAnswer {
  regions: RegionAnswer<RegionPolicies>[];
  /** The same in every region; they belong to the build. */
  objectives: {
    classes: Readonly<Record<ServiceClass, Objective>>;
    dueLag: { warnMs: number; pageMs: number };
    deadLetterWarnMs: number;
  };
}

/** @throws SluiceError `not_found` for a region outside the scope */
export async function listPolicies(
  access: AccessScope,
  regions?: readonly Region[],
): Promise<PoliciesAnswer> {
  const asked = regions ?? regionsOf(access);
  const whole = asked.map((region) => tenantsIn(access, region) === null);
  return {
    regions: await Promise.all(asked.map((region, index) => readOne(region, whole[index] ?? false))),
    objectives: { classes: OBJECTIVES, dueLag: DUE_LAG, deadLetterWarnMs: DEAD_LETTER_WARN_MS },
  };
}

function readOne(region: Region, whole: boolean): Promise<RegionAnswer<RegionPolicies>> {
  return readRegion(region, async (sql) => {
    const rows = await sql<PolicyRow>(NEWEST);
    return {
      policies: SERVICE_CLASSES.map((serviceClass) =>
        inForce(
          serviceClass,
          rows.find((row) => row.service_class === serviceClass),
          whole,
        ),
      ),
    };
  });
}

interface PolicyRow {
  service_class: ServiceClass;
  version: number;
  body: unknown;
  created_by: string;
  reason: string;
  created_at: Date;
}

const NEWEST = `
  SELECT DISTINCT ON (service_class) service_class, version, body, created_by, reason, created_at
    FROM sluice.policy ORDER BY service_class, version DESC LIMIT 2`;

/** A reason may speak of tenants that the reader does not see, so it is for those who see them all. */
function inForce(serviceClass: ServiceClass, row: PolicyRow | undefined, whole: boolean): PolicyInForce {
  return {
    serviceClass,
    version: row?.version ?? 0,
    changedBy: whole ? (row?.created_by ?? null) : null,
    changedAt: row?.created_at.toISOString() ?? null,
    reason: whole ? (row?.reason ?? null) : null,
    retry: resolveOrNull(serviceClass, row?.body),
  };
}

function resolveOrNull(serviceClass: ServiceClass, body: unknown): RetryPolicy | null {
  try {
    return resolvePolicy(serviceClass, body);
  } catch {
    return null;
  }
}
