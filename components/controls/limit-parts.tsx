"use client";
/** What the limits dialogs have in common: what was measured, the preview, the step rule and its tick. */
import { CheckField } from "#components/ui/field-choice.tsx";
import { plural } from "#components/ui/format.ts";
import type { DrainInputs, ServiceTime, StepView, ThrottleShare } from "#db/console/control-views.ts";
import { drainTimeMs } from "#domain/drain-time.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import { Fact, Warning } from "./dialog-parts.tsx";
import { type StepWords, throttleWords } from "./limit-draft.ts";

/** Service time and 429s, as they were measured. */
export function MeasuredFacts({
  serviceTime,
  throttle,
}: {
  serviceTime: ServiceTime | null;
  throttle: ThrottleShare;
}) {
  return (
    <>
      <Fact label="Service time">
        {serviceTime === null
          ? "no request was answered well lately"
          : `p50 ${formatAge(serviceTime.p50Ms)}, p95 ${formatAge(serviceTime.p95Ms)} (${plural(serviceTime.samples, "request")} in the last ${formatLength(serviceTime.windowMs)})`}
      </Fact>
      <Fact label="Answered with 429">{throttleWords(throttle)}</Fact>
    </>
  );
}

/** "Drain time 12 m -> 7 m", from the same arithmetic as the API's. */
export function DrainPreview({ now, then }: { now: DrainInputs; then: DrainInputs }) {
  const text = drainWords(now, then);
  return (
    <p aria-live="polite" className="rounded-md border border-line px-3 py-2 text-table">
      <span className="text-muted">Drain time of what waits </span>
      <strong className="font-medium">{text}</strong>
      <span className="block text-faint">
        From {now.waitingMore ? "more than " : ""}
        {now.waiting.toLocaleString("en-GB")} waiting and the measured service time, while nothing new comes
        in.
      </span>
    </p>
  );
}

/** The two times; "nothing waits" and "not known" are no zero. */
export function drainWords(now: DrainInputs, then: DrainInputs): string {
  if (now.waiting === 0) return "nothing waits now";
  const before = drainTimeMs(now);
  const after = drainTimeMs(then);
  if (before === null || after === null) return "not known: no request was answered well lately";
  return `${formatAge(before)} → ${formatAge(after)}`;
}

/** The step rule in words, and the tick where 429s ask for it. */
export function StepNotes({
  words,
  step,
  acknowledged,
  onAcknowledge,
  tried,
}: {
  words: StepWords;
  step: StepView;
  acknowledged: boolean;
  onAcknowledge: (acknowledged: boolean) => void;
  tried: boolean;
}) {
  return (
    <>
      {words.warnings.map((warning) => (
        <Warning key={warning}>{warning}</Warning>
      ))}
      {words.needsTick ? (
        <CheckField
          label="Raise although this receiver answers with 429"
          hint="More than 10 % of its answers are 429: it asks for less, not more. Say in the reason why more helps."
          checked={acknowledged}
          onChange={onAcknowledge}
          error={tried && !acknowledged ? "Needed for a raise now." : null}
        />
      ) : null}
      <p className="text-faint text-table">
        A raise goes to at most {step.maxFactor} times the value in force, then 2 m pass before the next one.
        Lowering is always possible; it stops new claims only, and takes nothing back that is in flight.
      </p>
    </>
  );
}
