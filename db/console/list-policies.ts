/**
 * The policies that are in force in a region, with version, history, who wrote them and why: the retry policy of each class
 * as it resolves over the built-in one, and what counts as late. Read only.
 */
import type { QueryResultRow } from "pg";
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { DEFAULT_OBJECTIVES, type ObjectiveNumbers, readObjectiveNumbers } from "#domain/objectives.ts";
import { type AccessScope, regionsOf, tenantsIn } from "#domain/permissions.ts";
import { DEFAULT_POLICY, type RetryPolicy, resolvePolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** Versions that are listed of each policy; older ones stand in the audit. */
const MAX_HISTORY = 20;

/** One stored version. */
export interface PolicyVersion {
  version: number;
  changedBy: string;
  changedAt: string;
  reason: string;
  /** As stored: only what differs from the built-in policy. */
  body: Readonly<Record<string, unknown>>;
}

interface Written {
  /** 0: the built-in one, which nobody has changed here. */
  version: number;
  /** Null when it is the built-in one, or when the caller does not see the region as a whole. */
  changedBy: string | null;
  changedAt: string | null;
  reason: string | null;
  /** Newest first, at most 20; empty for who does not see the region as a whole. */
  history: PolicyVersion[];
}

export interface PolicyInForce extends Written {
  serviceClass: ServiceClass;
  /** Null when what is stored cannot be used; workers then answer with `config_error`. */
  retry: RetryPolicy | null;
  builtIn: RetryPolicy;
}

export interface ObjectivesInForce extends Written {
  numbers: ObjectiveNumbers;
  builtIn: ObjectiveNumbers;
}

export interface RegionPolicies {
  policies: PolicyInForce[];
  objectives: ObjectivesInForce;
}

export interface PoliciesAnswer {
  regions: RegionAnswer<RegionPolicies>[];
}

/** @throws SluiceError `not_found` for a region outside the scope */
export async function listPolicies(
  access: AccessScope,
  regions?: readonly Region[],
): Promise<PoliciesAnswer> {
  const asked = (regions ?? regionsOf(access)).map((region) => ({
    region,
    whole: tenantsIn(access, region) === null,
  }));
  return { regions: await Promise.all(asked.map(({ region, whole }) => readOne(region, whole))) };
}

function readOne(region: Region, whole: boolean): Promise<RegionAnswer<RegionPolicies>> {
  return readRegion(region, async (sql) => {
    const rows = await sql<RetryRow>(RETRY, [[...SERVICE_CLASSES]]);
    const objectives = await sql<PolicyRow>(OBJECTIVES);
    return {
      policies: SERVICE_CLASSES.map((serviceClass) => {
        const own = rows.filter((row) => row.service_class === serviceClass);
        const retry = resolveOrNull(serviceClass, own[0]?.body);
        return { serviceClass, ...writtenOf(own, whole), retry, builtIn: DEFAULT_POLICY[serviceClass] };
      }),
      objectives: {
        ...writtenOf(objectives, whole),
        numbers: readObjectiveNumbers(objectives[0]?.body),
        builtIn: DEFAULT_OBJECTIVES,
      },
    };
  });
}

interface PolicyRow extends QueryResultRow {
  version: number;
  body: Readonly<Record<string, unknown>>;
  created_by: string;
  reason: string;
  created_at: Date;
}

interface RetryRow extends PolicyRow {
  service_class: ServiceClass;
}

const COLUMNS = "p.version, p.body, p.created_by, p.reason, p.created_at";
/** $1 the classes. */
const RETRY = `
  SELECT c.service_class, p.* FROM unnest($1::sluice.service_class[]) AS c(service_class)
   CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM sluice.policy p
                        WHERE p.service_class = c.service_class ORDER BY p.version DESC LIMIT ${MAX_HISTORY}) p
   ORDER BY c.service_class, p.version DESC LIMIT ${SERVICE_CLASSES.length * MAX_HISTORY}`;
const OBJECTIVES = `SELECT ${COLUMNS} FROM sluice.objective_policy p ORDER BY p.version DESC LIMIT ${MAX_HISTORY}`;

/** A reason may speak of tenants that the reader does not see, so it is for those who see them all. */
function writtenOf(rows: readonly PolicyRow[], whole: boolean): Written {
  const [newest] = rows;
  return {
    version: newest?.version ?? 0,
    changedBy: whole ? (newest?.created_by ?? null) : null,
    changedAt: newest?.created_at.toISOString() ?? null,
    reason: whole ? (newest?.reason ?? null) : null,
    history: whole ? rows.map(toVersion) : [],
  };
}

function toVersion({ version, body, created_by, reason, created_at }: PolicyRow): PolicyVersion {
  return { version, body, reason, changedBy: created_by, changedAt: created_at.toISOString() };
}

function resolveOrNull(serviceClass: ServiceClass, body: unknown): RetryPolicy | null {
  try {
    return resolvePolicy(serviceClass, body);
  } catch {
    return null;
  }
}
