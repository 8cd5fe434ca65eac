"use client";
/** How far back the charts of a page look, kept in the address as `range`. It ends at the present of the server. */
import { usePathname } from "next/navigation";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { Segmented } from "#components/ui/segmented.tsx";
import { Select } from "#components/ui/select.tsx";
import { SERIES_RANGE_NAMES, type SeriesRange } from "#domain/series.ts";

const DEFAULT_RANGE: SeriesRange = "15m";
const OPTIONS = SERIES_RANGE_NAMES.map((value) => ({
  value,
  label: value.replace(/(\d)([mhd])/, "$1 $2"),
}));

/** The range in force and its setter. */
export function useRange(): [SeriesRange, (range: SeriesRange) => void] {
  const [range, setRange] = useQueryState(
    "range",
    parseAsStringLiteral(SERIES_RANGE_NAMES).withDefault(DEFAULT_RANGE).withOptions({ history: "push" }),
  );
  return [range, (next) => void setRange(next)];
}

/** True for pages whose charts look back. */
export function hasRange(pathname: string): boolean {
  return pathname === "/" || /^\/(tenants|destinations)\/[^/]+$/.test(pathname);
}

/** The choice, on the pages that have charts. */
export function TimeRange() {
  const pathname = usePathname();
  const [range, setRange] = useRange();
  if (!hasRange(pathname)) return null;
  return (
    <>
      <span className="contents max-md:hidden">
        <Segmented label="Time range" value={range} options={OPTIONS} onChange={setRange} />
      </span>
      {/* On a phone the bars must not cover the page: one short field in place of five. */}
      <Select
        label="Time range"
        // A range is always chosen: in the colour of a chosen filter the field would look as if it had the focus.
        className="md:hidden [&>select]:border-line-strong [&>select]:font-normal"
        value={range}
        options={OPTIONS}
        onChange={(value) => setRange(SERIES_RANGE_NAMES.find((known) => known === value) ?? DEFAULT_RANGE)}
      />
    </>
  );
}
