/** The state of a delivery as the ordered list of the states that it passes through; the present one is marked. */
import { cx } from "#components/ui/cx.ts";
import { toneText } from "#components/ui/status.tsx";
import { STATE_WORDS } from "#components/ui/words.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";
import type { DeliveryState } from "#domain/delivery.ts";

type StepKind = "passed" | "current" | "ahead" | "skipped";
const KIND_WORDS: Record<StepKind, string> = {
  passed: "passed",
  current: "now",
  ahead: "ahead",
  skipped: "not needed",
};

/** ready, leased, delayed where it was or is, and the end: the one it had, or the one it is meant to have. */
export function StateSteps({
  delivery,
  attempts,
}: {
  delivery: DeliveryDetail;
  attempts: readonly AttemptEntry[];
}) {
  const end: DeliveryState = isTerminal(delivery.state) ? delivery.state : "delivered";
  const wasDelayed = delivery.state === "delayed" || attempts.some(({ decision }) => decision === "delayed");
  const steps: DeliveryState[] = ["ready", "leased", ...(wasDelayed ? (["delayed"] as const) : []), end];
  return (
    <ol aria-label="States" className="flex flex-wrap items-center gap-x-1 gap-y-2">
      {steps.map((state, index) => {
        const kind = kindOf(state, delivery);
        const { icon: Icon, label, tone } = STATE_WORDS[state];
        return (
          <li
            key={state}
            aria-current={kind === "current" ? "step" : undefined}
            className="flex items-center gap-1"
          >
            {index > 0 ? <span aria-hidden="true" className="mx-1 h-px w-4 bg-line-strong md:w-6" /> : null}
            <span
              className={cx(
                "inline-flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-table",
                kind === "current" && cx("border-current font-medium", toneText(tone)),
                kind === "passed" && "border-line bg-subtle text-muted",
                kind === "ahead" && "border-line border-dashed text-faint",
                kind === "skipped" && "border-line border-dashed text-faint line-through",
              )}
            >
              <Icon aria-hidden="true" className="size-3.5" />
              {label}
              <span className="sr-only">, {KIND_WORDS[kind]}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function kindOf(state: DeliveryState, delivery: DeliveryDetail): StepKind {
  if (state === delivery.state) return "current";
  const tried = delivery.attempts > 0;
  switch (state) {
    case "ready":
    case "delayed":
      return "passed";
    case "leased":
      if (tried) return "passed";
      return isTerminal(delivery.state) ? "skipped" : "ahead";
    default:
      return "ahead";
  }
}

function isTerminal(state: DeliveryState): boolean {
  return state === "delivered" || state === "dead" || state === "cancelled";
}
