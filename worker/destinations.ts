/**
 * What a request needs to know of its destination, cached by (id, version): address, signing keys, policy. The version
 * is read with every claim, so a change is used by the next attempt. Secrets are opened here and nowhere else, and
 * live only as key objects. What cannot be used is a value, never an exception: it ends as a decision.
 */
import type { KeyObject } from "node:crypto";
import type { DestinationRow } from "#db/queue/configuration.ts";
import type { QueueStore } from "#db/queue/store.ts";
import { type Keyring, openSecret } from "#db/secrets.ts";
import type { ServiceClass } from "#domain/delivery.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { readDestinationUrl, type SendingRules, STRICT_RULES } from "#domain/destination-url.ts";
import { type RetryPolicy, resolvePolicy } from "#domain/policy.ts";
import { prepareSecret } from "#domain/signature.ts";

/** Most destinations that are remembered; the oldest go first. */
export const MAX_CACHED_DESTINATIONS = 20_000;

export interface Target {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
}

export interface SendPlan {
  readonly version: number;
  /** Null: the stored URL cannot be requested; `badUrl` or `blockedAddress` says why. */
  readonly target: Target | null;
  readonly badUrl: string | null;
  /** A literal address in the URL that must not be reached, with its kind. */
  readonly blockedAddress: string | null;
  /** Null: the secret or the policy cannot be used; `configError` says why. */
  readonly secrets: readonly SigningSecret[] | null;
  readonly policies: Readonly<Record<ServiceClass, RetryPolicy>> | null;
  readonly configError: string | null;
  readonly plainSignatureHeader: string | null;
}

export interface SigningSecret {
  readonly key: KeyObject;
  /** The previous secret signs until then (database time); null: no end. */
  readonly untilMs: number | null;
}

export class DestinationCache {
  #plans = new Map<string, SendPlan>();
  #classPolicies = new Map<ServiceClass, unknown>();
  readonly #keyring: Keyring;
  readonly #rules: SendingRules;

  /** @param rules where requests may go; default nowhere but to public addresses, by https */
  constructor(keyring: Keyring, rules: SendingRules = STRICT_RULES) {
    this.#keyring = keyring;
    this.#rules = rules;
  }

  /** The policies of the classes have been read again; plans made from older ones go. */
  usePolicies(policies: Map<ServiceClass, unknown>): void {
    if (JSON.stringify([...policies]) === JSON.stringify([...this.#classPolicies])) return;
    this.#classPolicies = policies;
    this.#plans.clear();
  }

  /**
   * The plans of the named destinations, at the named version or a newer one. What is returned belongs to the caller:
   * a change of policy or a full cache that comes meanwhile takes nothing out of it. An id is missing only when the
   * destination's row does not exist.
   */
  async load(
    store: Pick<QueueStore, "readDestinations">,
    wanted: ReadonlyMap<string, number>,
  ): Promise<Map<string, SendPlan>> {
    const plans = new Map<string, SendPlan>();
    const missing: string[] = [];
    for (const [id, version] of wanted) {
      const plan = this.#plans.get(id);
      if (plan !== undefined && plan.version >= version) plans.set(id, plan);
      else missing.push(id);
    }
    if (missing.length === 0) return plans;
    for (const row of await store.readDestinations(missing)) {
      const plan = this.#plan(row);
      plans.set(row.id, plan);
      this.#plans.set(row.id, plan);
    }
    for (const id of this.#plans.keys()) {
      if (this.#plans.size <= MAX_CACHED_DESTINATIONS) break;
      this.#plans.delete(id);
    }
    return plans;
  }

  #plan(row: DestinationRow): SendPlan {
    const url = readDestinationUrl(row.url, this.#rules);
    const secrets = this.#secrets(row);
    const policies = this.#policies(row);
    return {
      version: row.version,
      target: url.kind === "ok" ? { origin: url.url.origin, path: url.url.path } : null,
      badUrl: url.kind === "bad" ? url.detail : null,
      blockedAddress: url.kind === "blocked" ? url.address : null,
      secrets: typeof secrets === "string" ? null : secrets,
      policies: typeof policies === "string" ? null : policies,
      configError: typeof secrets === "string" ? secrets : typeof policies === "string" ? policies : null,
      plainSignatureHeader: row.plainSignatureHeader,
    };
  }

  #secrets(row: DestinationRow): SigningSecret[] | string {
    try {
      const secrets: SigningSecret[] = [
        { key: prepareSecret(openSecret(this.#keyring, row.secretCurrent)), untilMs: null },
      ];
      if (row.secretPrevious !== null) {
        const key = prepareSecret(openSecret(this.#keyring, row.secretPrevious));
        secrets.push({ key, untilMs: row.secretPreviousUntilMs });
      }
      return secrets;
    } catch (error) {
      return `secret: ${error instanceof Error ? error.message : "cannot be used"}`;
    }
  }

  #policies(row: DestinationRow): Record<ServiceClass, RetryPolicy> | string {
    try {
      const entries = SERVICE_CLASSES.map((serviceClass) => [
        serviceClass,
        resolvePolicy(serviceClass, this.#classPolicies.get(serviceClass), row.policyOverride),
      ]);
      return Object.fromEntries(entries) as Record<ServiceClass, RetryPolicy>;
    } catch (error) {
      return `policy: ${error instanceof Error ? error.message : "cannot be used"}`;
    }
  }
}
