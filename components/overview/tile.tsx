/** One number of a region: its name, its value, what it is measured against, how it went in the last hour. */
import Link from "next/link";
import type { ReactNode } from "react";
import { Sparkline } from "#components/charts/sparkline.tsx";
import { cx } from "#components/ui/cx.ts";
import { type Tone, ToneIcon, toneText } from "#components/ui/status.tsx";

export interface TileProps {
  label: string;
  value: string;
  note: ReactNode;
  /** Anything but neutral adds an icon, so that the colour is never alone. */
  tone?: Tone;
  /** Where the rows behind the number are. */
  href: string;
  /** One value a minute of the last hour; null is a gap. */
  trend: readonly (number | null)[];
  testId: string;
}

/** The number is the link. */
export function Tile({ label, value, note, tone = "neutral", href, trend, testId }: TileProps) {
  const marked = tone !== "neutral";
  return (
    <div data-testid={testId} className="flex min-w-0 flex-col gap-0.5 bg-surface px-3 py-3 sm:px-4">
      <dt className="truncate text-faint text-table">{label}</dt>
      <dd className="flex min-w-0 flex-1 flex-col">
        <span
          className={cx(
            "flex items-center gap-1.5 whitespace-nowrap text-figure font-semibold tracking-tight",
            marked && toneText(tone),
          )}
        >
          <Link href={href} prefetch={false} className="underline-offset-4 hover:underline">
            {value}
          </Link>
          {marked ? <ToneIcon tone={tone} className="size-4" /> : null}
        </span>
        <span className="block min-h-5 text-muted text-table">{note}</span>
        <Sparkline
          values={trend}
          label={`${label} in the last hour, now ${value}`}
          className="mt-auto pt-1"
        />
      </dd>
    </div>
  );
}
