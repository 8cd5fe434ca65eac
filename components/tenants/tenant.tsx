"use client";
/** One tenant of one region: its state, what may be done, and everything of it behind tabs. */
import { TenantControls } from "#components/controls/tenant-controls.tsx";
import { DestinationList } from "#components/destinations/destination-list.tsx";
import { useTenant } from "#components/queries/tenants.ts";
import { DraftReplayLink } from "#components/replays/draft-link.tsx";
import { newReplayPath } from "#components/replays/selection.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import type { TenantAnswer, TenantDetail } from "#db/console/read-tenant.ts";
import { DetailHeader } from "./detail-header.tsx";
import { History } from "./history.tsx";
import { Missing } from "./missing.tsx";
import { RecentDeadLetters, RecentDeliveries } from "./recent.tsx";
import { TenantCauses } from "./tenant-causes.tsx";
import { TenantControlPanel } from "./tenant-control-panel.tsx";
import { TenantOverview } from "./tenant-overview.tsx";
import { TenantStateMark } from "./tenant-state.tsx";
import { type DetailView, detailParameters, useDetail } from "./use-detail.ts";

const TABS = ["overview", "destinations", "deliveries", "dead-letters", "controls", "activity"] as const;
type TenantTab = (typeof TABS)[number];
const PARAMETERS = detailParameters(TABS);

/** `id` is the public id or the slug from the address. */
export function TenantPage({ id }: { id: string }) {
  const view = useDetail(TABS);
  const query = useTenant(view.region, id);
  // What the page before showed is another row's.
  const data = query.isPlaceholderData ? undefined : query.data;
  const answer = data?.status === "ok" ? data : null;
  const tenant = answer?.data.tenant ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DetailHeader
        crumbs={[{ label: "Tenants", href: `/tenants?region=${view.region}` }]}
        name={tenant?.name ?? null}
        id={tenant?.id ?? id}
        what="tenant id"
        state={tenant === null ? null : <HeaderState tenant={tenant} />}
        asOf={answer?.asOf ?? null}
        controls={
          tenant === null || tenant.deletedAt !== null ? null : (
            <div className="flex flex-wrap items-start gap-2">
              <TenantControls region={view.region} tenantId={tenant.id} name={tenant.name} />
              <DraftReplayLink
                path={newReplayPath(view.region, { tenant: tenant.id, until: answer?.asOf ?? null })}
                refusal={tenant.deadLetters.count === 0 ? "It has no dead letters." : null}
              />
            </div>
          )
        }
      />
      <DroppedChips known={PARAMETERS} />
      {answer === null ? (
        <Missing
          what="tenant"
          region={view.region}
          error={query.error}
          answer={data}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Found answer={answer.data} asOf={answer.asOf} view={view} />
      )}
    </div>
  );
}

function HeaderState({ tenant }: { tenant: TenantDetail }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="text-muted">{tenant.region.toUpperCase()}</span>
      <TenantStateMark state={tenant.state} until={tenant.stateUntil} badge />
      {tenant.pause === null ? null : (
        <span className="text-muted">
          by {actorWords(tenant.pause.by ?? "system")}: {tenant.pause.reason}
        </span>
      )}
    </span>
  );
}

interface FoundProps {
  answer: TenantAnswer;
  asOf: string;
  view: DetailView<TenantTab>;
}

function Found({ answer, asOf, view }: FoundProps) {
  const { tenant } = answer;
  const { region, tab } = view;
  const stale = useBehind();
  const panel = { value: tab };
  return (
    <>
      <TenantCauses answer={answer} asOf={asOf} stale={stale} onAll={() => view.setTab("destinations")} />
      <Tabs label="Parts of this tenant" value={tab} onChange={view.setTab} tabs={tabsOf(tenant)} />
      <TabPanel tab="overview" {...panel}>
        <TenantOverview answer={answer} asOf={asOf} stale={stale} view={view} />
      </TabPanel>
      <TabPanel tab="destinations" {...panel}>
        <DestinationList region={region} tenant={tenant.id} title={`Destinations of ${tenant.name}`} />
      </TabPanel>
      <TabPanel tab="deliveries" {...panel}>
        <RecentDeliveries region={region} filters={{ tenant: tenant.id }} />
      </TabPanel>
      <TabPanel tab="dead-letters" {...panel}>
        <RecentDeadLetters region={region} filters={{ tenant: tenant.id }} />
      </TabPanel>
      <TabPanel tab="controls" {...panel}>
        <div className="grid gap-4">
          <TenantControlPanel region={region} tenantId={tenant.id} />
          <History title="Changes of its controls" region={region} filters={{ target: tenant.id }} />
        </div>
      </TabPanel>
      <TabPanel tab="activity" {...panel}>
        <History
          title={`Everything done to ${tenant.name} and its destinations`}
          region={region}
          filters={{ tenant: tenant.id }}
        />
      </TabPanel>
    </>
  );
}

function tabsOf(tenant: TenantDetail) {
  return [
    { key: "overview", label: "Overview" },
    { key: "destinations", label: "Destinations", count: tenant.destinations },
    { key: "deliveries", label: "Deliveries" },
    { key: "dead-letters", label: "Dead letters" },
    { key: "controls", label: "Controls" },
    { key: "activity", label: "Activity" },
  ];
}
