/** One entry of a timeline: a mark on the line, a heading, a moment and whatever explains it. */
import type { ReactNode } from "react";
import { cx } from "#components/ui/cx.ts";
import type { Tone } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";

const MARKS: Record<Tone, string> = {
  neutral: "border-line-strong bg-surface",
  accent: "border-accent-solid bg-accent-solid",
  ok: "border-ok-mark bg-ok-mark",
  warn: "border-warn-mark bg-warn-mark",
  danger: "border-danger-mark bg-danger-mark",
  held: "border-held-mark stripes",
  unknown: "border-dashed border-line-strong bg-surface",
};

export interface TimelineItemProps {
  tone: Tone;
  title: ReactNode;
  /** UTC; null for something that has no moment yet. */
  at: string | null;
  /** Short facts at the right of the heading. */
  aside?: ReactNode;
  children?: ReactNode;
}

/** An `<li>`: entries stand in an ordered list. */
export function TimelineItem({ tone, title, at, aside, children }: TimelineItemProps) {
  return (
    <li className="group/item relative grid grid-cols-[16px_minmax(0,1fr)] gap-x-3 pb-6 last:pb-0">
      <span aria-hidden="true" className="relative flex justify-center">
        <span className="absolute top-4 -bottom-6 w-px bg-line group-last/item:hidden" />
        <span className={cx("relative mt-1.5 size-2.5 rounded-full border-2", MARKS[tone])} />
      </span>
      <div className="min-w-0">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <h3 className="font-medium">{title}</h3>
          <span className="flex flex-wrap items-baseline gap-x-3 text-muted text-table">
            {aside}
            {at === null ? null : <Timestamp iso={at} form="exact" />}
          </span>
        </div>
        {children}
      </div>
    </li>
  );
}
