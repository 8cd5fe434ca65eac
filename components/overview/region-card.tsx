"use client";
import { plural } from "#components/ui/format.ts";
/** The numbers of one region. Ages and counts are never summed over regions. */
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Overview, RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { HeldStrip } from "./held-strip.tsx";
import { capital } from "./overview-words.ts";
import { RegionLine } from "./region-line.tsx";
import { RegionTiles, TILE_GRID, TILES } from "./region-tiles.tsx";
import { wordsFor } from "./verdict-words.ts";

export interface RegionCardProps {
  answer: RegionAnswer<RegionOverview>;
  overview: Overview;
  stale: boolean;
}

/** Eight tiles and what is held apart, or what is known of a region that does not answer. */
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
        <div data-testid={`region-${answer.region}`} className="flex h-full flex-col">
          <RegionTiles region={answer.region} data={answer.data} overview={overview} />
          <HeldStrip region={answer.region} held={answer.data.held} />
          <RegionLine region={answer.region} data={answer.data} overview={overview} />
        </div>
      ) : (
        <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`} compact>
          {answer.detail} Nothing is known of its deliveries at this moment. Other regions are not affected;
          this page asks again every 5 s.
        </Notice>
      )}
    </Panel>
  );
}

/** The frame and eight tiles of the final size. */
export function RegionCardSkeleton({ region }: { region: Region }) {
  return (
    <Panel flush title={`Region ${region.toUpperCase()}`}>
      <div className="@container" aria-hidden="true">
        <div className={TILE_GRID}>
          {Array.from({ length: TILES }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
            <div key={index} className="grid gap-1 bg-surface px-3 py-3 @2xl:px-4">
              <Skeleton className="h-5 w-24" />
              <Skeleton className="h-7 w-16" />
              <Skeleton className="h-5 w-20" />
              <Skeleton className="h-6 w-full" />
            </div>
          ))}
        </div>
      </div>
      <div className="h-9" />
    </Panel>
  );
}
