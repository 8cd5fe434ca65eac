"use client";
/** The state of a tenant in one region, in words and with the time at which it ends by itself. */
import { Gauge, type LucideIcon, PauseCircle, PowerOff, TimerReset, Trash2 } from "lucide-react";
import { StatusBadge, StatusText, type Tone } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { TenantState } from "#db/console/read-tenant.ts";

export const TENANT_STATE_WORDS: Readonly<
  Record<TenantState, { label: string; tone: Tone; icon: LucideIcon }>
> = {
  active: { label: "Active", tone: "neutral", icon: Gauge },
  paused: { label: "Paused", tone: "held", icon: PauseCircle },
  limited: { label: "Rate-limited", tone: "warn", icon: TimerReset },
  circuit_open: { label: "Circuit open", tone: "danger", icon: PowerOff },
  deleted: { label: "Deleted", tone: "neutral", icon: Trash2 },
};

export interface TenantStateProps {
  state: TenantState;
  /** UTC. */
  until: string | null;
  /** The one status of a header. */
  badge?: boolean;
  /** Shown when it is pointed at. */
  reason?: string | null;
}

export function TenantStateMark({ state, until, badge = false, reason }: TenantStateProps) {
  const words = TENANT_STATE_WORDS[state];
  const Mark = badge ? StatusBadge : StatusText;
  return (
    <span title={reason ?? undefined} className="inline-flex flex-wrap items-center gap-x-1.5 align-top">
      <Mark tone={words.tone} icon={words.icon} label={words.label} />
      {until === null ? null : (
        <span className="whitespace-nowrap text-muted">
          until <Timestamp iso={until} named={badge} plain={!badge} />
        </span>
      )}
    </span>
  );
}
