"use client";
/** One region's age picture with its heading, and what stands in its place when there are no samples. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { AgeSeries } from "#db/console/read-age-series.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";

export interface AgeFigureProps {
  region: Region;
  query: UseQueryResult<RegionAnswer<AgeSeries>, Error>;
  children: (series: AgeSeries, summary: string) => ReactNode;
}

/** The picture keeps its height in every state. */
export function AgeFigure({ region, query, children }: AgeFigureProps) {
  const answer = query.data;
  return (
    <figure className="min-w-0" data-testid={`ages-${region}`}>
      <figcaption className="mb-1 flex min-h-6 flex-wrap items-center gap-x-3 text-table">
        <span className="font-medium">{region.toUpperCase()}</span>
        {answer?.status === "ok" ? <Latest series={answer.data} /> : null}
      </figcaption>
      <div className="min-h-56">{bodyOf({ region, query, children })}</div>
    </figure>
  );
}

function bodyOf({ region, query, children }: AgeFigureProps): ReactNode {
  const answer = query.data;
  if (answer === undefined) {
    if (query.error === null) return <Skeleton className="h-56 w-full" />;
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} compact />;
  }
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${region.toUpperCase()} does not answer`} compact>
        {answer.detail}
      </Notice>
    );
  }
  if (answer.data.points.length === 0) {
    return (
      <Notice kind="empty" title="No data in this range" compact>
        The workers of the region store a sample every 5 s. None was stored in this time.
      </Notice>
    );
  }
  return children(answer.data, summaryOf(region, answer.data));
}

function Latest({ series }: { series: AgeSeries }) {
  const last = series.points.findLast((point) => point.firstAttemptMs !== null);
  if (!series.sampling) {
    return (
      <StatusText
        tone="warn"
        label={
          series.lastSampleAt === null ? "No data: nothing was ever sampled" : "No data: sampling has stopped"
        }
      />
    );
  }
  if (last === undefined) return null;
  return (
    <span className="text-muted">
      first attempt {formatAge(last.firstAttemptMs ?? 0)} · due {formatAge(last.dueMs ?? 0)} at{" "}
      <Timestamp iso={new Date(last.t).toISOString()} form="clock" named />
    </span>
  );
}

function summaryOf(region: Region, series: AgeSeries): string {
  const last = series.points.findLast((point) => point.firstAttemptMs !== null);
  const name = `Ages in region ${region.toUpperCase()}.`;
  if (!series.sampling || last === undefined) return `${name} No data: sampling has stopped.`;
  return `${name} Latest: oldest first attempt ${formatAge(last.firstAttemptMs ?? 0)}, oldest due and unclaimed ${formatAge(last.dueMs ?? 0)}.`;
}
