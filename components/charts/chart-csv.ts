/** The numbers of a chart as CSV text: every point, bare numbers with their unit in the heading, an empty cell for a gap. */
import { csvLine } from "#domain/csv.ts";
import type { ChartColumn, ChartTable } from "./chart-data.ts";

const UNITS: Readonly<Record<ChartColumn["unit"], string>> = {
  time: "UTC",
  ms: "ms",
  count: "",
  perMinute: "per minute",
  text: "",
};

/** One line a point and region. */
export function chartCsv(tables: readonly { readonly name: string; readonly table: ChartTable }[]): string {
  const [first] = tables;
  if (first === undefined) return "";
  const head = first.table.columns.map(({ label, unit }) =>
    UNITS[unit] === "" ? label : `${label} (${UNITS[unit]})`,
  );
  const lines = tables.flatMap(({ name, table }) =>
    table.rows.map((row) =>
      csvLine([name, ...row.map((value, index) => cellOf(value, table.columns[index]))]),
    ),
  );
  return [csvLine(["Of", ...head]), ...lines].join("");
}

function cellOf(value: string | number | null, column: ChartColumn | undefined): string | number | null {
  return column?.unit === "time" && typeof value === "number" ? new Date(value).toISOString() : value;
}
