/** The words of the domain as staff read them: states, outcomes, reasons, blockers. One place, so that pages agree. */
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Clock,
  type LucideIcon,
  Send,
} from "lucide-react";
import type { DeadReason, DeliveryState } from "#domain/delivery.ts";
import type { Tone } from "./status.tsx";

export interface StatusWords {
  label: string;
  tone: Tone;
  icon?: LucideIcon;
}

export const STATE_WORDS: Readonly<Record<DeliveryState, Required<StatusWords>>> = {
  ready: { label: "Ready", tone: "neutral", icon: CircleDashed },
  leased: { label: "Leased", tone: "accent", icon: Send },
  delayed: { label: "Delayed", tone: "warn", icon: Clock },
  delivered: { label: "Delivered", tone: "ok", icon: CircleCheck },
  dead: { label: "Dead", tone: "danger", icon: CircleX },
  cancelled: { label: "Cancelled", tone: "neutral", icon: CircleSlash },
};

const OUTCOMES: Readonly<Record<string, StatusWords>> = {
  delivered: { label: "Delivered", tone: "ok" },
  rate_limited: { label: "Rate-limited", tone: "warn" },
  transient_status: { label: "Not now", tone: "warn" },
  server_error: { label: "Server error", tone: "warn" },
  rejected: { label: "Rejected", tone: "danger" },
  redirect: { label: "Redirect, not followed", tone: "danger" },
  gone: { label: "Gone", tone: "danger" },
  timeout: { label: "Timeout, outcome unknown", tone: "warn" },
  network: { label: "Network error, outcome unknown", tone: "warn" },
  shutdown: { label: "Worker stopped, outcome unknown", tone: "warn" },
  blocked_address: { label: "Address blocked", tone: "danger" },
  bad_destination: { label: "Address cannot be used", tone: "danger" },
  payload_erased: { label: "Payload erased", tone: "danger" },
  config_error: { label: "Policy or secret cannot be used", tone: "danger" },
  lease_expired: { label: "Lease expired, worker lost", tone: "warn" },
  stale_result: { label: "Result came too late", tone: "neutral", icon: Ban },
};

/** A word that is not known here is shown as it is. */
export function outcomeWords(outcome: string): StatusWords {
  return OUTCOMES[outcome] ?? { label: outcome, tone: "unknown" };
}

export const DEAD_REASON_WORDS: Readonly<Record<DeadReason, string>> = {
  rejected: "Rejected by the receiver",
  redirect: "Redirect, not followed",
  gone: "Gone",
  attempts_exhausted: "Attempts exhausted",
  expired: "Throttled for too long",
  bad_destination: "Address cannot be used",
  blocked_address: "Address blocked",
  payload_erased: "Payload erased",
  worker_lost: "Worker lost three times",
  config_error: "Policy or secret cannot be used",
};

const OTHER_REASONS: Readonly<Record<string, string>> = {
  destination_deleted: "Destination deleted",
  staff_cancel: "Cancelled by staff",
};

/** The reason of a dead or cancelled delivery. */
export function reasonWords(reason: string): string {
  return (DEAD_REASON_WORDS as Readonly<Record<string, string>>)[reason] ?? OTHER_REASONS[reason] ?? reason;
}

/** "429 rate-limited", "timeout, outcome unknown": the last result in a table. */
export function resultText(outcome: string | null, status: number | null): string {
  if (outcome === null) return status === null ? "" : String(status);
  const word = outcomeWords(outcome).label.toLowerCase();
  return status === null ? word : `${status} ${word}`;
}
