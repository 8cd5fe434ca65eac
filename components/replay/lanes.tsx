"use client";
/** The destinations of a batch, each a lane of its own: how far, how fast, and what holds or stopped it. */
import Link from "next/link";
import { troubleWords } from "#components/replay-draft/load.tsx";
import { rateWords } from "#components/replays/replay-words.ts";
import { Card, CardField, Cards } from "#components/ui/cards.tsx";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import type { ReplayLaneView } from "#db/console/replay/replay-views.ts";
import { isEnded } from "#domain/replay.ts";
import { laneName } from "./lane-name.ts";
import type { Seen } from "./seen.ts";

const CAPTION = "Lanes of the batch";
const NAMES: readonly Column[] = [
  { key: "destination", label: "Destination" },
  { key: "state", label: "Lane" },
];

interface LaneColumn extends Column {
  label: string;
  read: (lane: ReplayLaneView) => string;
}

const right = (key: string, label: string, read: LaneColumn["read"]): LaneColumn => ({
  key,
  label,
  align: "right",
  read,
});

const ENTRIES = right("items", "Entries", ({ items }) => formatCount(items));
const PLANNED = right("planned", "Planned", (lane) => rateWords(lane.plannedRatePerSecond));
const CANARY = right("canary", "Canary", ({ canary: { items, delivered } }) =>
  items === 0 ? "" : `${formatCount(delivered)} of ${formatCount(items)}`,
);
/** Nothing was sent yet: only what is meant to be. */
const WAITING: readonly LaneColumn[] = [
  right("canary", "Canary", ({ canary }) => formatCount(canary.items)),
  ENTRIES,
  PLANNED,
];
const COUNTS: readonly LaneColumn[] = [
  CANARY,
  right("delivered", "Delivered", ({ counts }) => formatCount(counts.delivered)),
  right("flight", "In flight", ({ counts }) => formatCount(counts.released)),
  right("again", "Dead again", ({ counts }) => formatCount(counts.dead_again)),
  right("skipped", "Skipped or recalled", ({ counts }) => formatCount(counts.skipped + counts.recalled)),
  right("open", "Not released", ({ counts }) => formatCount(counts.frozen + counts.not_released)),
  ENTRIES,
];
/** Of a batch that can still send. */
const LIVE: readonly LaneColumn[] = [
  ...COUNTS,
  right("rate", "Rate now", (lane) => rateWords(lane.effectiveRatePerSecond)),
  PLANNED,
  right(
    "equal",
    "Equal failures in a row",
    ({ equalFailures: { count, limit } }) => `${formatCount(count)} of ${formatCount(limit)}`,
  ),
];

function columnsOf({ state, startedAt }: Seen["view"]): readonly LaneColumn[] {
  if (startedAt === null) return WAITING;
  return isEnded(state) ? COUNTS : LIVE;
}

export function Lanes({ region, view }: Seen) {
  const narrow = useNarrow();
  const List = narrow ? LaneCards : LaneTable;
  return (
    <Panel title="Destinations" note="each has a lane of its own" flush>
      <List region={region} view={view} columns={columnsOf(view)} />
    </Panel>
  );
}

type ListProps = Pick<Seen, "region" | "view"> & { columns: readonly LaneColumn[] };

function LaneTable({ region, view, columns }: ListProps) {
  return (
    <Table caption={CAPTION} columns={[...NAMES, ...columns]}>
      {view.lanes.map((lane) => (
        <Row key={lane.destinationId}>
          <HeadCell>
            <Link
              href={`/destinations/${lane.destinationId}?region=${region}`}
              prefetch={false}
              className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
            >
              {laneName(lane)}
            </Link>
          </HeadCell>
          <Cell wrap className="max-w-96">
            <LaneState lane={lane} ended={isEnded(view.state)} />
          </Cell>
          {columns.map(({ key, read }) => (
            <Cell key={key} align="right">
              {read(lane)}
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}

function LaneCards({ region, view, columns }: ListProps) {
  return (
    <Cards caption={CAPTION} busy={false}>
      {view.lanes.map((lane) => (
        <Card
          key={lane.destinationId}
          name={laneName(lane)}
          href={`/destinations/${lane.destinationId}?region=${region}`}
          aside={null}
        >
          <CardField label="Lane">
            <LaneState lane={lane} ended={isEnded(view.state)} />
          </CardField>
          {columns.map(({ key, label, read }) => (
            <CardField key={key} label={label}>
              {read(lane)}
            </CardField>
          ))}
        </Card>
      ))}
    </Cards>
  );
}

function LaneState({ lane, ended }: { lane: ReplayLaneView; ended: boolean }) {
  if (lane.stoppedAt !== null)
    return <StatusText tone="danger" label={`Stopped: ${lane.stopText ?? lane.stopCondition ?? ""}`} wrap />;
  if (ended) return <StatusText tone="neutral" label="Ended" />;
  if (lane.hold !== null) return <StatusText tone="held" label={`Held: ${troubleWords(lane.hold)}`} />;
  if (lane.trouble !== null) return <StatusText tone="warn" label={troubleWords(lane.trouble)} />;
  return <StatusText tone="ok" label="Open" />;
}
