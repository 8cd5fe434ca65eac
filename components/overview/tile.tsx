/** One number of a region: its name, its value, what it is measured against, how it went in the last hour. */
import Link from "next/link";
import { Sparkline } from "#components/charts/sparkline.tsx";
import { cx } from "#components/ui/cx.ts";
import { type Tone, ToneIcon, toneText } from "#components/ui/status.tsx";
import { unbroken } from "./overview-words.ts";

export interface TileProps {
  label: string;
  value: string;
  /** Wraps between its words, never inside an age. */
  note: string;
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
    <div
      data-testid={testId}
      className="row-span-2 grid min-w-0 grid-rows-subgrid gap-y-0.5 bg-surface px-3 py-3 @2xl:px-4"
    >
      <dt className="text-balance text-faint text-table leading-4">{label}</dt>
      <dd className="flex min-w-0 flex-col">
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
        <span className="block min-h-5 text-balance text-muted text-table">{unbroken(note)}</span>
        <Sparkline
          values={trend}
          label={`${label} in the last hour, now ${value}`}
          className="mt-auto pt-1"
        />
      </dd>
    </div>
  );
}
