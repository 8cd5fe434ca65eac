"use client";
/** The mark of a delivery that is due and cannot leave, with its first reason; all of them on hover and focus. */
import { Clock, PauseCircle } from "lucide-react";
import { cx } from "#components/ui/cx.ts";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { Blocker } from "#db/console/blockers.ts";
import { BLOCKER_WORDS, holdWord } from "./blocker-words.ts";

/** Nothing when nothing holds it. */
export function HeldMark({ blockers, asOf }: { blockers: readonly Blocker[]; asOf: string }) {
  const [first, ...others] = blockers;
  if (first === undefined) return null;
  const word = holdWord(first.code);
  const Icon = word === "Held" ? PauseCircle : Clock;
  return (
    <span
      className={cx(
        "inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-sm px-1.5 align-top text-axis",
        word === "Held" ? "stripes text-held" : "text-muted",
      )}
    >
      <Icon aria-hidden="true" className="size-3" />
      {word}: {BLOCKER_WORDS[first.code].short}
      {first.until === null ? null : (
        <>
          {" until "}
          <NearTimestamp iso={first.until} asOf={asOf} />
        </>
      )}
      {others.length > 0 ? ` +${others.length}` : null}
    </span>
  );
}
