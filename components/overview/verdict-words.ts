/**
 * The verdict of a region in words. Green is said only when the region answered, is inside its objectives and the answer
 * is fresh; everything else is named for what it is.
 */

import { plural } from "#components/ui/format.ts";
import { sentence } from "#components/ui/sentence.ts";
import type { Tone } from "#components/ui/status.tsx";
import type { TenantState } from "#db/console/queue-summary.ts";
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { VerdictLevel } from "#db/console/verdict.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";

/** Workers sample every 5 s. */
const SAMPLE_LIMIT_MS = 20_000;

export interface VerdictWords {
  tone: Tone;
  /** "late", "on time": the word of the badge. */
  label: string;
  /** What decided it, as sentences. */
  main: string;
  /** What else is so. */
  aside: string;
}

const LEVELS: Record<VerdictLevel, { tone: Tone; label: string }> = {
  on_time: { tone: "ok", label: "on time" },
  slow: { tone: "warn", label: "slow" },
  late: { tone: "danger", label: "late" },
  stopped: { tone: "danger", label: "stopped" },
  draining: { tone: "held", label: "claims stopped" },
};

/** `stale` means that the page has not heard from the console for several intervals. */
export function wordsFor(answer: RegionAnswer<RegionOverview>, stale: boolean): VerdictWords {
  if (answer.status === "unavailable") {
    return {
      tone: "danger",
      label: "does not answer",
      main: answer.detail,
      aside: "Its numbers are unknown, not zero.",
    };
  }
  const { verdict } = answer.data;
  const level = LEVELS[verdict.level];
  const words = {
    ...level,
    main: mainOf(answer.data, answer.asOf),
    aside: asideOf(answer.data, answer.asOf),
  };
  if (stale && verdict.level === "on_time") return { ...words, tone: "unknown", label: "was on time" };
  return words;
}

/**
 * The sentences of all regions. Green only when every region is inside its objectives and fresh: beside one that is not,
 * a region on time is plain.
 */
export function wordsForAll(
  answers: readonly RegionAnswer<RegionOverview>[],
  stale: boolean,
): { region: Region; words: VerdictWords }[] {
  const lines = answers.map((answer) => ({ region: answer.region, words: wordsFor(answer, stale) }));
  if (lines.every(({ words }) => words.tone === "ok")) return lines;
  return lines.map(({ region, words }) => ({
    region,
    words: words.tone === "ok" ? { ...words, tone: "neutral" } : words,
  }));
}

function mainOf(region: RegionOverview, asOf: string): string {
  const { verdict, due } = region;
  const firstText = firstAttemptText(region);
  switch (verdict.because) {
    case "no_worker":
      return `${silentWorkers(region, asOf)} ${firstText}`;
    case "draining":
      return `${sentence(region.draining?.reason ?? "No reason was written down")} ${firstText}`;
    case "due_lag":
      return `Oldest due work has waited ${formatAge(due.oldestMs)} for a worker, ${plural(due.count, "delivery", "deliveries")} in all.`;
    default:
      return firstText;
  }
}

/**
 * The oldest first attempt. Where the class that is worst against its target is not the oldest, both are named: an age
 * that is smaller than the one in the table below it must say whose it is.
 */
function firstAttemptText({ verdict, firstAttempt, thresholds }: RegionOverview): string {
  const worst = verdict.firstAttempt;
  if (worst.oldestMs === 0) return "Nothing waits for its first attempt.";
  const age = ({ oldestMs, targetMs }: { oldestMs: number; targetMs: number }) =>
    `${formatAge(oldestMs)} (target ${formatLength(targetMs)})`;
  const older = firstAttempt.filter(({ oldestMs }) => oldestMs > worst.oldestMs);
  if (older.length === 0) return `Oldest first attempt ${age(worst)}.`;
  const others = older.map(
    ({ serviceClass, oldestMs }) =>
      `, ${serviceClass} ${age({ oldestMs, targetMs: thresholds.objectives[serviceClass].firstAttemptTargetMs })}`,
  );
  return `Oldest first attempt: ${worst.serviceClass} ${age(worst)}${others.join("")}.`;
}

function silentWorkers(region: RegionOverview, asOf: string): string {
  const last = region.workers.lastHeartbeatAt;
  if (last === null) return "No worker has ever reported.";
  return `No worker has reported for ${formatAge(Date.parse(asOf) - Date.parse(last))}.`;
}

function asideOf(region: RegionOverview, asOf: string): string {
  const parts: string[] = [];
  if (region.verdict.tenantsAffected > 0)
    parts.push(`${plural(region.verdict.tenantsAffected, "tenant")} affected${worstTenant(region)}.`);
  if (region.pausedTenants > 0) parts.push(`${plural(region.pausedTenants, "tenant")} paused.`);
  if (isSilent(region.lastSampleAt, asOf)) parts.push("Sampling has stopped: the charts have no data.");
  return parts.join(" ");
}

const CAUSES: Partial<Record<TenantState, string>> = {
  rate_limited: ", rate-limited by its own endpoint",
  circuit_open: ", its own endpoint keeps failing",
};

/** Who it is and, where its own endpoint is the cause, that; tenants come ranked by their worst lag. */
function worstTenant(region: RegionOverview): string {
  const worst = region.tenants[0];
  if (worst === undefined) return "";
  const cause = CAUSES[worst.state] ?? "";
  return `, worst ${worst.name}${cause}`;
}

/** Four samplings late, or never begun. */
function isSilent(lastSampleAt: string | null, asOf: string): boolean {
  return lastSampleAt === null || Date.parse(asOf) - Date.parse(lastSampleAt) > SAMPLE_LIMIT_MS;
}
