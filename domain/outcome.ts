/**
 * What one attempt returned, as a value, and what kind of answer that is. The sender makes an Outcome and
 * nothing else; retry-policy.ts turns it into a decision. Success is only ever a 2xx that arrived: nothing here
 * may infer it from a connection that broke.
 */
import type { RetryPolicy } from "./policy.ts";

/** Where in the exchange a network error or a timeout happened. */
export const NETWORK_PHASES = ["dns", "connect", "tls", "request", "headers", "body"] as const;
export type NetworkPhase = (typeof NETWORK_PHASES)[number];

export interface ResponseOutcome {
  readonly kind: "response";
  readonly status: number;
  /** The header exactly as it came, several values joined by ", "; null when there was none. */
  readonly retryAfterHeader: string | null;
  readonly durationMs: number;
  /** First bytes of the decoded response body, already bounded by the sender. */
  readonly bodyExcerpt?: Uint8Array;
  /** Decoded bytes that were read before the rest was dropped. */
  readonly bodyBytes?: number;
  readonly bodyTruncated?: boolean;
}

export interface NetworkOutcome {
  readonly kind: "network";
  /** Error code such as ECONNRESET or ENOTFOUND. */
  readonly code: string;
  readonly phase: NetworkPhase;
  readonly durationMs?: number;
  /**
   * It broke without a byte of an answer on a connection that had been used before: most often the receiver had just
   * given up the idle connection, which says nothing about its health.
   */
  readonly keptConnection?: boolean;
}

/** The deadline over the whole exchange ended it. */
export interface TimeoutOutcome {
  readonly kind: "timeout";
  readonly phase?: NetworkPhase;
  readonly durationMs?: number;
}

/** This process was told to stop and cut the request off: what the receiver did is unknown. */
export interface ShutdownOutcome {
  readonly kind: "shutdown";
  readonly durationMs?: number;
}

/** The address is one that must not be reached; no connection was made. */
export interface BlockedOutcome {
  readonly kind: "blocked";
  readonly address: string;
}

/** The stored URL cannot be requested; no request was made. */
export interface BadDestinationOutcome {
  readonly kind: "bad_destination";
  readonly detail?: string;
}

/** The body was erased or is missing; no request was made. */
export interface PayloadErasedOutcome {
  readonly kind: "payload_erased";
}

/** The policy or the secret cannot be used; no request was made. */
export interface ConfigErrorOutcome {
  readonly kind: "config_error";
  readonly detail?: string;
}

export type Outcome =
  | ResponseOutcome
  | NetworkOutcome
  | TimeoutOutcome
  | ShutdownOutcome
  | BlockedOutcome
  | BadDestinationOutcome
  | PayloadErasedOutcome
  | ConfigErrorOutcome;

/**
 * What kind of answer an outcome is, under a policy.
 * throttled: 429. transient: worth another try. permanent: the receiver refuses this delivery.
 * ambiguous: the receiver may or may not have it. interrupted: ambiguous by our own doing.
 */
export type OutcomeClass =
  | "delivered"
  | "throttled"
  | "transient"
  | "permanent"
  | "redirect"
  | "gone"
  | "ambiguous"
  | "interrupted"
  | "blocked"
  | "bad_destination"
  | "erased"
  | "config_error";

/**
 * Words under which an attempt's outcome is stored, filtered and drawn. The last two are written by the
 * reconciler and by a late finish, not by a request.
 */
export const OUTCOME_WORDS = [
  "delivered",
  "rate_limited",
  "transient_status",
  "server_error",
  "rejected",
  "redirect",
  "gone",
  "timeout",
  "network",
  "shutdown",
  "blocked_address",
  "bad_destination",
  "payload_erased",
  "config_error",
  "lease_expired",
  "stale_result",
] as const;
export type OutcomeWord = (typeof OUTCOME_WORDS)[number];

/**
 * Words that are no outcome of a request of the current lease holder: a row that has only these is still waiting
 * for its first attempt.
 */
export const WORDS_WITHOUT_OUTCOME: readonly OutcomeWord[] = ["lease_expired", "stale_result"];

/** 4xx answers that say "not now" rather than "not this". 429 is told apart because it spends no failure. */
const TRANSIENT_4XX: ReadonlySet<number> = new Set([408, 409, 425]);

type ClassifyingPolicy = Pick<RetryPolicy, "permanentStatuses">;

/** Classifies one outcome. Unknown statuses (1xx as a final answer, 599, 600 and above) are transient. */
export function classify(outcome: Outcome, policy: ClassifyingPolicy): OutcomeClass {
  switch (outcome.kind) {
    case "response":
      return classifyStatus(outcome.status, policy);
    case "network":
    case "timeout":
      return "ambiguous";
    case "shutdown":
      return "interrupted";
    case "blocked":
      return "blocked";
    case "bad_destination":
      return "bad_destination";
    case "payload_erased":
      return "erased";
    case "config_error":
      return "config_error";
  }
}

function classifyStatus(status: number, policy: ClassifyingPolicy): OutcomeClass {
  if (status >= 200 && status <= 299) {
    return "delivered";
  }
  if (status >= 300 && status <= 399) {
    return "redirect";
  }
  if (status === 429) {
    return "throttled";
  }
  if (status === 410) {
    return "gone";
  }
  if (policy.permanentStatuses.includes(status)) {
    return "permanent";
  }
  if (TRANSIENT_4XX.has(status)) {
    return "transient";
  }
  return status >= 400 && status <= 499 ? "permanent" : "transient";
}

/** The word under which an attempt with this outcome is stored. */
export function outcomeWord(outcome: Outcome, policy: ClassifyingPolicy): OutcomeWord {
  const outcomeClass = classify(outcome, policy);
  switch (outcomeClass) {
    case "delivered":
    case "redirect":
    case "gone":
    case "bad_destination":
    case "config_error":
      return outcomeClass;
    case "throttled":
      return "rate_limited";
    case "transient":
      return outcome.kind === "response" && TRANSIENT_4XX.has(outcome.status)
        ? "transient_status"
        : "server_error";
    case "permanent":
      return "rejected";
    case "ambiguous":
      return outcome.kind === "timeout" ? "timeout" : "network";
    case "interrupted":
      return "shutdown";
    case "blocked":
      return "blocked_address";
    case "erased":
      return "payload_erased";
  }
}

/**
 * Whether an outcome speaks against the destination itself, for whatever judges destinations (auto-disable, breaker).
 * A 429 is a receiver that works; what this process broke off, what was never sent, and a kept connection that had died
 * meanwhile say nothing. It decides nothing about the delivery: its own failure count goes by the policy.
 */
export function speaksAgainstDestination(outcome: Outcome, policy: ClassifyingPolicy): boolean {
  if (outcome.kind === "network" && outcome.keptConnection === true) return false;
  switch (classify(outcome, policy)) {
    case "transient":
    case "permanent":
    case "redirect":
    case "gone":
    case "ambiguous":
      return true;
    default:
      return false;
  }
}

/** False when the delivery ended, or was stopped, before any byte could reach a receiver. */
export function requestMade(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case "blocked":
    case "bad_destination":
    case "payload_erased":
    case "config_error":
      return false;
    default:
      return true;
  }
}
