/** Work that people hold, apart from what is late, each reason with its count and its oldest. It is never hidden. */
import Link from "next/link";
import { formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import type { RegionOverview } from "#db/console/read-overview.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { HELD_WORDS } from "./held-words.ts";
import { capital } from "./overview-words.ts";

export interface HeldStripProps {
  region: Region;
  held: RegionOverview["held"];
}

export function HeldStrip({ region, held }: HeldStripProps) {
  return (
    <div
      data-testid="held"
      className={
        held.length === 0
          ? "min-h-9 border-line border-t px-4 py-2 text-faint text-table"
          : "stripes min-h-9 border-line border-t px-4 py-2 text-table"
      }
    >
      {held.length === 0 ? (
        "Held apart: nothing. Nobody paused, disabled or drained what is due."
      ) : (
        <ul className="grid gap-1">
          {held.map((row) => (
            <li key={row.why} className="flex flex-wrap items-center gap-x-2 text-fg">
              <StatusText
                tone="held"
                label={`Held: ${capital(HELD_WORDS[row.why] ?? row.why)}`}
                className="font-medium"
              />
              <Link
                href={`/deliveries?region=${region}&reason=${row.why}`}
                prefetch={false}
                className="underline-offset-4 hover:underline"
              >
                {formatCount(row.count)}
              </Link>
              <span>oldest {formatAge(row.oldestMs)}, not in the ages above</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
