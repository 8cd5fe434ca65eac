"use client";
/** Whether the cause seems to be gone, looked up by the server for each destination: its last ten minutes, circuit and gate. */
import { laneName } from "#components/replay/lane-name.ts";
import { CardField, Cards, StackedCard } from "#components/ui/cards.tsx";
import { formatCount } from "#components/ui/format.ts";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import type { ReplayLaneView, ReplayProbe } from "#db/console/replay/replay-views.ts";

const CAPTION = "The last ten minutes of each destination";
const COLUMNS: readonly Column[] = [
  { key: "destination", label: "Destination" },
  { key: "gone", label: "Cause gone?" },
  { key: "ok", label: "Succeeded", align: "right" },
  { key: "failed", label: "Failed", align: "right" },
  { key: "limited", label: "429", align: "right" },
  { key: "circuit", label: "Circuit and gate" },
];

export function Probes({ lanes }: { lanes: readonly ReplayLaneView[] }) {
  const narrow = useNarrow();
  if (narrow) {
    return (
      <Cards caption={CAPTION} busy={false}>
        {lanes.map((lane) => (
          <StackedCard key={lane.destinationId} name={laneName(lane)}>
            <CardField label="Cause gone?">
              <StatusText {...goneWords(lane.probe)} wrap />
            </CardField>
            <CardField label="Succeeded">{formatCount(lane.probe.succeeded)}</CardField>
            <CardField label="Failed">{formatCount(lane.probe.failed)}</CardField>
            <CardField label="429">{formatCount(lane.probe.rateLimited)}</CardField>
            <CardField label="Now">
              <Standing probe={lane.probe} />
            </CardField>
          </StackedCard>
        ))}
      </Cards>
    );
  }
  return (
    <Table caption={CAPTION} columns={COLUMNS}>
      {lanes.map((lane) => (
        <Row key={lane.destinationId}>
          <HeadCell>{laneName(lane)}</HeadCell>
          <Cell>
            <StatusText {...goneWords(lane.probe)} />
          </Cell>
          <Cell align="right">{formatCount(lane.probe.succeeded)}</Cell>
          <Cell align="right">{formatCount(lane.probe.failed)}</Cell>
          <Cell align="right">{formatCount(lane.probe.rateLimited)}</Cell>
          <Cell>
            <Standing probe={lane.probe} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Standing({ probe }: { probe: ReplayProbe }) {
  return (
    <>
      {probe.circuitOpen ? "circuit open" : "circuit closed"}
      {probe.gateUntil === null ? null : (
        <>
          , gate shut until <Timestamp iso={probe.gateUntil} form="clock" named />
        </>
      )}
    </>
  );
}

function goneWords({ causeGone }: ReplayProbe): { label: string; tone: Tone } {
  if (causeGone === null) return { label: "Not known: nothing was sent", tone: "unknown" };
  return causeGone ? { label: "It seems so", tone: "ok" } : { label: "No", tone: "danger" };
}
