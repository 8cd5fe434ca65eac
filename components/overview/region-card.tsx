"use client";
import { formatCount, plural } from "#components/ui/format.ts";
/** The numbers of one region. Ages and counts are never summed over regions. */
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge, type Tone } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Overview, RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { HELD_WORDS } from "./held-words.ts";
import { Tile } from "./tile.tsx";
import { targetText, wordsFor } from "./verdict-words.ts";

const GRID =
  "grid h-full auto-rows-fr grid-cols-2 gap-px overflow-hidden rounded-b-lg bg-line sm:grid-cols-4";

export interface RegionCardProps {
  answer: RegionAnswer<RegionOverview>;
  overview: Overview;
  stale: boolean;
}

/** Eight tiles, or what is known of a region that does not answer. */
export function RegionCard({ answer, overview, stale }: RegionCardProps) {
  const words = wordsFor(answer, stale);
  return (
    <Panel
      flush
      stale={stale}
      title={`Region ${answer.region.toUpperCase()}`}
      note={
        answer.status === "ok" ? (
          <>
            {plural(answer.data.workers.running, "worker")} · as of{" "}
            <Timestamp iso={answer.asOf} form="clock" named />
          </>
        ) : undefined
      }
      actions={<StatusBadge tone={words.tone} label={capital(words.label)} />}
    >
      {answer.status === "ok" ? (
        <RegionTiles region={answer.region} data={answer.data} overview={overview} />
      ) : (
        <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`} compact>
          {answer.detail} Nothing is known of its deliveries at this moment. Other regions are not affected;
          this page asks again every 5 s.
        </Notice>
      )}
    </Panel>
  );
}

interface TilesProps {
  region: Region;
  data: RegionOverview;
  overview: Overview;
}

function RegionTiles({ region, data, overview }: TilesProps) {
  const rows = (state: string) => `/deliveries?region=${region}&state=${state}`;
  return (
    <dl className={GRID} data-testid={`region-${region}`}>
      <FirstAttemptTile data={data} overview={overview} />
      <DueTile data={data} overview={overview} />
      <Tile
        label="Ready"
        value={formatCount(data.ready)}
        note="never attempted"
        href={rows("ready")}
        testId="ready"
      />
      <Tile
        label="Delayed"
        value={formatCount(data.delayed)}
        note={delayedNote(data)}
        href={rows("delayed")}
        testId="delayed"
      />
      <Tile
        label="In flight"
        value={formatCount(data.inFlight)}
        note={data.slots > 0 ? `of ${plural(data.slots, "slot")}` : "no slots"}
        href={rows("leased")}
        testId="in-flight"
      />
      <Tile
        label="Completed, 1 h"
        value={bounded(data.completed.lastHour, overview.countLimit)}
        note={`${bounded(data.completed.total, overview.countLimit)} in all`}
        href={rows("delivered")}
        testId="completed"
      />
      <Tile
        label="Dead letters"
        value={bounded(data.deadLetters.count, overview.countLimit)}
        note={data.deadLetters.count === 0 ? "none waits" : `oldest ${formatAge(data.deadLetters.oldestMs)}`}
        href={`/dead-letters?region=${region}`}
        testId="dead-letters"
      />
      <HeldTile data={data} />
    </dl>
  );
}

function FirstAttemptTile({ data, overview }: Omit<TilesProps, "region">) {
  const { serviceClass, oldestMs, targetMs } = data.verdict.firstAttempt;
  return (
    <Tile
      label="First attempt age"
      value={formatAge(oldestMs)}
      note={oldestMs === 0 ? "nothing waits" : `${serviceClass}, target ${targetText(targetMs)}`}
      tone={toneOf(oldestMs, overview.objectives[serviceClass].firstAttemptWarnMs, targetMs)}
      testId="first-attempt"
    />
  );
}

function DueTile({ data, overview }: Omit<TilesProps, "region">) {
  const { count, oldestMs } = data.due;
  return (
    <Tile
      label="Due, unclaimed"
      value={formatAge(oldestMs)}
      note={count === 0 ? "nothing waits" : `oldest of ${formatCount(count)}`}
      tone={toneOf(oldestMs, overview.dueLag.warnMs, overview.dueLag.pageMs)}
      testId="due"
    />
  );
}

function HeldTile({ data }: { data: RegionOverview }) {
  const count = data.held.reduce((sum, row) => sum + row.count, 0);
  const first = data.held[0];
  if (first === undefined) return <Tile label="Held apart" value="0" note="none" testId="held" />;
  const others = data.held.length - 1;
  return (
    <Tile
      label={
        <>
          <span className="sr-only">Held apart: </span>
          {capital(HELD_WORDS[first.why] ?? first.why)}
          {others > 0 ? ` +${others}` : ""}
        </>
      }
      value={formatCount(count)}
      note={`oldest ${formatAge(first.oldestMs)}`}
      tone="held"
      testId="held"
    />
  );
}

function delayedNote(data: RegionOverview): string {
  return data.gated > 0 ? `${formatCount(data.gated)} due, gate shut` : "retry time set";
}

/** Counts above the limit are known only to be above it. */
function bounded(count: number, limit: number): string {
  return count > limit ? `${formatCount(limit)}+` : formatCount(count);
}

/** Neutral while inside, so that the eye goes to what is not. */
export function toneOf(valueMs: number, warnMs: number, limitMs: number): Tone {
  if (valueMs > limitMs) return "danger";
  return valueMs > warnMs ? "warn" : "neutral";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The frame and eight tiles of the final size. */
export function RegionCardSkeleton({ region }: { region: Region }) {
  return (
    <Panel flush title={`Region ${region.toUpperCase()}`}>
      <div className={GRID} aria-hidden="true">
        {Array.from({ length: 8 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
          <div key={index} className="grid gap-1 bg-surface px-4 py-3">
            <Skeleton className="h-5 w-24" />
            <Skeleton className="h-7 w-16" />
            <Skeleton className="h-5 w-20" />
          </div>
        ))}
      </div>
    </Panel>
  );
}
