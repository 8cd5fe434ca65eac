/** Where a batch is on its way, as an ordered list: what is over, what is now, what comes. */
import { Check } from "lucide-react";
import { cx } from "#components/ui/cx.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { isEnded, type ReplayState } from "#domain/replay.ts";

const STEPS = ["Draft", "Review", "Approved", "Canary", "Hold", "Running", "Ended"] as const;

const AT: Readonly<Partial<Record<ReplayState, number>>> = {
  draft: 0,
  in_review: 1,
  approved: 2,
  canary: 3,
  canary_hold: 4,
  running: 5,
  stopping: 5,
};

/** The step that a batch is at; a paused one is at the step that it left. */
export function stepOf({ state, pausedFrom }: Pick<ReplayDetail, "state" | "pausedFrom">): number {
  if (isEnded(state)) return STEPS.length - 1;
  return AT[state === "paused" ? (pausedFrom ?? "running") : state] ?? 0;
}

export function Stepper({ view }: { view: ReplayDetail }) {
  const at = stepOf(view);
  return (
    <ol aria-label="Where the batch is" className="flex flex-wrap gap-x-4 gap-y-1 text-table">
      {STEPS.map((step, index) => (
        <li
          key={step}
          aria-current={index === at ? "step" : undefined}
          className={cx(
            "inline-flex items-center gap-1",
            index === at ? "font-semibold text-fg" : index < at ? "text-muted" : "text-faint",
          )}
        >
          {index < at ? <Check aria-hidden="true" className="size-3.5" /> : <span>{index + 1}.</span>}
          {step}
        </li>
      ))}
    </ol>
  );
}
