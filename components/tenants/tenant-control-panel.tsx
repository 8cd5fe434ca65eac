"use client";
/** The present values of a tenant's controls, with the version that a change is based on. It changes nothing. */
import { useTenantControl } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { TenantControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { Fact, Facts } from "./figures.tsx";
import { Missing } from "./missing.tsx";
import { PauseFact, ServiceFacts } from "./steered-facts.tsx";

export function TenantControlPanel({ region, tenantId }: { region: Region; tenantId: string }) {
  const query = useTenantControl(region, tenantId);
  const stale = useBehind();
  const data = query.isPlaceholderData ? undefined : query.data;
  const answer = data?.status === "ok" ? data : null;
  return (
    <Panel title="Controls now" stale={stale} note={answer ? <AsOf iso={answer.asOf} /> : undefined}>
      {answer === null ? (
        <Missing
          what="tenant"
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

function AsOf({ iso }: { iso: string }) {
  return (
    <>
      as of <Timestamp iso={iso} form="clock" named />
    </>
  );
}

function Values({ control }: { control: TenantControlView }) {
  const { concurrency } = control;
  return (
    <Facts>
      <PauseFact pause={control.pause} />
      <Fact
        label="Concurrency limit"
        note={
          concurrency.limit === null
            ? "empty: inherits the region's"
            : `the region's would be ${formatCount(concurrency.inherited)}`
        }
      >
        {formatCount(concurrency.inForce)}
      </Fact>
      <Fact label="Weight" note="its part when several tenants wait">
        {formatCount(control.weight)}
      </Fact>
      <Fact label="Replay header" note="the batch's id on its replayed requests">
        {control.replayHeader ? "Sent" : "Not sent"}
      </Fact>
      <ServiceFacts control={control} />
      <Fact label="Version" note="what a change is based on">
        {formatCount(control.version)}
      </Fact>
    </Facts>
  );
}
