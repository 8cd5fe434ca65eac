/**
 * The bytes of an exported list: one chunk a page, made when the reader wants it. A list that is longer than the limit says
 * so in its last line, and a page that fails breaks the stream off: a file must never be shorter than the list in silence.
 */
import { type CsvValue, csvLine } from "#domain/csv.ts";
import type { ExportFormat } from "./export-schemas.ts";

/** Most rows of one file. A longer list is cut there, and its last line says so. */
export const MAX_EXPORT_ROWS = 10_000;
/** One column. Its name is the header in CSV and the member's name in NDJSON. */
export interface ExportColumn<Row> {
  readonly name: string;
  readonly value: (row: Row) => CsvValue;
}

/** Most pages of one file, empty ones included. */
export const MAX_PAGES = MAX_EXPORT_ROWS + 1;
const CUT_TEXT = `cut off after ${MAX_EXPORT_ROWS} rows, the list goes on: narrow the filter`;

/** One chunk a page; the next page is read only when the reader wants it. */
export function streamOf<Row>(
  first: IteratorResult<readonly Row[]>,
  pages: AsyncIterator<readonly Row[]>,
  columns: readonly ExportColumn<Row>[],
  chosen: ExportFormat,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let step: IteratorResult<readonly Row[]> | null = first;
  let written = 0;
  let head = chosen === "csv" ? csvLine(columns.map(({ name }) => name)) : "";
  /** The next text to send, and whether the file ends with it. An empty page makes no text. */
  const next = async (): Promise<{ text: string; ended: boolean }> => {
    const current = step ?? (await pages.next());
    step = null;
    const room = MAX_EXPORT_ROWS - written;
    const page: readonly Row[] = current.done ? [] : current.value;
    const rows = page.slice(0, room);
    const cut = page.length > room;
    written += rows.length;
    const lines = rows.map((row) => lineOf(row, columns, chosen)).join("");
    // A list without rows still has its header line.
    const text = `${head}${lines}${cut ? cutLine(chosen) : ""}`;
    head = "";
    return { text, ended: current.done === true || cut };
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A pull that brings nothing is not called again: so it goes on until there is something to send, or the end.
      for (let page = 0; page <= MAX_PAGES; page += 1) {
        const { text, ended } = await next();
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (ended) {
          controller.close();
          await pages.return?.();
        }
        if (text !== "" || ended) return;
      }
      controller.error(new Error("too many empty pages"));
    },
    async cancel() {
      await pages.return?.();
    },
  });
}

function lineOf<Row>(row: Row, columns: readonly ExportColumn<Row>[], chosen: ExportFormat): string {
  if (chosen === "csv") return csvLine(columns.map(({ value }) => value(row)));
  const entries = columns.map(({ name, value }) => [name, jsonOf(value(row))] as const);
  return `${JSON.stringify(Object.fromEntries(entries))}\n`;
}

/** A file that was cut says so in itself: whoever gets it sent on has nothing else to tell. */
function cutLine(chosen: ExportFormat): string {
  return chosen === "csv"
    ? csvLine([CUT_TEXT])
    : `${JSON.stringify({ truncated: true, detail: CUT_TEXT })}\n`;
}

function jsonOf(value: CsvValue): string | number | boolean | null {
  return typeof value === "bigint" ? String(value) : (value ?? null);
}
