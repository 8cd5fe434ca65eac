/** What the saved plan asks of each destination and of the region, as the server computes it. */
import { rateWords, shareWords } from "#components/replays/replay-words.ts";
import { formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { formatAge } from "#domain/queue-age.ts";

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
      <Table caption="Load on each destination, by the saved plan" columns={COLUMNS}>
        {lanes.map((lane) => {
          const now = lane.trouble ?? lane.hold;
          return (
            <Row key={lane.destinationId}>
              <HeadCell>{lane.destinationName ?? `…${lane.destinationId.slice(-6)}`}</HeadCell>
              <Cell align="right">{formatCount(lane.items)}</Cell>
              <Cell align="right">{rateWords(lane.plannedRatePerSecond)}</Cell>
              <Cell align="right">
                {lane.normalPerSecond === null ? "none" : rateWords(lane.normalPerSecond)}
              </Cell>
              <Cell align="right">
                {lane.limitPerSecond === null ? "none" : rateWords(lane.limitPerSecond)}
              </Cell>
              <Cell>
                {now === null ? (
                  <StatusText tone="ok" label="open" />
                ) : (
                  <StatusText tone={lane.trouble === null ? "held" : "danger"} label={troubleWords(now)} />
                )}
              </Cell>
            </Row>
          );
        })}
      </Table>
    </section>
  );
}
