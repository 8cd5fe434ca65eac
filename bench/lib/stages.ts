/**
 * Where the time between a moment and the arrival of its request goes, one stage behind the other, so that a command that misses its
 * goal says what bounds it. Pure; it must never leave a slow one out.
 */
import type { StagedAttempt } from "../stages/sql.ts";
import type { DiskStall } from "./disk.ts";
import { median, percentile, round } from "./stats.ts";

/**
 * Until the claim is sent (hint or timer, what was under way before, look, plan), until it has its lock, until it has chosen its rows, until
 * the request starts (commit, reading the row), until it arrives.
 */
const STAGES = ["asked", "locked", "claimed", "started", "arrived"] as const;
type Stage = (typeof STAGES)[number];

/** Of the slowest, this part. */
const SLOWEST_SHARE = 0.99;

export interface StagedLag {
  /** What it is counted from, in milliseconds since 1970: a commit, a due time. */
  readonly fromMs: number;
  readonly lagMs: number;
  readonly stagesMs: Readonly<Record<Stage, number>>;
}

export function stagedLag(attempt: StagedAttempt, fromMs: number, arrivedMs: number): StagedLag {
  return {
    fromMs,
    lagMs: arrivedMs - fromMs,
    stagesMs: {
      asked: attempt.askedMs - fromMs,
      locked: attempt.lockedMs - attempt.askedMs,
      claimed: attempt.claimedMs - attempt.lockedMs,
      started: attempt.startedMs - attempt.claimedMs,
      arrived: arrivedMs - attempt.startedMs,
    },
  };
}

export function p99Of(lags: readonly StagedLag[]): number {
  return percentile(
    lags.map(({ lagMs }) => lagMs),
    SLOWEST_SHARE,
  );
}

/**
 * Each stage at p50 and p99, and what it took of the slowest one in a hundred: their sum is what bounds the p99. Medians of the rounds.
 */
export function stagesReport(
  rounds: readonly (readonly StagedLag[])[],
): Record<Stage, Record<string, number>> {
  const overRounds = (value: (lags: readonly StagedLag[]) => number) => round(median(rounds.map(value)), 1);
  const at = (stage: Stage, share: number) =>
    overRounds((lags) =>
      percentile(
        lags.map(({ stagesMs }) => stagesMs[stage]),
        share,
      ),
    );
  const ofSlowest = (stage: Stage) =>
    overRounds((lags) => {
      const slow = slowestOf(lags);
      return slow.reduce((sum, { stagesMs }) => sum + stagesMs[stage], 0) / slow.length;
    });
  const entries = STAGES.map((stage) => [
    stage,
    { p50Ms: at(stage, 0.5), p99Ms: at(stage, 0.99), meanOfSlowestMs: ofSlowest(stage) },
  ]);
  return Object.fromEntries(entries) as Record<Stage, Record<string, number>>;
}

/** What a disk that stood still for a moment has to do with the slowest. */
export interface StallReport {
  /** The part of the slowest hundredth that was under way while the disk stood still. */
  readonly shareOfSlowest: number;
  /** p99 of those that were not. The goal is held against all. */
  readonly p99MsWithout: number;
}

export function stallReport(lags: readonly StagedLag[], stalls: readonly DiskStall[]): StallReport {
  const isStalled = ({ fromMs, lagMs }: StagedLag) =>
    stalls.some((stall) => stall.fromMs <= fromMs + lagMs && stall.toMs >= fromMs);
  const slow = slowestOf(lags);
  return {
    shareOfSlowest: round(slow.filter(isStalled).length / slow.length, 2),
    p99MsWithout: round(p99Of(lags.filter((lag) => !isStalled(lag))), 1),
  };
}

function slowestOf(lags: readonly StagedLag[]): readonly StagedLag[] {
  const p99Ms = p99Of(lags);
  return lags.filter(({ lagMs }) => lagMs >= p99Ms);
}
