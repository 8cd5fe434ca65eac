"use client";
/** The state of a destination in words, with the time at which it ends by itself. */
import { Gauge, type LucideIcon, OctagonX, PauseCircle, PowerOff, TimerReset, Trash2 } from "lucide-react";
import { plural } from "#components/ui/format.ts";
import { StatusBadge, StatusText, type Tone } from "#components/ui/status.tsx";
import { NearTimestamp, Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationHealth, DestinationState } from "#db/console/read-destination-health.ts";

export const DESTINATION_STATE_WORDS: Readonly<
  Record<DestinationState, { label: string; tone: Tone; icon: LucideIcon }>
> = {
  active: { label: "Active", tone: "neutral", icon: Gauge },
  disabled: { label: "Disabled", tone: "held", icon: OctagonX },
  paused: { label: "Paused", tone: "held", icon: PauseCircle },
  circuit_open: { label: "Circuit open", tone: "danger", icon: PowerOff },
  rate_limited: { label: "Rate-limited", tone: "warn", icon: TimerReset },
  deleted: { label: "Deleted", tone: "neutral", icon: Trash2 },
};

export interface DestinationStateMarkProps {
  destination: Pick<
    DestinationHealth,
    "state" | "stateUntil" | "stateReason" | "failing" | "failuresSinceSuccess" | "tenantPausedUntil"
  >;
  /** The one status of a header. */
  badge?: boolean;
  /** Database time of the answer: an end that is near is told by the clock alone. */
  asOf?: string;
}

/** Failures are named before a breaker opens; a pause of the tenant is named beside the destination's own state. */
export function DestinationStateMark({ destination, badge = false, asOf }: DestinationStateMarkProps) {
  const { state, stateUntil, stateReason, failing, failuresSinceSuccess, tenantPausedUntil } = destination;
  const words = DESTINATION_STATE_WORDS[state];
  const Mark = badge ? StatusBadge : StatusText;
  return (
    <span
      title={badge ? undefined : (stateReason ?? undefined)}
      className="inline-flex flex-wrap items-center gap-x-1.5 align-top"
    >
      <Mark tone={words.tone} icon={words.icon} label={words.label} />
      {stateUntil === null ? null : (
        <span className="whitespace-nowrap text-muted">
          until{" "}
          {asOf === undefined ? (
            <Timestamp iso={stateUntil} named={badge} plain={!badge} />
          ) : (
            <NearTimestamp iso={stateUntil} asOf={asOf} />
          )}
        </span>
      )}
      {state === "active" && failing ? (
        <StatusText tone="danger" label={`${plural(failuresSinceSuccess, "failure")} in a row`} />
      ) : null}
      {tenantPausedUntil === null ? null : <StatusText tone="held" label="tenant paused" />}
    </span>
  );
}
