"use client";
/** One destination: its state, what may be done, and the evidence of everything that holds it back. */
import { DestinationControls } from "#components/controls/destination-controls.tsx";
import { useDestination } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { DetailHeader } from "#components/tenants/detail-header.tsx";
import { History } from "#components/tenants/history.tsx";
import { Missing } from "#components/tenants/missing.tsx";
import { RecentDeadLetters, RecentDeliveries } from "#components/tenants/recent.tsx";
import { type DetailView, detailParameters, useDetail } from "#components/tenants/use-detail.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import type { DestinationAnswer, DestinationDetail } from "#db/console/read-destination.ts";
import { AttemptsPanel } from "./attempts-panel.tsx";
import { ConfigurationPanel } from "./configuration-panel.tsx";
import { DestinationOverview } from "./destination-overview.tsx";
import { DestinationStateMark } from "./destination-state.tsx";
import { LimitsPanel } from "./limits-panel.tsx";

const TABS = ["overview", "attempts", "deliveries", "dead-letters", "controls"] as const;
type DestinationTab = (typeof TABS)[number];
const PARAMETERS = detailParameters(TABS);
const TAB_LABELS: Readonly<Record<DestinationTab, string>> = {
  overview: "Overview",
  attempts: "Attempts",
  deliveries: "Deliveries",
  "dead-letters": "Dead letters",
  controls: "Controls",
};

/** `id` is the public id from the address. */
export function DestinationPage({ id }: { id: string }) {
  const view = useDetail(TABS);
  const query = useDestination(view.region, id);
  // What the page before showed is another row's.
  const data = query.isPlaceholderData ? undefined : query.data;
  const answer = data?.status === "ok" ? data : null;
  const destination = answer?.data.destination ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DetailHeader
        crumbs={crumbsOf(view.region, destination)}
        name={destination?.name ?? null}
        id={destination?.id ?? id}
        what="destination id"
        state={destination === null ? null : <HeaderState destination={destination} />}
        asOf={answer?.asOf ?? null}
        controls={
          destination === null || destination.deletedAt !== null ? null : (
            <DestinationControls
              region={view.region}
              destinationId={destination.id}
              name={destination.name}
            />
          )
        }
      />
      <DroppedChips known={PARAMETERS} />
      {answer === null ? (
        <Missing
          what="destination"
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

function crumbsOf(region: string, destination: DestinationDetail | null) {
  const list = { label: "Destinations", href: `/destinations?region=${region}` };
  if (destination === null) return [list];
  const { id, name } = destination.tenant;
  return [list, { label: name, href: `/tenants/${id}?region=${region}` }];
}

function HeaderState({ destination }: { destination: DestinationDetail }) {
  const { paused, disabled } = destination;
  const why =
    disabled !== null
      ? `by ${actorWords(disabled.by ?? "system")}: ${disabled.reason}`
      : paused !== null
        ? `by ${actorWords(paused.by ?? "system")}: ${paused.reason}`
        : null;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="text-muted">{destination.region.toUpperCase()}</span>
      <DestinationStateMark destination={destination} badge />
      {why === null ? null : <span className="text-muted">{why}</span>}
    </span>
  );
}

interface FoundProps {
  answer: DestinationAnswer;
  asOf: string;
  view: DetailView<DestinationTab>;
}

function Found({ answer, asOf, view }: FoundProps) {
  const { region, tab } = view;
  const { destination } = answer;
  const { id } = destination;
  const stale = useBehind();
  return (
    <>
      <Tabs
        label="Parts of this destination"
        value={tab}
        onChange={view.setTab}
        tabs={TABS.map((key) => ({ key, label: TAB_LABELS[key] }))}
      />
      <TabPanel tab="overview" value={tab}>
        <DestinationOverview answer={answer} asOf={asOf} stale={stale} view={view} />
      </TabPanel>
      <TabPanel tab="attempts" value={tab}>
        <AttemptsPanel region={region} destinationId={id} />
      </TabPanel>
      <TabPanel tab="deliveries" value={tab}>
        <RecentDeliveries region={region} filters={{ destination: id }} />
      </TabPanel>
      <TabPanel tab="dead-letters" value={tab}>
        <RecentDeadLetters region={region} filters={{ destination: id }} />
      </TabPanel>
      <TabPanel tab="controls" value={tab}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <LimitsPanel region={region} destinationId={id} />
          <ConfigurationPanel destination={destination} asOf={asOf} stale={stale} />
          <History
            title="Test events"
            empty="No test event was sent yet"
            region={region}
            filters={{ target: id, action: "destination.test_event" }}
          />
          <History title="Changes and attempts to change" region={region} filters={{ target: id }} />
        </div>
      </TabPanel>
    </>
  );
}
