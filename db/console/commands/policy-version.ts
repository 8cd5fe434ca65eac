/**
 * The next version of a policy: whoever is second loses, and the version before stays for good. A version is a row of its
 * own, so nothing is locked; its number is the guard.
 */
import type { PoolClient, QueryResult } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { versionConflict } from "./locked-row.ts";
import { type CommandContext, type Facts, Refusal } from "./run-command.ts";

const UNIQUE_VIOLATION = "23505";

/** The newest row of a policy, or that there is none. */
export interface StoredPolicy {
  readonly version: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const BUILT_IN: StoredPolicy = { version: 0, body: {} };

/** @throws Refusal `forbidden` for everybody but an administrator */
export function requireAdmin({ role }: CommandContext, what: string): void {
  if (role === "admin") return;
  const error = new SluiceError("forbidden", `${what} needs the role admin`, {
    action: "policies",
    roles: ["admin"],
  });
  throw new Refusal("denied", error);
}

/** @throws Refusal `version_conflict` when `seen` is not the newest */
export function requireNewest(subject: string, seen: number, { version }: StoredPolicy): void {
  if (version !== seen) throw versionConflict(subject, seen, version, {});
}

/**
 * Runs the INSERT of the version after `seen`.
 * @throws Refusal `version_conflict` when somebody else was faster by a moment
 */
export async function insertVersion(
  client: PoolClient,
  {
    subject,
    seen,
    text,
    values,
  }: { subject: string; seen: number; text: string; values: readonly unknown[] },
): Promise<QueryResult> {
  try {
    return await client.query(text, [...values]);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw versionConflict(subject, seen, seen + 1, {});
  }
}

/** A policy as the audit keeps it: flat, `backoff.baseMs`. Only the named ones, for the rest did not change. */
export function policyFacts(policy: object, names: readonly string[]): Facts {
  return Object.fromEntries(names.map((name) => [name, factOf(valueAt(policy, name))]));
}

/** `backoff.baseMs` for each number that an override names. */
export function namesOf(override: object, prefix = ""): string[] {
  return Object.entries(override).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isPart = typeof value === "object" && value !== null && !Array.isArray(value);
    return isPart ? namesOf(value as object, `${prefix}${name}.`) : [`${prefix}${name}`];
  });
}

function valueAt(policy: object, name: string): unknown {
  return name.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], policy);
}

function factOf(value: unknown): string | number | boolean | null {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return value === undefined ? null : (value as string | number | boolean | null);
}
