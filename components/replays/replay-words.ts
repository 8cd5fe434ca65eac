/** The words of replay batches as staff read them. Pure; one place, so that list, draft and progress agree. */
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Eye,
  Hourglass,
  type LucideIcon,
  OctagonX,
  PauseCircle,
  Play,
} from "lucide-react";
import type { Tone } from "#components/ui/status.tsx";
import type { Exclusion, ReplayItemState, ReplayState } from "#domain/replay.ts";

export interface ReplayStateWords {
  label: string;
  tone: Tone;
  icon: LucideIcon;
}

export const REPLAY_STATE_WORDS: Readonly<Record<ReplayState, ReplayStateWords>> = {
  draft: { label: "Draft", tone: "neutral", icon: CircleDashed },
  in_review: { label: "Needs review", tone: "warn", icon: Eye },
  approved: { label: "Approved, not started", tone: "accent", icon: CircleCheck },
  canary: { label: "Canary", tone: "accent", icon: Play },
  canary_hold: { label: "Canary hold", tone: "accent", icon: Hourglass },
  running: { label: "Running", tone: "accent", icon: Play },
  paused: { label: "Paused", tone: "held", icon: PauseCircle },
  stopping: { label: "Stopping", tone: "warn", icon: OctagonX },
  completed: { label: "Completed", tone: "ok", icon: CircleCheck },
  stopped: { label: "Stopped", tone: "warn", icon: OctagonX },
  failed: { label: "Failed", tone: "danger", icon: CircleX },
  rejected: { label: "Rejected", tone: "danger", icon: Ban },
  expired: { label: "Expired", tone: "neutral", icon: Hourglass },
  cancelled: { label: "Cancelled", tone: "neutral", icon: CircleSlash },
};

/** A pause by the product is worth another look than one by a person. */
export function stateWords(state: ReplayState, pausedBy: "auto" | "person" | null): ReplayStateWords {
  const words = REPLAY_STATE_WORDS[state];
  return state === "paused" && pausedBy === "auto"
    ? { ...words, label: "Paused by itself", tone: "warn" }
    : words;
}

export const EXCLUSION_WORDS: Readonly<Record<Exclusion, string>> = {
  will_not_replay: "marked as will not replay",
  in_another_batch: "in another open batch",
  payload_gone: "body is gone",
  destination_deleted: "destination is deleted",
  destination_disabled: "destination is disabled",
  tenant_paused: "tenant is paused",
  destination_paused: "destination is paused",
  not_dead: "no longer a dead letter",
};

/** A word that is not known here is shown as it is. */
export function exclusionWords(exclusion: string): string {
  return (EXCLUSION_WORDS as Readonly<Record<string, string>>)[exclusion] ?? exclusion;
}

export const ITEM_STATE_WORDS: Readonly<Record<ReplayItemState, { label: string; tone: Tone }>> = {
  selected: { label: "Selected", tone: "neutral" },
  frozen: { label: "Not released", tone: "neutral" },
  released: { label: "In flight", tone: "accent" },
  delivered: { label: "Delivered", tone: "ok" },
  dead_again: { label: "Dead again", tone: "danger" },
  recalled: { label: "Recalled, not sent", tone: "neutral" },
  skipped: { label: "Skipped", tone: "warn" },
  not_released: { label: "Never released", tone: "neutral" },
};

/** "0.5/s"; nothing before there is a rate. */
export function rateWords(perSecond: number | null): string {
  if (perSecond === null) return "";
  return `${Number(perSecond.toFixed(perSecond < 1 ? 2 : 1))}/s`;
}

/** "97 %"; a share that is not whole is never rounded up to 100 %. */
export function shareWords(share: number | null): string {
  if (share === null) return "";
  const percent = Math.round(share * 100);
  return `${percent === 100 && share < 1 ? 99 : percent} %`;
}
