/**
 * What a cause of dead letters means, in words that decide what to do: a receiver that reads and refuses is another thing
 * than one that is down, and both another than a body that nobody could send. Pure.
 */
import { Ban, FileX, type LucideIcon, ServerCrash, Unplug } from "lucide-react";
import { formatCount } from "#components/ui/format.ts";
import type { Tone } from "#components/ui/status.tsx";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import type { GroupState } from "#domain/dead-letter-group.ts";
import type { DeadClass, DeadReason } from "#domain/delivery.ts";

export interface CauseFacts {
  readonly reason: DeadReason;
  readonly lastStatus: number | null;
  readonly lastOutcome: string | null;
}

export interface CauseWords {
  /** Names the cause in a row. */
  readonly title: string;
  /** What follows from it. */
  readonly hint: string;
}

const REFUSED_HINT =
  "The receiver is up and refuses what it gets. Waiting changes nothing: the body or the receiver has to change.";
const DOWN_HINT =
  "The bodies are fine as far as anybody knows: nobody read them. Once the destination works again they can be sent.";

const REFUSALS: Readonly<Record<number, CauseWords>> = {
  400: { title: "Bodies not accepted", hint: REFUSED_HINT },
  401: { title: "Not authorised", hint: "The receiver does not accept the signature or the credentials." },
  403: { title: "Not authorised", hint: "The receiver knows who asks and refuses it." },
  404: {
    title: "Address not found",
    hint: "Nothing answers at this address of the receiver. Correct the URL.",
  },
  405: { title: "Address does not take POST", hint: "The address is not one for webhooks. Correct the URL." },
  413: { title: "Bodies too large", hint: "The receiver takes smaller bodies only." },
  415: { title: "Content type not accepted", hint: REFUSED_HINT },
  422: { title: "Bodies not accepted", hint: REFUSED_HINT },
};

const DOWN: Readonly<Record<string, CauseWords>> = {
  network: { title: "Destination down: no connection", hint: DOWN_HINT },
  timeout: {
    title: "Destination down: no answer in time",
    hint: `${DOWN_HINT} What timed out may have arrived.`,
  },
  server_error: { title: "Destination failing: server errors", hint: DOWN_HINT },
  transient_status: { title: "Destination kept saying: not now", hint: DOWN_HINT },
};

const HINTS: Readonly<Partial<Record<DeadReason, string>>> = {
  redirect: "Redirects are never followed. Correct the URL.",
  gone: "The receiver says that the address is gone for good. The destination was disabled.",
  expired:
    "The receiver answered 429 for too long. Lower the rate, or ask for a higher limit, before anything is sent again.",
  bad_destination: "No request could be made to this URL. Correct it.",
  blocked_address: "The address leads to where the product must not send.",
  payload_erased:
    "A person has erased or restricted the bodies. Nothing can be sent until a restricted one is given back.",
  config_error: "The destination's secret or policy cannot be used. Correct it.",
  worker_lost: "Three workers in a row were lost with it. Look at the workers, then at the body.",
};

/** Never the text of an answer: that is a body, and shown only where its view is audited. */
export function causeWords({ reason, lastStatus, lastOutcome }: CauseFacts): CauseWords {
  if (reason === "rejected") {
    return (
      (lastStatus === null ? undefined : REFUSALS[lastStatus]) ?? {
        title: "Refused by the receiver",
        hint: REFUSED_HINT,
      }
    );
  }
  if (reason === "attempts_exhausted") {
    return (
      (lastOutcome === null ? undefined : DOWN[lastOutcome]) ?? {
        title: DEAD_REASON_WORDS[reason],
        hint: DOWN_HINT,
      }
    );
  }
  return { title: DEAD_REASON_WORDS[reason], hint: HINTS[reason] ?? "" };
}

/** Ends without a status that are worth a word; the others only repeat the reason. */
const OUTCOME_CODES: Readonly<Record<string, string>> = { timeout: "timeout", network: "network" };

/** "422", "ECONNREFUSED", "timeout": the shortest that tells how it ended. */
export function codeText(row: {
  readonly lastStatus: number | null;
  readonly lastOutcome: string | null;
  readonly errorCode?: string | null;
}): string {
  if (row.lastStatus !== null) return String(row.lastStatus);
  const code = OUTCOME_CODES[row.lastOutcome ?? ""];
  return code === undefined ? "\u2013" : (row.errorCode ?? code);
}

export interface ClassWords {
  readonly label: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
  /** One line under the number. */
  readonly means: string;
}

/** Only system reasons page a person, so only they are drawn as danger. */
export const CLASS_WORDS: Readonly<Record<DeadClass, ClassWords>> = {
  receiver: { label: "Receiver", tone: "accent", icon: Ban, means: "it read the request and refused it" },
  exhausted: { label: "Exhausted", tone: "warn", icon: Unplug, means: "tried to the end" },
  poison: { label: "Poison", tone: "warn", icon: FileX, means: "cannot be sent as it is" },
  system: { label: "System", tone: "danger", icon: ServerCrash, means: "ours to look at" },
};

export interface StateWords {
  readonly label: string;
  readonly tone: Tone;
}

export const GROUP_STATE_WORDS: Readonly<Record<GroupState, StateWords>> = {
  new: { label: "New", tone: "warn" },
  acknowledged: { label: "Acknowledged", tone: "accent" },
  replaying: { label: "Replaying", tone: "accent" },
  resolved: { label: "Resolved", tone: "ok" },
  regressed: { label: "Regressed", tone: "danger" },
};

/** Whether the destination takes other deliveries: "412 of 420 delivered". */
export function lastHourWords({ requests, delivered }: { requests: number; delivered: number }): string {
  if (requests === 0) return "no request";
  return `${formatCount(delivered)} of ${formatCount(requests)} delivered`;
}
