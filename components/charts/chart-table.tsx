/** The numbers of a picture as a table, the latest first: the same points, gaps said in words. */
import { formatCount } from "#components/ui/format.ts";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { formatAge } from "#domain/queue-age.ts";
import { type ChartColumn, formatRate, type ChartTable as Rows } from "./chart-data.ts";

/** Points shown; a series has up to 360. The CSV has all of them. */
const MAX_ROWS = 60;

export interface ChartTableProps {
  caption: string;
  table: Rows;
}

/** The latest `MAX_ROWS` points; a table without time keeps its order. */
export function ChartTable({ caption, table }: ChartTableProps) {
  const timed = table.columns[0]?.unit === "time";
  const rows = timed ? table.rows.slice(-MAX_ROWS).reverse() : table.rows;
  return (
    <div className="scroll-quiet max-h-64 overflow-y-auto rounded-md border border-line">
      <Table
        pinned
        caption={caption}
        columns={table.columns.map((column, index) => ({
          key: column.label,
          label: column.label,
          align: index === 0 ? "left" : "right",
        }))}
      >
        {rows.map((row) => (
          <Row key={String(row[0])}>
            <HeadCell>
              <Value value={row[0] ?? null} column={table.columns[0]} />
            </HeadCell>
            {timed && row.slice(1).every((value) => value === null) ? (
              <td colSpan={row.length - 1} className="px-3 text-right text-muted">
                no data
              </td>
            ) : (
              row.slice(1).map((value, index) => (
                <Cell key={table.columns[index + 1]?.label} align="right">
                  <Value value={value} column={table.columns[index + 1]} />
                </Cell>
              ))
            )}
          </Row>
        ))}
      </Table>
      {timed && table.rows.length > MAX_ROWS ? (
        <p className="border-line border-t px-3 py-1.5 text-faint text-table">
          The latest {MAX_ROWS} of {formatCount(table.rows.length)} points. The CSV has all.
        </p>
      ) : null}
    </div>
  );
}

function Value({ value, column }: { value: string | number | null; column: ChartColumn | undefined }) {
  if (value === null) return <span className="text-faint">no data</span>;
  if (typeof value === "string") return value;
  switch (column?.unit) {
    case "time":
      return <Timestamp iso={new Date(value).toISOString()} plain />;
    case "ms":
      return formatAge(value);
    case "perMinute":
      return formatRate(value);
    default:
      return formatCount(value);
  }
}
