/** One number of a region with its name, its unit and what it is measured against. */
import Link from "next/link";
import type { ReactNode } from "react";
import { cx } from "#components/ui/cx.ts";
import { type Tone, ToneIcon, toneText } from "#components/ui/status.tsx";

export interface TileProps {
  label: ReactNode;
  value: ReactNode;
  note?: ReactNode;
  /** Anything but neutral adds an icon, so that the colour is never alone. */
  tone?: Tone;
  /** Where the rows behind the number are. */
  href?: string;
  testId?: string;
}

/** The number is the link when there are rows to show. */
export function Tile({ label, value, note, tone = "neutral", href, testId }: TileProps) {
  const marked = tone !== "neutral";
  return (
    <div
      data-testid={testId}
      className={cx("flex min-w-0 flex-col gap-0.5 px-4 py-3", tone === "held" ? "stripes" : "bg-surface")}
    >
      <dt className="truncate text-faint text-table">{label}</dt>
      <dd className="min-w-0">
        <span
          className={cx(
            "flex items-center gap-1.5 text-figure font-semibold tracking-tight",
            marked && toneText(tone),
          )}
        >
          {href ? (
            <Link href={href} prefetch={false} className="underline-offset-4 hover:underline">
              {value}
            </Link>
          ) : (
            value
          )}
          {marked ? <ToneIcon tone={tone} className="size-4" /> : null}
        </span>
        <span className="block min-h-5 text-muted text-table">{note}</span>
      </dd>
    </div>
  );
}
