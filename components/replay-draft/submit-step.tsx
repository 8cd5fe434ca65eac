"use client";
/**
 * The freeze. What is frozen is what a second person approves: ids, versions and plan, with their hash. Nothing is sent by
 * it, and what changed since it was selected leaves the batch with a word.
 */
import { Button } from "#components/ui/button.tsx";
import { plural } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import type { ConditionState } from "#domain/replay-stop.ts";
import { answersOf, overlapOf, QUESTIONS, readinessOf } from "./draft-words.ts";
import { Refused, StepPanel } from "./step-parts.tsx";
import { type Step, type StepProps, type UnsavedStep, useStep } from "./use-step.ts";

const UNSAVED_WORDS: Readonly<Record<UnsavedStep, string>> = {
  annotation: "cause and evidence are not saved as they stand above",
  plan: "the plan is not saved as it stands above",
};

export function SubmitStep(props: StepProps & { unsaved: readonly UnsavedStep[] }) {
  const { view, readOnly } = props;
  const step = useStep(props);
  // What is frozen is what is stored, so nothing else may stand on the page.
  const missing = [...readinessOf(view).missing, ...props.unsaved.map((name) => UNSAVED_WORDS[name])];
  const refused = view.actions.submit.reason;
  const answers = answersOf(view.checklist);
  const no = QUESTIONS.filter((name) => answers[name].yes === false);
  return (
    <StepPanel title="5. Freeze and ask for review" done={false} missing="Not sent for review">
      <div className="grid max-w-prose gap-3">
        <p>
          Freezing writes down the {plural(view.items, "entry", "entries")}, their versions and the plan, and
          a hash over them. A second person approves exactly that. Entries that changed since they were
          selected leave the batch. Nothing is sent yet.
        </p>
        <p>
          <strong>The order can change:</strong> a replayed delivery can arrive after newer ones. Ids, keys
          and bodies stay as they are.
        </p>
        {missing.length === 0 ? null : (
          <ul className="list-inside list-disc text-table" aria-label="Still missing">
            {missing.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        )}
        {no.length === 0 ? null : (
          <p className="text-table text-warn">
            The checklist has a no: an administrator has to submit this batch.
          </p>
        )}
        {readOnly ? null : (
          <p className="flex flex-wrap items-center gap-3">
            <Button
              variant="solid"
              disabled={missing.length > 0 || refused !== null || step.phase.at === "requested"}
              onClick={() => step.send("submit", {})}
            >
              Freeze {plural(view.items, "entry", "entries")} and ask for review
            </Button>
            {refused === null ? null : <span className="text-muted text-table">{refused}</span>}
          </p>
        )}
        <Refused phase={step.phase} onReload={step.clear} />
        <TakeOut step={step} />
      </div>
    </StepPanel>
  );
}

/** Entries that another open batch has can leave this one; nothing leaves it without a press. */
function TakeOut({ step }: { step: Step }) {
  const ids = step.phase.at === "refused" ? overlapOf(step.phase.error) : [];
  if (ids.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-3">
      <Button onClick={() => step.send("remove", { deliveryIds: ids })}>
        Take {plural(ids.length, "entry", "entries")} out of this batch
      </Button>
      <span className="text-muted text-table">They stay in the other one. Then freeze again.</span>
    </p>
  );
}

/** Each condition with its present value. Red: the batch could not start now. */
export function ConditionList({ conditions }: { conditions: readonly ConditionState[] }) {
  return (
    <ul className="grid gap-1.5 text-table">
      {conditions.map(({ condition, breached, text }) => (
        <li key={condition} className="flex flex-wrap items-center gap-2">
          <StatusText tone={breached ? "danger" : "ok"} label={breached ? "Red" : "Green"} />
          <span className="min-w-0 break-words">{text}</span>
        </li>
      ))}
    </ul>
  );
}
