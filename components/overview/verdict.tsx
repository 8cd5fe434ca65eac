"use client";
import { cx } from "#components/ui/cx.ts";
/** The first thing on the first page: one sentence per region, the worst first, and who is noisy there. */
import { Skeleton } from "#components/ui/skeleton.tsx";
import { ToneIcon, toneText } from "#components/ui/status.tsx";
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { NoiseLine } from "./noise-line.tsx";
import { unbroken } from "./overview-words.ts";
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

/** Sentences at the size of a headline; who is noisy in plain text under each. */
export function Verdict({ answers, stale }: VerdictProps) {
  const lines = wordsForAll(answers, stale).sort((a, b) => URGENCY[a.words.tone] - URGENCY[b.words.tone]);
  return (
    <ul aria-label="Verdict by region" className="grid gap-2">
      {lines.map(({ region, words }) => (
        <li key={region} data-testid={`verdict-${region}`} className="flex items-start gap-3">
          <ToneIcon tone={words.tone} className="mt-1 size-5 md:mt-1.5 md:size-6" />
          <div className="grid min-w-0 gap-1">
            <p className="text-balance text-figure tracking-tight md:text-verdict">
              <strong className={cx("font-semibold", toneText(words.tone))}>
                {region.toUpperCase()}: {words.label}.
              </strong>{" "}
              {unbroken(words.main)} <span className="text-muted">{words.aside}</span>
            </p>
            <NoiseOf answer={answers.find((answer) => answer.region === region)} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Who is noisy there; nothing for a region that does not answer. */
function NoiseOf({ answer }: { answer: RegionAnswer<RegionOverview> | undefined }) {
  if (answer?.status !== "ok") return null;
  return <NoiseLine region={answer.region} noise={answer.data.noise} slots={answer.data.slots} />;
}

/** Two regions of the final height: the sentence, and who is noisy. */
export function VerdictSkeleton() {
  return (
    <div className="grid gap-2" aria-hidden="true">
      <Skeleton className="h-[60px] w-full max-w-2xl" />
      <Skeleton className="h-[60px] w-full max-w-xl" />
    </div>
  );
}
