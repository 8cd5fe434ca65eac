/** The state of a delivery as the ordered list of the states that it had; the present one is marked, and what may come is dashed. */
import { cx } from "#components/ui/cx.ts";
import { toneText } from "#components/ui/status.tsx";
import { STATE_WORDS } from "#components/ui/words.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";
import type { DeliveryState } from "#domain/delivery.ts";
import { statePath } from "./state-path.ts";

type StepKind = "passed" | "current" | "ahead";
const KIND_WORDS: Record<StepKind, string> = {
  passed: "passed",
  current: "now",
  ahead: "may come next",
};

export function StateSteps({
  delivery,
  attempts,
}: {
  delivery: DeliveryDetail;
  attempts: readonly AttemptEntry[];
}) {
  const { passed, now, ahead, otherwise } = statePath(delivery, attempts);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <ol aria-label="States" className="flex flex-wrap items-center gap-x-1 gap-y-2">
        {passed.map((state, index) => (
          <Step key={`passed-${state}`} state={state} kind="passed" first={index === 0} />
        ))}
        <Step state={now} kind="current" first={passed.length === 0} />
        {ahead.map((state) => (
          <Step key={`ahead-${state}`} state={state} kind="ahead" first={false} />
        ))}
      </ol>
      {otherwise.length === 0 ? null : (
        <span className="text-faint text-table">
          or {otherwise.map((state) => STATE_WORDS[state].label.toLowerCase()).join(", ")}
        </span>
      )}
    </div>
  );
}

function Step({ state, kind, first }: { state: DeliveryState; kind: StepKind; first: boolean }) {
  const { icon: Icon, label, tone } = STATE_WORDS[state];
  return (
    <li aria-current={kind === "current" ? "step" : undefined} className="flex items-center gap-1">
      {first ? null : <span aria-hidden="true" className="mx-1 h-px w-4 bg-line-strong md:w-6" />}
      <span
        className={cx(
          "inline-flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-table",
          kind === "current" && cx("border-current font-medium", toneText(tone)),
          kind === "passed" && "border-line bg-subtle text-muted",
          kind === "ahead" && "border-line border-dashed text-faint",
        )}
      >
        <Icon aria-hidden="true" className="size-3.5" />
        {label}
        <span className="sr-only">, {KIND_WORDS[kind]}</span>
      </span>
    </li>
  );
}
