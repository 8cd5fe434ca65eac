/** Whether the cause seems to be gone, looked up by the server for each destination: its last ten minutes, circuit and gate. */
import { formatCount } from "#components/ui/format.ts";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayLaneView, ReplayProbe } from "#db/console/replay/replay-views.ts";

const COLUMNS: readonly Column[] = [
  { key: "destination", label: "Destination" },
  { key: "gone", label: "Cause gone?" },
  { key: "ok", label: "Succeeded", align: "right" },
  { key: "failed", label: "Failed", align: "right" },
  { key: "limited", label: "429", align: "right" },
  { key: "circuit", label: "Circuit and gate" },
];

export function Probes({ lanes }: { lanes: readonly ReplayLaneView[] }) {
  return (
    <Table caption="The last ten minutes of each destination" columns={COLUMNS}>
      {lanes.map(({ destinationId, destinationName, probe }) => (
        <Row key={destinationId}>
          <HeadCell>{destinationName ?? `…${destinationId.slice(-6)}`}</HeadCell>
          <Cell>
            <StatusText {...goneWords(probe)} />
          </Cell>
          <Cell align="right">{formatCount(probe.succeeded)}</Cell>
          <Cell align="right">{formatCount(probe.failed)}</Cell>
          <Cell align="right">{formatCount(probe.rateLimited)}</Cell>
          <Cell>
            {probe.circuitOpen ? "circuit open" : "circuit closed"}
            {probe.gateUntil === null ? null : (
              <>
                , gate shut until <Timestamp iso={probe.gateUntil} form="clock" named />
              </>
            )}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function goneWords({ causeGone }: ReplayProbe): { label: string; tone: Tone } {
  if (causeGone === null) return { label: "Nobody knows: nothing was sent", tone: "unknown" };
  return causeGone ? { label: "It seems so", tone: "ok" } : { label: "No", tone: "danger" };
}
