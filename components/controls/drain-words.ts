/** Whether a region is drained, in words. Only the API's own count makes it safe. Pure. */
import type { Tone } from "#components/ui/status.tsx";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";

export interface DrainVerdict {
  readonly word: string;
  readonly tone: Tone;
  /** What it waits for; null when it is safe. */
  readonly why: string | null;
}

export function drainVerdict(
  status: Pick<DrainStatus, "claims" | "leases" | "expiredLeases" | "workers" | "drained">,
): DrainVerdict {
  if (status.claims === "on") {
    return { word: "no, claims are on", tone: "warn", why: "Workers take up work in this region." };
  }
  if (status.drained) return { word: "yes", tone: "ok", why: null };
  if (status.leases > 0 && status.leases === status.expiredLeases && status.workers === 0) {
    return {
      word: "not yet",
      tone: "warn",
      why: "The leases have ended but no worker runs to take them back. Start one: it takes them back without sending.",
    };
  }
  if (status.leases === 0) {
    return { word: "not yet", tone: "warn", why: "No lease is left, but the proof could not be had yet." };
  }
  return { word: "not yet", tone: "warn", why: "Requests in flight end by themselves; nothing new begins." };
}
