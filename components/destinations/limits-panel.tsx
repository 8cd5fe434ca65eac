"use client";
/** The limits of a destination as they stand, and the R x L x s bound with every input of it. It changes nothing. */
import { useDestinationControl } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Fact, Facts } from "#components/tenants/figures.tsx";
import { Missing } from "#components/tenants/missing.tsx";
import { PauseFact, ServiceFacts } from "#components/tenants/steered-facts.tsx";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import type { SafeLimit } from "#domain/safe-limit.ts";

export function LimitsPanel({ region, destinationId }: { region: Region; destinationId: string }) {
  const query = useDestinationControl(region, destinationId);
  const stale = useBehind();
  const data = query.isPlaceholderData ? undefined : query.data;
  const answer = data?.status === "ok" ? data : null;
  return (
    <Panel
      title="Limits now"
      stale={stale}
      note={
        answer === null ? undefined : (
          <>
            as of <Timestamp iso={answer.asOf} form="clock" named />
          </>
        )
      }
    >
      {answer === null ? (
        <Missing
          what="destination"
          region={region}
          error={query.error}
          answer={data}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Values control={answer.data} />
      )}
    </Panel>
  );
}

function Values({ control }: { control: DestinationControlView }) {
  const { concurrency, rate, adaptive, suggestion } = control;
  return (
    <Facts>
      <PauseFact pause={control.pause} />
      <Fact
        label="Concurrency limit"
        note={
          concurrency.limit === null
            ? "empty: inherits the region's"
            : `its own; the region's would be ${formatCount(concurrency.inherited)}`
        }
      >
        {formatCount(concurrency.limit ?? concurrency.inherited)}
      </Fact>
      <Fact
        label="In force now"
        note={
          adaptive.limit === null
            ? "no adaptive limit"
            : `adaptive ${formatCount(adaptive.limit)}${adaptive.pinned ? ", pinned" : ""}`
        }
      >
        {formatCount(concurrency.inForce)}
      </Fact>
      <Fact
        label="Rate"
        note={rate.perSecond === null ? "empty: none, its concurrency alone limits it" : undefined}
      >
        {rate.perSecond === null ? "none" : `${rate.perSecond}/s, burst ${formatCount(rate.burst)}`}
      </Fact>
      <ServiceFacts control={control} />
      <BoundFact suggestion={suggestion} />
      <Fact label="Version" note="what a change is based on">
        {formatCount(control.version)}
      </Fact>
    </Facts>
  );
}

const MISSING: Readonly<Record<NonNullable<SafeLimit["missing"]>, string>> = {
  rate: "no rate is declared",
  service_time: "no success was measured lately",
  rate_and_service_time: "no rate is declared and no success was measured lately",
};

function BoundFact({ suggestion }: { suggestion: SafeLimit }) {
  const { limit, ratePerSecond, serviceTimeMs, margin, missing } = suggestion;
  const inputs = [
    `R ${ratePerSecond === null ? "unknown" : `${ratePerSecond}/s`}`,
    `L ${serviceTimeMs === null ? "unknown" : `${formatCount(Math.round(serviceTimeMs))} ms`}`,
    `s ${margin}`,
  ].join(" × ");
  return (
    <Fact
      label="Bound R × L × s"
      note={missing === null ? `${inputs}; a starting point, no proof` : `${inputs}: ${MISSING[missing]}`}
    >
      {limit === null ? <span className="text-faint">unknown</span> : `${formatCount(limit)} in flight`}
    </Fact>
  );
}
