/** The options that `sluice users` and `sluice token` share: role, regions, tenants; and the database they work on. */
import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { readRegionUrl } from "#db/config.ts";
import type { AuditedChange } from "#db/console/access/audit.ts";
import { findTenantIds } from "#db/console/access/grants.ts";
import { readConsoleUrl } from "#db/console/console-config.ts";
import { createPool } from "#db/pool.ts";
import { isRole, ROLES, type Role, type TenantScope } from "#domain/permissions.ts";
import { isRegion, REGIONS, type Region } from "#domain/region.ts";
import { UsageError } from "../command.ts";
import { commandActor } from "../console-config.ts";

const POOL_MAX = 2;
const DEFAULT_REASON = "set up on the command line";
const LEAST_REASON_CHARS = 10;
const MOST_REASON_CHARS = 500;

/** For parseArgs. */
export const SCOPE_OPTIONS = {
  role: { type: "string" },
  region: { type: "string", multiple: true },
  tenant: { type: "string", multiple: true },
  reason: { type: "string" },
} as const;

/** Runs `work` on the console's own database. */
export async function withConsolePool<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  return withPool(readConsoleUrl(), work);
}

/** @throws UsageError for a role that is none */
export function readRole(text: string | undefined): Role {
  if (!isRole(text)) throw new UsageError(`--role must be one of ${ROLES.join(", ")}`);
  return text;
}

/** All regions when none is named. @throws UsageError */
export function readRegions(names: readonly string[] | undefined): readonly Region[] {
  if (names === undefined || names.length === 0) return REGIONS;
  const lower = [...new Set(names.flatMap((name) => name.toLowerCase().split(",")))];
  if (!lower.every(isRegion)) throw new UsageError(`--region must be one of ${REGIONS.join(", ")}`);
  return lower;
}

/**
 * The ids of the named tenants in these regions; null when none is named, which means all.
 * @throws UsageError for a name that no region knows: a scope is never silently smaller or wider
 */
export async function readTenants(
  names: readonly string[] | undefined,
  regions: readonly Region[],
): Promise<TenantScope> {
  if (names === undefined || names.length === 0) return null;
  const ids = new Set<string>();
  const missing = new Set(names);
  for (const region of regions) {
    const found = await withPool(readRegionUrl(region), (pool) => findTenantIds(pool, names));
    for (const name of names) {
      const id = found.get(name);
      if (id === undefined) continue;
      ids.add(id);
      missing.delete(name);
    }
  }
  if (missing.size > 0)
    throw new UsageError(`no tenant ${[...missing].join(", ")} in ${regions.join(" or ")}`);
  return [...ids];
}

/** What the audit says of a change. @throws UsageError */
export function readChange(reason: string | undefined): AuditedChange {
  const text = (reason ?? DEFAULT_REASON).trim();
  if (text.length < LEAST_REASON_CHARS || text.length > MOST_REASON_CHARS) {
    throw new UsageError(`--reason must have ${LEAST_REASON_CHARS} to ${MOST_REASON_CHARS} characters`);
  }
  return { actor: commandActor(), role: "admin", reason: text, correlationId: randomUUID() };
}

async function withPool<T>(connectionString: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool({ connectionString, max: POOL_MAX, applicationName: "sluice-cli" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
