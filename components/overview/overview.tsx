"use client";
/** The overview: verdict, regions, tenants, charts. Every number of this moment comes from one answer of the API. */
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useOverview } from "#components/queries/overview.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { REGIONS } from "#domain/region.ts";
import { isSeriesRange } from "#domain/series.ts";
import { ObjectivesPanel } from "./objectives-panel.tsx";
import { OverviewCharts } from "./overview-charts.tsx";
import { RegionCard, RegionCardSkeleton } from "./region-card.tsx";
import { TenantMatrix } from "./tenant-matrix.tsx";
import { Verdict, VerdictSkeleton } from "./verdict.tsx";

/** All regions may be named: `us,eu`. */
const ALL = REGIONS.join();
const PARAMETERS = {
  region: (value: string) => value === ALL || REGIONS.some((region) => region === value),
  range: isSeriesRange,
};

/** The region comes from the URL; none means all in scope. */
export function OverviewPage() {
  const [region] = useQueryState("region", parseAsStringLiteral(REGIONS));
  const query = useOverview(region);
  const stale = useBehind();
  const inScope = useRegions();
  const regions = region === null ? inScope : [region];
  // The answer of another filter is not shown under this one's name.
  const overview = query.isPlaceholderData ? null : (query.data ?? null);
  if (overview === null && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <DroppedChips known={PARAMETERS} />
      {overview === null ? <VerdictSkeleton /> : <Verdict answers={overview.regions} stale={stale} />}
      <div
        className={
          regions.length > 1
            ? "grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-2"
            : "grid grid-cols-[minmax(0,1fr)] gap-4"
        }
      >
        {overview === null
          ? regions.map((name) => <RegionCardSkeleton key={name} region={name} />)
          : overview.regions.map((answer) => (
              <RegionCard key={answer.region} answer={answer} overview={overview} stale={stale} />
            ))}
      </div>
      <TenantMatrix overview={overview} stale={stale} />
      <OverviewCharts regions={regions} stale={stale}>
        <ObjectivesPanel overview={overview} stale={stale} />
      </OverviewCharts>
    </div>
  );
}
