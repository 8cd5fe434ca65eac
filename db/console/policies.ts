/**
 * The retry policy in force for a delivery, found as the worker finds it: the class's newest version under the
 * destination's override. Null means that it cannot be used, which the worker answers with `config_error`.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import { type RetryPolicy, resolvePolicy } from "#domain/policy.ts";
import type { Reader } from "./read-region.ts";

/** Looks one up; the same class and override are resolved once. */
export type Policies = (serviceClass: ServiceClass, override: unknown) => RetryPolicy | null;

const NEWEST = `
  SELECT DISTINCT ON (service_class) service_class, body FROM sluice.policy ORDER BY service_class, version DESC LIMIT 2`;

/** Reads the class policies of the region. A class without a row uses the built-in default. */
export async function readPolicies(sql: Reader): Promise<Policies> {
  const rows = await sql<{ service_class: ServiceClass; body: unknown }>(NEWEST);
  const bodies = new Map(rows.map((row) => [row.service_class, row.body]));
  const known = new Map<string, RetryPolicy | null>();
  return (serviceClass, override) => {
    const key = `${serviceClass}:${JSON.stringify(override ?? null)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const policy = resolveOrNull(serviceClass, bodies.get(serviceClass), override);
    known.set(key, policy);
    return policy;
  };
}

function resolveOrNull(
  serviceClass: ServiceClass,
  ofClass: unknown,
  ofDestination: unknown,
): RetryPolicy | null {
  try {
    return resolvePolicy(serviceClass, ofClass, ofDestination);
  } catch {
    return null;
  }
}
