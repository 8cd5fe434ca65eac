"use client";
/** An instant as `<time>`, in the chosen zone, with the other zone and the milliseconds on hover and focus. */
import { formatClock, formatExact, formatInstant, isRepeated, zoneName } from "./format.ts";
import { Tooltip } from "./tooltip.tsx";
import { useOwnZone, useZone } from "./zone.tsx";

export interface TimestampProps {
  /** UTC, ISO 8601. */
  iso: string;
  /** "clock" leaves out the day. */
  form?: "instant" | "clock" | "exact";
  /** Writes the name of the zone after it. */
  named?: boolean;
  /** Cells of long tables do without the tab stop; their column head names the zone. */
  plain?: boolean;
}

const FORMS = { instant: formatInstant, clock: formatClock, exact: formatExact };

/** Never a relative text alone: those stand beside it. */
export function Timestamp({ iso, form = "instant", named = false, plain = false }: TimestampProps) {
  const zone = useZone();
  const own = useOwnZone();
  const text = FORMS[form](iso, zone);
  const time = (
    <time dateTime={iso}>
      {text}
      {named || isRepeated(iso, zone) ? ` ${zoneName(zone, iso)}` : ""}
    </time>
  );
  if (plain) return time;
  return (
    <Tooltip
      tip={
        <span className="grid gap-0.5">
          <span>{formatExact(iso, "utc")} UTC</span>
          <span>
            {formatExact(iso, own)} {zoneName(own, iso)}
          </span>
        </span>
      }
    >
      {time}
    </Tooltip>
  );
}

const NEAR_MS = 12 * 60 * 60 * 1_000;

/** For cells of tables: the day is left out where the moment is less than 12 hours from `asOf`. */
export function NearTimestamp({ iso, asOf }: { iso: string; asOf: string }) {
  const near = Math.abs(Date.parse(iso) - Date.parse(asOf)) < NEAR_MS;
  return <Timestamp iso={iso} form={near ? "clock" : "instant"} plain />;
}
