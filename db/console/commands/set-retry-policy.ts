/**
 * The next version of a class's retry policy. It counts for every decision from the answer on, also for deliveries that
 * are waiting already; due times that were decided before stay. It must never let a policy in that a destination's own
 * override cannot be laid over: its deliveries would die of `config_error`.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { SetRetryPolicy } from "#domain/commands-policy.ts";
import type { ServiceClass } from "#domain/delivery.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { type RetryPolicy, type RetryPolicyOverride, resolvePolicy } from "#domain/policy.ts";
import {
  BUILT_IN,
  insertVersion,
  namesOf,
  policyFacts,
  requireAdmin,
  requireNewest,
  type StoredPolicy,
} from "./policy-version.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** Different overrides of destinations that one change can be checked against. */
const MAX_OVERRIDES = 5_000;
const NAMED_DESTINATIONS = 5;

/**
 * @throws SluiceError `forbidden` for everybody but an administrator, `version_conflict`, `bad_policy` (the detail names
 *   the destination whose override does not fit), and those of readCommand and runCommand
 */
export async function setRetryPolicy(context: CommandContext, input: SetRetryPolicy): Promise<CommandAnswer> {
  const command = readCommand(SetRetryPolicy, input);
  const { reason, ticket, version: seen, serviceClass, retry: changes } = command;
  return runCommand(
    context,
    { action: "policy.retry", targetKind: "region", targetId: context.region, reason, ticket },
    async (client) => {
      requireAdmin(context, "a retry policy");
      const newest = await readNewest(client, serviceClass);
      const subject = `the retry policy of ${serviceClass} deliveries in ${context.region}`;
      requireNewest(subject, seen, newest);
      const body = laidOver(newest.body, changes);
      const after = resolveOrRefuse("", serviceClass, body);
      await checkOverrides(client, serviceClass, body);
      await insertVersion(client, {
        subject,
        seen,
        text: `INSERT INTO sluice.policy (service_class, version, region, body, created_by, reason)
               SELECT $1, $2, rc.region, $3, $4, $5 FROM sluice.region_control rc`,
        values: [serviceClass, seen + 1, JSON.stringify(body), context.actor, reason],
      });
      const names = namesOf(changes);
      return {
        tenantId: null,
        version: seen + 1,
        before: { serviceClass, policyVersion: seen, ...factsOr(serviceClass, newest.body, names) },
        after: { serviceClass, policyVersion: seen + 1, ...policyFacts(after, names) },
      };
    },
  );
}

async function readNewest(client: PoolClient, serviceClass: ServiceClass): Promise<StoredPolicy> {
  const { rows } = await client.query<StoredPolicy>(
    "SELECT p.version, p.body FROM sluice.policy p WHERE p.service_class = $1 ORDER BY p.version DESC LIMIT 1",
    [serviceClass],
  );
  return rows[0] ?? BUILT_IN;
}

/** What is left out stays, also inside of a part: the backoff's cap alone can be changed. */
function laidOver(
  stored: StoredPolicy["body"],
  { backoff, retryAfter, gate, ...rest }: RetryPolicyOverride,
): Record<string, unknown> {
  const part = (name: "backoff" | "retryAfter" | "gate", changes: object | undefined) =>
    changes === undefined ? {} : { [name]: { ...(stored[name] as object | undefined), ...changes } };
  return {
    ...stored,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...part("backoff", backoff),
    ...part("retryAfter", retryAfter),
    ...part("gate", gate),
  };
}

/** What was in force; a stored policy that cannot be used was in force for nobody. */
function factsOr(serviceClass: ServiceClass, body: unknown, names: readonly string[]) {
  try {
    return policyFacts(resolvePolicy(serviceClass, body), names);
  } catch {
    return { unusable: true };
  }
}

interface OverrideRow {
  policy_override: unknown;
  ids: string[];
  names: string[];
}

const OVERRIDES = `
  SELECT d.policy_override, (array_agg(d.id ORDER BY d.id))[1:${NAMED_DESTINATIONS}] AS ids,
         (array_agg(d.name ORDER BY d.id))[1:${NAMED_DESTINATIONS}] AS names
    FROM sluice.destination d
   WHERE d.policy_override IS NOT NULL AND d.deleted_at IS NULL
   GROUP BY d.policy_override LIMIT ${MAX_OVERRIDES + 1}`;

async function checkOverrides(client: PoolClient, serviceClass: ServiceClass, body: unknown): Promise<void> {
  const { rows } = await client.query<OverrideRow>(OVERRIDES);
  if (rows.length > MAX_OVERRIDES) {
    throw new SluiceError(
      "bad_policy",
      `destinations have more than ${MAX_OVERRIDES} different overrides: this change cannot be checked against all of them`,
    );
  }
  for (const { policy_override: override, ids, names } of rows) {
    const who = names.map((name, index) => `${name} (${toPublicId("dst", ids[index] ?? "")})`).join(", ");
    resolveOrRefuse(`with the override of ${who}: `, serviceClass, body, override);
  }
}

/** A lease that is too short is a mistake of whoever asked here, not of a process that starts. */
function resolveOrRefuse(
  where: string,
  serviceClass: ServiceClass,
  ...overrides: readonly unknown[]
): RetryPolicy {
  try {
    return resolvePolicy(serviceClass, ...overrides);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    throw new SluiceError("bad_policy", `${where}${error.detail}`, undefined, { cause: error });
  }
}
