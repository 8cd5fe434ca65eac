/** The numbers of an age chart as a table, the latest first: the same points, gaps said in words. */

import { formatCount } from "#components/ui/format.ts";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { AgeSeries } from "#db/console/read-age-series.ts";
import { formatAge } from "#domain/queue-age.ts";

/** Points shown; the chart has up to 360. */
const MAX_ROWS = 60;

const COLUMNS: readonly Column[] = [
  { key: "t", label: "Time" },
  { key: "first", label: "First attempt, oldest", align: "right" },
  { key: "due", label: "Due, oldest", align: "right" },
  { key: "count", label: "Due", align: "right" },
];

/** The latest `MAX_ROWS` points. */
export function AgeTable({ series, caption }: { series: AgeSeries; caption: string }) {
  const points = series.points.slice(-MAX_ROWS).reverse();
  return (
    <div className="scroll-quiet max-h-56 overflow-y-auto rounded-md border border-line">
      <Table caption={caption} columns={COLUMNS}>
        {points.map((point) => (
          <Row key={point.t}>
            <HeadCell>
              <Timestamp iso={new Date(point.t).toISOString()} plain />
            </HeadCell>
            {point.firstAttemptMs === null || point.dueMs === null ? (
              <td colSpan={3} className="px-3 text-right text-muted">
                no samples
              </td>
            ) : (
              <>
                <Cell align="right">{formatAge(point.firstAttemptMs)}</Cell>
                <Cell align="right">{formatAge(point.dueMs)}</Cell>
                <Cell align="right">{formatCount(point.dueCount ?? 0)}</Cell>
              </>
            )}
          </Row>
        ))}
      </Table>
    </div>
  );
}
