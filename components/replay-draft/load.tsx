"use client";
/** What the saved plan asks of each destination and of the region, as the server computes it. */
import { laneName } from "#components/replay/lane-name.ts";
import { rateWords, shareWords } from "#components/replays/replay-words.ts";
import { CardField, Cards, StackedCard } from "#components/ui/cards.tsx";
import { formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import type { ReplayDetail, ReplayLaneView } from "#db/console/replay/replay-views.ts";
import { formatAge } from "#domain/queue-age.ts";

const CAPTION = "Load on each destination, by the saved plan";
const COLUMNS: readonly Column[] = [
  { key: "destination", label: "Destination" },
  { key: "items", label: "Entries", align: "right" },
  { key: "rate", label: "Rate", align: "right" },
  { key: "normal", label: "Its normal", align: "right" },
  { key: "limit", label: "Its limit", align: "right" },
  { key: "trouble", label: "Now" },
];

const TROUBLE_WORDS: Readonly<Record<string, string>> = {
  circuit_open: "circuit open",
  destination_changed: "changed since the review",
  destination_disabled: "disabled",
  destination_deleted: "deleted",
  region_draining: "claims stopped",
  tenant_paused: "tenant paused",
  destination_paused: "paused",
};

/** What holds or stops a lane now, in words. */
export function troubleWords(word: string): string {
  return TROUBLE_WORDS[word] ?? word;
}

export function Load({ view }: { view: ReplayDetail }) {
  const { estimate, lanes } = view;
  const narrow = useNarrow();
  return (
    <section aria-label="Load" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      {estimate === null ? null : (
        <p>
          About <strong>{formatAge(estimate.durationMs)}</strong> at {rateWords(estimate.ratePerSecond)} in
          all, canary and ramp apart.
          {estimate.regionShare === null
            ? null
            : ` That is ${shareWords(estimate.regionShare)} of what the region delivered in the last hour.`}
          {estimate.slotShare === null
            ? null
            : ` It takes ${shareWords(estimate.slotShare)} of the workers' slots.`}
        </p>
      )}
      {narrow ? (
        <Cards caption={CAPTION} busy={false}>
          {lanes.map((lane) => (
            <LoadCard key={lane.destinationId} lane={lane} />
          ))}
        </Cards>
      ) : (
        <Table caption={CAPTION} columns={COLUMNS}>
          {lanes.map((lane) => (
            <LoadLine key={lane.destinationId} lane={lane} />
          ))}
        </Table>
      )}
    </section>
  );
}

function LoadLine({ lane }: { lane: ReplayLaneView }) {
  return (
    <Row>
      <HeadCell>{laneName(lane)}</HeadCell>
      <Cell align="right">{formatCount(lane.items)}</Cell>
      <Cell align="right">{rateWords(lane.plannedRatePerSecond)}</Cell>
      <Cell align="right">{rateOrNone(lane.normalPerSecond)}</Cell>
      <Cell align="right">{rateOrNone(lane.limitPerSecond)}</Cell>
      <Cell>
        <Standing lane={lane} />
      </Cell>
    </Row>
  );
}

function LoadCard({ lane }: { lane: ReplayLaneView }) {
  return (
    <StackedCard name={laneName(lane)}>
      <CardField label="Entries">{formatCount(lane.items)}</CardField>
      <CardField label="Rate">{rateWords(lane.plannedRatePerSecond)}</CardField>
      <CardField label="Its normal">{rateOrNone(lane.normalPerSecond)}</CardField>
      <CardField label="Its limit">{rateOrNone(lane.limitPerSecond)}</CardField>
      <CardField label="Now">
        <Standing lane={lane} />
      </CardField>
    </StackedCard>
  );
}

function rateOrNone(perSecond: number | null): string {
  return perSecond === null ? "none" : rateWords(perSecond);
}

function Standing({ lane }: { lane: ReplayLaneView }) {
  const now = lane.trouble ?? lane.hold;
  if (now === null) return <StatusText tone="ok" label="open" />;
  return <StatusText tone={lane.trouble === null ? "held" : "danger"} label={troubleWords(now)} />;
}
