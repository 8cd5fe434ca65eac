/** Slots by lane: live first attempts, retries, replays. Each lane's part is shown, so that "full" means something. */
import { formatCount, plural } from "#components/ui/format.ts";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { RegionHealth } from "#db/console/read-regions.ts";
import type { Lane } from "#domain/delivery.ts";
import type { Region } from "#domain/region.ts";

const COLUMNS: readonly Column[] = [
  { key: "lane", label: "Lane" },
  { key: "inFlight", label: "In flight", align: "right" },
  { key: "slots", label: "May use", align: "right" },
  { key: "share", label: "Used" },
];

const LANE_WORDS: Readonly<Record<Lane, string>> = {
  first: "First attempts",
  retry: "Retries",
  replay: "Replays",
};

export function LaneUsage({ health, region }: { health: RegionHealth; region: Region }) {
  const name = region.toUpperCase();
  return (
    <section aria-label={`Lanes of ${name}`} className="min-w-0">
      <h3 className="mb-1.5 font-medium">
        Lanes <span className="font-normal text-faint text-table">of {plural(health.slots, "slot")}</span>
      </h3>
      <Table caption={`Slots by lane in ${name}`} columns={COLUMNS}>
        {health.lanes.map(({ lane, inFlight, slots }) => (
          <Row key={lane}>
            <HeadCell>{LANE_WORDS[lane]}</HeadCell>
            <Cell align="right">{formatCount(inFlight)}</Cell>
            <Cell align="right">{formatCount(slots)}</Cell>
            <Cell>
              <ShareBar used={inFlight} of={slots} />
            </Cell>
          </Row>
        ))}
      </Table>
    </section>
  );
}

/** The numbers beside it say the same. */
function ShareBar({ used, of }: { used: number; of: number }) {
  const share = of === 0 ? 0 : Math.min(1, used / of);
  return (
    <svg aria-hidden="true" width="96" height="8" viewBox="0 0 96 8" className="block">
      <rect width="96" height="8" rx="4" fill="var(--subtle)" />
      {share > 0 ? (
        <rect width={Math.max(4, 96 * share)} height="8" rx="4" fill="var(--accent-solid)" />
      ) : null}
    </svg>
  );
}
