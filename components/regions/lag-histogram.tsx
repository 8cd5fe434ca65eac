/** How long after their due time first requests began, in the last 15 minutes, as bars with their counts. */
import { formatCount } from "#components/ui/format.ts";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { RegionHealth } from "#db/console/read-regions.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { lagBars } from "./region-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "age", label: "Began after due" },
  { key: "count", label: "First requests", align: "right" },
  { key: "bar", label: "Share" },
];
const WIDTH_PX = 120;

export function LagHistogram({ lag, region }: { lag: RegionHealth["lag"]; region: Region }) {
  const bars = lagBars(lag);
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  return (
    <section aria-label={`Scheduler lag of ${region.toUpperCase()}`} className="min-w-0">
      <h3 className="mb-1.5 font-medium">
        Scheduler lag{" "}
        <span className="font-normal text-faint text-table">
          first requests of the last 15 minutes{total > 0 ? `, longest ${formatAge(lag.maxMs)}` : ""}
        </span>
      </h3>
      {total === 0 ? (
        <p className="text-muted text-table">No first request was counted in the last 15 minutes.</p>
      ) : (
        <Table
          caption={`First requests of ${region.toUpperCase()} by how long after due they began`}
          columns={COLUMNS}
        >
          {bars.map(({ label, count }) => (
            <Row key={label}>
              <HeadCell>{label}</HeadCell>
              <Cell align="right">{formatCount(count)}</Cell>
              <Cell>
                <svg
                  aria-hidden="true"
                  width={WIDTH_PX}
                  height="8"
                  viewBox={`0 0 ${WIDTH_PX} 8`}
                  className="block"
                >
                  {count > 0 ? (
                    <rect
                      width={Math.max(2, (count / highest) * WIDTH_PX)}
                      height="8"
                      rx="2"
                      fill="var(--accent-solid)"
                    />
                  ) : null}
                </svg>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </section>
  );
}
