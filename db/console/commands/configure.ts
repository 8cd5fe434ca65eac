/**
 * What creating and changing a destination have in common: where requests may go, what seals its secret, and what the
 * audit may hold of it. A URL goes into the row and nowhere else: facts and errors carry its host and a mask.
 */
import type { PoolClient } from "pg";
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { checkDestinationUrl, type SendingRules } from "#domain/destination-url.ts";
import { maskUrl } from "#domain/masked-url.ts";
import { type RetryPolicyOverride, resolvePolicy } from "#domain/policy.ts";
import type { Keyring } from "../../secrets.ts";
import { readSendingRules } from "../../sending-rules-config.ts";
import { consoleKeyring } from "../console-keyring.ts";
import { stateConflict } from "./locked-row.ts";
import type { CommandContext, Facts } from "./run-command.ts";

export interface RulesContext extends CommandContext {
  /** Where this installation's workers send to. A URL that they would refuse is refused here. */
  readonly rules: SendingRules;
}

export interface ConfigureContext extends RulesContext {
  /** Seals the new secret. Every worker of the region must have its current key already. */
  readonly keyring: Keyring;
  /** n bytes that nobody can guess; default node:crypto's. */
  readonly randomBytes?: (n: number) => Uint8Array;
}

/** What the environment of this process says. @throws SluiceError `bad_config` naming the setting */
export function readConfigureSettings(): Pick<ConfigureContext, "rules" | "keyring"> {
  return { rules: readSendingRules(), keyring: consoleKeyring() };
}

/** Where requests may go, for a change that needs no key. @throws SluiceError `bad_config` naming the setting */
export function readRulesSettings(): Pick<RulesContext, "rules"> {
  return { rules: readSendingRules() };
}

/** @throws SluiceError `bad_destination_url`; its detail holds no URL */
export function checkUrl(url: string | undefined, rules: SendingRules): void {
  if (url !== undefined) checkDestinationUrl(url, rules);
}

/**
 * Lays an override over the policies in force: one that cannot be used would turn every delivery into a dead letter.
 * @throws SluiceError `bad_policy`, `lease_too_short`
 */
export async function checkOverride(
  client: PoolClient,
  override: RetryPolicyOverride | null | undefined,
): Promise<void> {
  if (override === null || override === undefined) return;
  const { rows } = await client.query<{ service_class: ServiceClass; body: unknown }>(
    `SELECT DISTINCT ON (service_class) service_class, body FROM sluice.policy ORDER BY service_class, version DESC`,
  );
  for (const serviceClass of SERVICE_CLASSES) {
    const inForce = rows.find((row) => row.service_class === serviceClass)?.body;
    resolvePolicy(serviceClass, inForce, override);
  }
}

/** Names are how people and the command line tell a tenant's destinations apart. The tenant's row is locked already. */
export async function refuseTakenName(
  client: PoolClient,
  tenantId: string,
  name: string,
  exceptId: string | null,
): Promise<void> {
  const { rows } = await client.query(
    `SELECT 1 FROM sluice.destination WHERE tenant_id = $1 AND name = $2 AND deleted_at IS NULL
        AND ($3::uuid IS NULL OR id <> $3) LIMIT 1`,
    [tenantId, name, exceptId],
  );
  if (rows.length > 0) throw stateConflict("the tenant has a destination of this name already");
}

/** What the audit keeps of a URL. */
export function urlFacts(url: string): Facts {
  const { host, masked } = maskUrl(url);
  return { host, url: masked };
}

/** A fact is one value: the override as text. */
export function overrideFact(override: unknown): string | null {
  return override === null || override === undefined ? null : JSON.stringify(override);
}
