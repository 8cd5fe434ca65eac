/** Where a batch is on its way, as an ordered list: what is over, what is now, what comes, and what was never reached. */
import { Check, Minus } from "lucide-react";
import { cx } from "#components/ui/cx.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { STEPS, type StepMark, stepMarks } from "./steps.ts";

const LOOK: Readonly<Record<StepMark, string>> = {
  done: "text-muted",
  now: "font-semibold text-fg",
  ahead: "text-faint",
  never: "text-faint",
};

export function Stepper({ view }: { view: ReplayDetail }) {
  const marks = stepMarks(view);
  return (
    <ol aria-label="Where the batch is" className="flex flex-wrap gap-x-4 gap-y-1 text-table">
      {STEPS.map((step, index) => {
        const mark = marks[index] ?? "ahead";
        return (
          <li
            key={step}
            aria-current={mark === "now" ? "step" : undefined}
            className={cx("inline-flex items-center gap-1", LOOK[mark])}
          >
            {mark === "done" ? (
              <Check aria-hidden="true" className="size-3.5" />
            ) : mark === "never" ? (
              <Minus aria-hidden="true" className="size-3.5" />
            ) : (
              <span>{index + 1}.</span>
            )}
            {step}
            {mark === "never" ? <span className="sr-only">, not reached</span> : null}
          </li>
        );
      })}
    </ol>
  );
}
