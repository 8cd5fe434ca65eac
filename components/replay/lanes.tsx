"use client";
/** The destinations of a batch, each a lane of its own: how far, how fast, and what holds or stopped it. */
import Link from "next/link";
import { troubleWords } from "#components/replay-draft/load.tsx";
import { rateWords } from "#components/replays/replay-words.ts";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { ReplayLaneView } from "#db/console/replay/replay-views.ts";
import { isEnded } from "#domain/replay.ts";
import { laneName } from "./lane-name.ts";
import type { Seen } from "./seen.ts";

const COLUMNS: readonly Column[] = [
  { key: "destination", label: "Destination" },
  { key: "state", label: "Lane" },
  { key: "canary", label: "Canary", align: "right" },
  { key: "delivered", label: "Delivered", align: "right" },
  { key: "flight", label: "In flight", align: "right" },
  { key: "again", label: "Dead again", align: "right" },
  { key: "skipped", label: "Skipped or recalled", align: "right" },
  { key: "open", label: "Not released", align: "right" },
  { key: "items", label: "Entries", align: "right" },
];
/** Of a batch that can still send. */
const LIVE_COLUMNS: readonly Column[] = [
  { key: "rate", label: "Rate now", align: "right" },
  { key: "planned", label: "Planned", align: "right" },
  { key: "equal", label: "Equal failures in a row", align: "right" },
];

export function Lanes({ region, view }: Seen) {
  const ended = isEnded(view.state);
  return (
    <Panel title="Destinations" note="each has a lane of its own" flush>
      <Table caption="Lanes of the batch" columns={ended ? COLUMNS : [...COLUMNS, ...LIVE_COLUMNS]}>
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
            <Cell className="max-w-96 whitespace-normal">
              <LaneState lane={lane} ended={ended} />
            </Cell>
            <Cell align="right">
              {lane.canary.items === 0
                ? ""
                : `${formatCount(lane.canary.delivered)} of ${formatCount(lane.canary.items)}`}
            </Cell>
            <Cell align="right">{formatCount(lane.counts.delivered)}</Cell>
            <Cell align="right">{formatCount(lane.counts.released)}</Cell>
            <Cell align="right">{formatCount(lane.counts.dead_again)}</Cell>
            <Cell align="right">{formatCount(lane.counts.skipped + lane.counts.recalled)}</Cell>
            <Cell align="right">{formatCount(lane.counts.frozen + lane.counts.not_released)}</Cell>
            <Cell align="right">{formatCount(lane.items)}</Cell>
            {ended ? null : (
              <>
                <Cell align="right">{rateWords(lane.effectiveRatePerSecond)}</Cell>
                <Cell align="right">{rateWords(lane.plannedRatePerSecond)}</Cell>
                <Cell align="right">
                  {formatCount(lane.equalFailures.count)} of {formatCount(lane.equalFailures.limit)}
                </Cell>
              </>
            )}
          </Row>
        ))}
      </Table>
    </Panel>
  );
}

function LaneState({ lane, ended }: { lane: ReplayLaneView; ended: boolean }) {
  if (lane.stoppedAt !== null)
    return (
      <StatusText
        tone="danger"
        label={`Stopped: ${lane.stopText ?? lane.stopCondition ?? ""}`}
        className="whitespace-normal"
      />
    );
  if (ended) return <StatusText tone="neutral" label="Ended" />;
  if (lane.hold !== null) return <StatusText tone="held" label={`Held: ${troubleWords(lane.hold)}`} />;
  if (lane.trouble !== null) return <StatusText tone="warn" label={troubleWords(lane.trouble)} />;
  return <StatusText tone="ok" label="Open" />;
}
