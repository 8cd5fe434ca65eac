"use client";
/** How each region runs: claims, workers, lanes, lateness of first requests, database. One card a region, side by side. */
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { DrainPanel } from "#components/controls/drain-panel.tsx";
import { RegionControls } from "#components/controls/region-controls.tsx";
import { useRegionHealth } from "#components/queries/regions.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { oneOf } from "#components/ui/list-parameters.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { RegionHealth } from "#db/console/read-regions.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { LagHistogram } from "./lag-histogram.tsx";
import { LaneUsage } from "./lane-usage.tsx";
import { RegionFacts } from "./region-facts.tsx";
import { claimsWords } from "./region-words.ts";
import { WorkersTable } from "./workers-table.tsx";

const KNOWN = { region: oneOf(REGIONS) };

export function RegionsPage() {
  const [region] = useQueryState("region", parseAsStringLiteral(REGIONS).withOptions({ history: "push" }));
  const inScope = useRegions();
  const query = useRegionHealth(region);
  const stale = useBehind();
  const shown = region === null ? inScope : [region];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <DroppedChips known={KNOWN} />
      {query.data === undefined && query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        shown.map((each) => (
          <RegionPart
            key={each}
            region={each}
            answer={query.data?.regions.find((one) => one.region === each) ?? null}
            stale={stale}
          />
        ))
      )}
    </div>
  );
}

interface RegionPartProps {
  region: Region;
  /** Null while nothing has been read. */
  answer: RegionAnswer<RegionHealth> | null;
  stale: boolean;
}

function RegionPart({ region, answer, stale }: RegionPartProps) {
  const name = region.toUpperCase();
  if (answer === null) {
    return (
      <Panel title={name}>
        <div aria-hidden="true" className="grid gap-3">
          <Skeleton className="h-6 w-40" />
          <Skeleton className="h-32 w-full" />
        </div>
      </Panel>
    );
  }
  if (answer.status === "unavailable") {
    return (
      <Panel title={name}>
        <Notice kind="unavailable" title={`Region ${name} does not answer`} compact>
          {answer.detail} Whether its claims are on and its workers run is not known. The other region can be
          read as usual; this page asks again every 5 s.
        </Notice>
      </Panel>
    );
  }
  return <Answered region={region} health={answer.data} asOf={answer.asOf} stale={stale} />;
}

interface AnsweredProps {
  region: Region;
  health: RegionHealth;
  asOf: string;
  stale: boolean;
}

function Answered({ region, health, asOf, stale }: AnsweredProps) {
  const claims = claimsWords(health);
  return (
    <Panel
      title={
        <span id={region} className="inline-flex flex-wrap items-center gap-2">
          {region.toUpperCase()} <StatusBadge tone={claims.tone} label={claims.label} />
        </span>
      }
      note={
        <>
          as of <Timestamp iso={asOf} form="clock" named />
        </>
      }
      actions={<RegionControls region={region} />}
      stale={stale}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <p className="text-muted">
          {claims.why}
          {health.claims.state === "stopped" && health.claims.since !== null ? (
            <>
              {" "}
              Since <Timestamp iso={health.claims.since} named />.
            </>
          ) : null}
        </p>
        {health.claims.state === "stopped" ? <DrainPanel region={region} /> : null}
        <RegionFacts health={health} />
        <div className="grid grid-cols-2 gap-6 max-lg:grid-cols-1">
          <LaneUsage health={health} region={region} />
          <LagHistogram lag={health.lag} region={region} />
        </div>
        <WorkersTable health={health} region={region} asOf={asOf} />
      </div>
    </Panel>
  );
}
