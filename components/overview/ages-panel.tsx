"use client";
import { Table2, TrendingUp } from "lucide-react";
/** The two ages over time, one picture per region on one scale, or the same numbers as tables. */
import dynamic from "next/dynamic";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useState } from "react";
import { topSeconds } from "#components/charts/age-scale.ts";
import { AgeTable } from "#components/charts/age-table.tsx";
import { useAgeSeries } from "#components/queries/overview.ts";
import { Button } from "#components/ui/button.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Segmented } from "#components/ui/segmented.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { SeriesRange } from "#db/console/read-age-series.ts";
import type { Region } from "#domain/region.ts";
import { AgeFigure } from "./age-figure.tsx";

const RANGES = ["15m", "1h", "6h", "24h"] as const satisfies readonly SeriesRange[];
const RANGE_OPTIONS = RANGES.map((value) => ({ value, label: value.replace("m", " m").replace("h", " h") }));

const AgeChart = dynamic(() => import("#components/charts/age-chart.tsx"), {
  ssr: false,
  loading: () => <Skeleton className="h-56 w-full" />,
});

/** `regions` must keep its length over the life of the panel: use a key when it changes. */
export function AgesPanel({ regions }: { regions: readonly Region[] }) {
  const [range, setRange] = useQueryState("range", parseAsStringLiteral(RANGES).withDefault("15m"));
  const [asTable, setAsTable] = useState(false);
  const us = useAgeSeries("us", range, regions.includes("us"));
  const eu = useAgeSeries("eu", range, regions.includes("eu"));
  const queries = { us, eu };
  const shown = regions.map((region) => ({ region, query: queries[region] }));
  const top = topSeconds(
    shown.map(({ query }) => (query.data?.status === "ok" ? query.data.data.points : [])),
  );
  const Icon = asTable ? TrendingUp : Table2;
  return (
    <Panel
      title="Ages over time"
      note={<Legend />}
      actions={
        <span className="flex flex-wrap items-center gap-2">
          <Segmented
            label="Time range"
            value={range}
            options={RANGE_OPTIONS}
            onChange={(next) => void setRange(next)}
          />
          <Button variant="quiet" onClick={() => setAsTable(!asTable)}>
            <Icon aria-hidden="true" className="size-3.5" />
            {asTable ? "View as chart" : "View as table"}
          </Button>
        </span>
      }
    >
      <div
        className={
          regions.length > 1
            ? "grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-6 xl:grid-cols-2"
            : "grid grid-cols-[minmax(0,1fr)]"
        }
      >
        {shown.map(({ region, query }) => (
          <AgeFigure key={region} region={region} query={query}>
            {(series, summary) =>
              asTable ? (
                <AgeTable series={series} caption={`Ages in region ${region.toUpperCase()}`} />
              ) : (
                <AgeChart series={series} top={top} summary={summary} />
              )
            }
          </AgeFigure>
        ))}
      </div>
    </Panel>
  );
}

/** The lines differ by dash as well as by colour. */
function Legend() {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-4">
      <span className="inline-flex items-center gap-1.5">
        <svg width="20" height="8" aria-hidden="true">
          <path d="M0 4h20" stroke="var(--accent-solid)" strokeWidth="2" />
        </svg>
        Oldest first attempt
      </span>
      <span className="inline-flex items-center gap-1.5">
        <svg width="20" height="8" aria-hidden="true">
          <path d="M0 4h20" stroke="var(--muted)" strokeWidth="2" strokeDasharray="5 3" />
        </svg>
        Oldest due, unclaimed
      </span>
    </span>
  );
}
