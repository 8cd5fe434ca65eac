"use client";
import { cx } from "#components/ui/cx.ts";
/** The first thing on the first page: one sentence per region, the worst first. */
import { Skeleton } from "#components/ui/skeleton.tsx";
import { ToneIcon, toneText } from "#components/ui/status.tsx";
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { type VerdictWords, wordsForAll } from "./verdict-words.ts";

const URGENCY: Record<VerdictWords["tone"], number> = {
  danger: 0,
  warn: 1,
  held: 2,
  unknown: 3,
  neutral: 4,
  accent: 4,
  ok: 5,
};

export interface VerdictProps {
  answers: readonly RegionAnswer<RegionOverview>[];
  stale: boolean;
}

/** Sentences at the size of a headline. */
export function Verdict({ answers, stale }: VerdictProps) {
  const lines = wordsForAll(answers, stale).sort((a, b) => URGENCY[a.words.tone] - URGENCY[b.words.tone]);
  return (
    <ul aria-label="Verdict by region" className="grid gap-2">
      {lines.map(({ region, words }) => (
        <li
          key={region}
          data-testid={`verdict-${region}`}
          className="flex items-start gap-3 text-figure tracking-tight md:text-verdict"
        >
          <ToneIcon tone={words.tone} className="mt-1 size-5 md:mt-1.5 md:size-6" />
          <p className="text-balance">
            <strong className={cx("font-semibold", toneText(words.tone))}>
              {region.toUpperCase()}: {words.label}.
            </strong>{" "}
            {unbroken(words.main)} <span className="text-muted">{words.aside}</span>
          </p>
        </li>
      ))}
    </ul>
  );
}

/** Keeps "6 m 12 s" on one line. */
function unbroken(text: string): string {
  return text.replace(/\d+ (?:[dhms]|ms)(?: \d+ [hms])?\b/g, (age) => age.replaceAll(" ", "\u00a0"));
}

/** Two lines of the final height. */
export function VerdictSkeleton() {
  return (
    <div className="grid gap-2" aria-hidden="true">
      <Skeleton className="h-[34px] w-full max-w-2xl" />
      <Skeleton className="h-[34px] w-full max-w-xl" />
    </div>
  );
}
