"use client";
/**
 * How fast the batch goes, when, and what stops it. A stop condition can be made stricter here and never looser by its
 * author. What is shown as load is what the server computes of the saved plan, never an estimate of the browser's.
 */
import { type FormEvent, useState } from "react";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { TextField } from "#components/ui/field.tsx";
import { zoneName } from "#components/ui/format.ts";
import { NumberField } from "#components/ui/number-field.tsx";
import { fromWallClock, toWallClock } from "#components/ui/wall-clock.ts";
import { useZone } from "#components/ui/zone.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { THRESHOLD_WORDS, thresholdText } from "./draft-words.ts";
import { Load } from "./load.tsx";
import {
  BUDGET,
  CONCURRENCY,
  isPlanUnsaved,
  type PlanDraft,
  type PlanProblems,
  planDraftOf,
  planOf,
  planProblems,
  RATE,
  THRESHOLD_NAMES,
} from "./plan-draft.ts";
import { Refused, SaveRow, StepPanel } from "./step-parts.tsx";
import { type FormStepProps, useStep, useUnsaved } from "./use-step.ts";

const SLOWER_STEP = 0.1;
const BIG = 1_000_000;
const MAX_DATE_CHARS = 25;
const NO_PROBLEMS: PlanProblems = {};

export function PlanStep(props: FormStepProps) {
  const { view, readOnly, asOf } = props;
  const step = useStep(props);
  // What was typed stays, however the page goes on reading.
  const [typed, setTyped] = useState<PlanDraft>(() => planDraftOf(view.plan));
  const [tried, setTried] = useState(false);
  const mayLoosen = (useSignedIn()?.actions ?? []).includes("replay_raise_rate");
  const problems = planProblems(typed, view, { mayLoosen, asOf });
  const refused = view.actions.plan.reason;
  const unsaved = isPlanUnsaved(typed, view.plan);
  useUnsaved(props, "plan", unsaved);
  const part = {
    typed,
    problems: tried ? problems : NO_PROBLEMS,
    onChange: (change: Partial<PlanDraft>) => setTyped({ ...typed, ...change }),
  };

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) focusFirstWrong(event.currentTarget);
    else step.send("plan", { plan: planOf(typed, view.plan) });
  }

  return (
    <StepPanel title="3. Plan it" done={!unsaved} missing="Not saved yet">
      <form onSubmit={submit} noValidate className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <fieldset disabled={readOnly || refused !== null} className="grid min-w-0 gap-4">
          <legend className="sr-only">Plan</legend>
          <Speed {...part} />
          <Window {...part} asOf={asOf} />
          <Load view={view} />
          <Stops {...part} view={view} />
          <SaveRow label="Save plan" step={step} unsaved={unsaved} refused={refused} />
        </fieldset>
        <Refused phase={step.phase} onReload={step.clear} />
      </form>
    </StepPanel>
  );
}

interface PartProps {
  typed: PlanDraft;
  problems: PlanProblems;
  onChange: (change: Partial<PlanDraft>) => void;
}

function Speed({ typed, problems, onChange }: PartProps) {
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      <NumberField
        label="Rate for each destination"
        name="the rate"
        unit="per s"
        hint="Empty: the least of 1/s, 5 % of its normal and 20 % of its limit."
        placeholder="default"
        step={SLOWER_STEP}
        {...RATE}
        value={typed.rate}
        error={problems.rate ?? null}
        onChange={(rate) => onChange({ rate })}
      />
      <NumberField
        label="Out at once for each destination"
        name="the concurrency"
        hint="First attempts of live work always go before."
        {...CONCURRENCY}
        value={typed.concurrency}
        error={problems.concurrency ?? null}
        onChange={(concurrency) => onChange({ concurrency })}
      />
      <NumberField
        label="Attempts for each entry"
        name="the attempts"
        hint="Then it is a dead letter again, and needs a new review."
        {...BUDGET}
        value={typed.budget}
        error={problems.budget ?? null}
        onChange={(budget) => onChange({ budget })}
      />
    </div>
  );
}

/** The moments are kept in UTC; the fields show them in the zone that is chosen, and name it. */
function Window({ typed, problems, onChange, asOf }: PartProps & { asOf: string }) {
  const zone = useZone();
  const where = zoneName(zone, asOf);
  const shown = (iso: string) => (iso === "" ? "" : toWallClock(iso, zone));
  const read = (text: string) => {
    const ms = fromWallClock(text, zone);
    return ms === null ? "" : new Date(ms).toISOString();
  };
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      <TextField
        label={`Not before, in ${where}`}
        note="optional"
        hint="A start is refused until then."
        type="datetime-local"
        maxLength={MAX_DATE_CHARS}
        value={shown(typed.startsAfter)}
        onChange={(text) => onChange({ startsAfter: read(text) })}
      />
      <TextField
        label={`Not after, in ${where}`}
        note="optional"
        hint="A batch that is out pauses then."
        type="datetime-local"
        maxLength={MAX_DATE_CHARS}
        value={shown(typed.endsBefore)}
        error={problems.endsBefore ?? null}
        onChange={(text) => onChange({ endsBefore: read(text) })}
      />
    </div>
  );
}

const UNITS = { s: "s", "%": "%", count: "" } as const;

function Stops({ typed, problems, view, onChange }: PartProps & { view: ReplayDetail }) {
  const [open, setOpen] = useState(false);
  // A field that cannot be seen cannot be mended.
  const wrong = THRESHOLD_NAMES.some((name) => (problems[name] ?? null) !== null);
  return (
    <details
      open={open || wrong}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-md border border-line px-3 py-2"
    >
      <summary className="flex min-h-6 cursor-pointer items-center font-medium text-table max-md:min-h-11">
        Make stop conditions stricter
      </summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {THRESHOLD_NAMES.map((name) => {
          const { label, unit } = THRESHOLD_WORDS[name];
          return (
            <NumberField
              key={name}
              label={label}
              name={label.toLowerCase()}
              unit={UNITS[unit]}
              hint={`Policy: ${thresholdText(name, view.policy[name])}${unit === "count" ? "" : ` ${unit}`}`}
              min={0}
              max={BIG}
              value={typed.stop[name]}
              error={problems[name] ?? null}
              onChange={(text) => onChange({ stop: { ...typed.stop, [name]: text } })}
            />
          );
        })}
      </div>
    </details>
  );
}
