/** How a region's claims and workers are put into words. Pure. */
import { actorWords } from "#components/ui/actor-words.ts";
import { plural } from "#components/ui/format.ts";
import { sentence } from "#components/ui/sentence.ts";
import type { Tone } from "#components/ui/status.tsx";
import type { RegionHealth, RegionWorker } from "#db/console/read-regions.ts";

export interface ClaimsWords {
  label: string;
  tone: Tone;
  why: string;
}

/** Claims that are on while nobody is there to make them are not "on" for whoever waits. */
export function claimsWords({ claims, workers }: Pick<RegionHealth, "claims" | "workers">): ClaimsWords {
  if (claims.state === "stopped") {
    const by = claims.by === null ? "Somebody" : actorWords(claims.by);
    return {
      label: "Claims stopped",
      tone: "held",
      why: `${by} stopped the claims: ${sentence(claims.reason ?? "no reason was given")} New deliveries are still accepted and held.`,
    };
  }
  if (!workers.some(({ state }) => state === "running")) {
    return {
      label: "No worker runs",
      tone: "danger",
      why: "Claims are on, but nothing is there to make them. Start a worker.",
    };
  }
  if (claims.state === "partial") {
    const why =
      claims.owner === "sluice"
        ? `Claims are on, but another owner has those of ${plural(claims.handedOver, "tenant")}.`
        : `The claims of the region are made by ${claims.owner}, not by these workers.`;
    return { label: "Claims partial", tone: "warn", why };
  }
  return { label: "Claims on", tone: "ok", why: "Every tenant's due work may be claimed." };
}

export const WORKER_STATES: Readonly<Record<RegionWorker["state"], { label: string; tone: Tone }>> = {
  running: { label: "Running", tone: "ok" },
  stopping: { label: "Draining", tone: "held" },
  silent: { label: "Silent", tone: "danger" },
};

/** Bounds that a page shows; the finer ones of the roll-up are summed into them. */
const SHOWN_BOUNDS_MS = [100, 1_000, 15_000, 60_000, 120_000, 300_000, 3_600_000];

export interface LagBar {
  /** "up to 1 s" */
  readonly label: string;
  readonly count: number;
}

/** The histogram in fewer bars. The last one has no bound. */
export function lagBars({ boundsMs, counts }: Pick<RegionHealth["lag"], "boundsMs" | "counts">): LagBar[] {
  let from = 0;
  const bars = SHOWN_BOUNDS_MS.map((boundMs) => {
    const end = boundsMs.indexOf(boundMs) + 1;
    const count = sumOf(counts.slice(from, end));
    from = Math.max(from, end);
    return { label: `up to ${durationText(boundMs)}`, count };
  });
  const longest = durationText(SHOWN_BOUNDS_MS.at(-1) ?? 0);
  return [...bars, { label: `over ${longest}`, count: sumOf(counts.slice(from)) }];
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** 100 -> "100 ms", 60000 -> "1 m". */
function durationText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} m` : `${ms / 3_600_000} h`;
}
