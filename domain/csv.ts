/**
 * Lines of comma-separated values (RFC 4180) that a spreadsheet can open without running anything. A text from a
 * customer must never become a formula: what begins like one gets an apostrophe in front, which every spreadsheet
 * shows as plain text. Numbers are written as they are.
 */

/** What a cell can hold. Null and undefined are empty cells. */
export type CsvValue = string | number | bigint | boolean | null | undefined;

/**
 * What a spreadsheet reads as the start of a formula, the full-width forms included. Spaces before it do not help:
 * some programs drop them. A tab, a carriage return or a line feed in front moves the rest into another cell.
 */
const FORMULA_START = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/;
const NEEDS_QUOTES = /[",\r\n\t;]|^\s|\s$/;
const LINE_END = "\r\n";

/** One line, its end included. An empty list is an empty line. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvCell).join(",")}${LINE_END}`;
}

/** One cell, quoted where it must be. */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = FORMULA_START.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) || safe !== value ? `"${safe.replaceAll('"', '""')}"` : safe;
}
