"use client";
/** The eight numbers of a region that decide, each with its target, its last hour and a link to the rows behind it. */
import { formatCount, plural } from "#components/ui/format.ts";
import type { Overview, RegionOverview } from "#db/console/read-overview.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { bounded, formatShare, toneOf } from "./overview-words.ts";
import { Tile } from "./tile.tsx";

export const TILES = 8;
/** Tiles of a line share the rows of their labels and of their numbers, so that a label of two lines moves no number out of line. */
export const TILE_GRID = "grid grid-cols-2 gap-px bg-line @lg:grid-cols-4";

export interface TilesProps {
  region: Region;
  data: RegionOverview;
  overview: Overview;
}

export function RegionTiles(props: TilesProps) {
  return (
    <div className="@container">
      <dl className={TILE_GRID}>
        <AgeTiles {...props} />
        <QueueTiles {...props} />
        <HealthTiles {...props} />
      </dl>
    </div>
  );
}

function rowsOf(region: Region, state: string): string {
  return `/deliveries?region=${region}&state=${state}`;
}

function AgeTiles({ region, data }: TilesProps) {
  const { serviceClass, oldestMs, targetMs } = data.verdict.firstAttempt;
  const p95 = data.recent.firstAttemptP95;
  const warnOf = (name: typeof serviceClass) => data.thresholds.objectives[name].firstAttemptWarnMs;
  return (
    <>
      <Tile
        label="First attempt"
        value={formatAge(oldestMs)}
        note={oldestMs === 0 ? "nothing waits" : `oldest ${serviceClass}, target ${formatLength(targetMs)}`}
        tone={toneOf(oldestMs, warnOf(serviceClass), targetMs)}
        href={rowsOf(region, "ready")}
        trend={data.trends.oldestMs}
        testId="first-attempt"
      />
      <Tile
        label="First attempt p95"
        value={formatAge(p95?.ms)}
        note={
          p95 === null
            ? "5 m, nothing was tried"
            : `5 m, ${p95.serviceClass}, target ${formatLength(p95.targetMs)}`
        }
        tone={p95 === null ? "neutral" : toneOf(p95.ms, warnOf(p95.serviceClass), p95.targetMs)}
        href={rowsOf(region, "ready")}
        trend={data.trends.firstAttemptP95Ms}
        testId="first-attempt-p95"
      />
    </>
  );
}

function QueueTiles({ region, data, overview }: TilesProps) {
  const { due, gated, thresholds, trends } = data;
  const { warnMs, pageMs } = thresholds.dueLag;
  return (
    <>
      <Tile
        label="Due, unclaimed"
        value={formatAge(due.oldestMs)}
        note={due.count === 0 ? "nothing waits" : `oldest, page at ${formatLength(pageMs)}`}
        tone={toneOf(due.oldestMs, warnMs, pageMs)}
        href={rowsOf(region, "delayed")}
        trend={trends.dueMs}
        testId="due"
      />
      <Tile
        label="Due now"
        value={formatCount(due.count)}
        note={gated > 0 ? `and ${formatCount(gated)} behind a gate` : "none behind a gate"}
        href={rowsOf(region, "ready")}
        trend={trends.due}
        testId="due-now"
      />
      <Tile
        label="Dead letters"
        value={bounded(data.deadLetters.count, overview.countLimit)}
        note={deadNote(data, overview)}
        tone={toneOf(data.deadLetters.oldestMs, thresholds.deadLetterWarnMs, Number.POSITIVE_INFINITY)}
        href={`/dead-letters?region=${region}`}
        trend={trends.dead}
        testId="dead-letters"
      />
    </>
  );
}

function deadNote({ deadLetters }: RegionOverview, overview: Overview): string {
  if (deadLetters.count === 0) return "none waits";
  return `+${bounded(deadLetters.added, overview.countLimit)} in 24 h, oldest ${formatAge(deadLetters.oldestMs)}`;
}

function HealthTiles({ region, data }: TilesProps) {
  const { recent, thresholds, trends } = data;
  const { warn, act } = thresholds.rateLimitedShare;
  return (
    <>
      <Tile
        label="In flight"
        value={formatCount(data.inFlight)}
        note={data.slots > 0 ? `of ${plural(data.slots, "slot")}` : "no slots"}
        href={rowsOf(region, "leased")}
        trend={trends.inFlight}
        testId="in-flight"
      />
      <Tile
        label="429 share"
        value={formatShare(recent.rateLimitedShare)}
        note={recent.requests === 0 ? "5 m, no request" : `5 m, ${plural(recent.requests, "request")}`}
        tone={toneOf(recent.rateLimitedShare, warn, act)}
        href={rowsOf(region, "delayed")}
        trend={trends.rateLimitedShare}
        testId="rate-limited"
      />
      <Tile
        label="Expired leases"
        value={formatCount(recent.expiredLeases)}
        note={recent.expiredLeases === 0 ? "15 m, no worker was lost" : "15 m, a worker was lost"}
        tone={recent.expiredLeases > 0 ? "warn" : "neutral"}
        href={`/regions?region=${region}`}
        trend={trends.expiredLeases}
        testId="expired-leases"
      />
    </>
  );
}
