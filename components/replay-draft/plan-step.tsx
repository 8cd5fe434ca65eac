"use client";
/**
 * How fast the batch goes and what stops it. A stop condition can be made stricter here and never looser by its author. What
 * is shown as load is what the server computes of the saved plan, never an estimate of the browser's.
 */
import { type FormEvent, useId, useState } from "react";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import {
  MAX_BUDGET,
  MAX_CONCURRENCY,
  MAX_RATE,
  MIN_RATE,
  refuseNumber,
} from "#components/replays/replay-bounds.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { NumberField } from "#components/ui/number-field.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { ThresholdName } from "#domain/replay-plan.ts";
import { refuseThreshold, THRESHOLD_WORDS, thresholdText, thresholdValue } from "./draft-words.ts";
import { Load } from "./load.tsx";
import { Refused, SaveButton, StepPanel } from "./step-parts.tsx";
import { type StepProps, useStep } from "./use-step.ts";

const NAMES = Object.keys(THRESHOLD_WORDS) as ThresholdName[];
const SLOWER_STEP = 0.1;
const RATE = { min: MIN_RATE, max: MAX_RATE, whole: false };
const CONCURRENCY = { min: 1, max: MAX_CONCURRENCY, whole: true };
const BUDGET = { min: 1, max: MAX_BUDGET, whole: true };
const BIG = 1_000_000;

interface Typed {
  /** Empty: each destination's own default. */
  rate: string;
  concurrency: string;
  budget: string;
  stop: Readonly<Record<ThresholdName, string>>;
}

function typedOf({ plan }: ReplayDetail): Typed {
  const stop = NAMES.map((name) => [name, thresholdText(name, plan.stop[name])]);
  return {
    rate: plan.ratePerSecond === null ? "" : String(plan.ratePerSecond),
    concurrency: String(plan.concurrency),
    budget: String(plan.attemptBudget),
    stop: Object.fromEntries(stop) as Typed["stop"],
  };
}

export function PlanStep(props: StepProps) {
  const { view, readOnly } = props;
  const step = useStep(props);
  const [typed, setTyped] = useState<Typed>(() => typedOf(view));
  const [tried, setTried] = useState(false);
  const mayLoosen = (useSignedIn()?.actions ?? []).includes("replay_raise_rate");
  const problems = problemsOf(typed, view, mayLoosen);
  const refused = view.actions.plan.reason;
  const set = (change: Partial<Typed>) => setTyped({ ...typed, ...change });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const stop = Object.fromEntries(NAMES.map((name) => [name, thresholdValue(name, typed.stop[name])]));
    const { startsAfter, endsBefore } = view.plan;
    const plan = {
      ratePerSecond: typed.rate.trim() === "" ? null : Number(typed.rate),
      concurrency: Number(typed.concurrency),
      attemptBudget: Number(typed.budget),
      startsAfter,
      endsBefore,
      stop,
    };
    step.send("plan", { plan });
  }

  return (
    <StepPanel title="3. Plan it" done missing="">
      <form onSubmit={submit} noValidate className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <fieldset disabled={readOnly || refused !== null} className="grid min-w-0 gap-4">
          <legend className="sr-only">Plan</legend>
          <Speed typed={typed} problems={tried ? problems : NO_PROBLEMS} onChange={set} />
          <Load view={view} />
          <Stops typed={typed} problems={tried ? problems : NO_PROBLEMS} view={view} onChange={set} />
          <p className="flex flex-wrap items-center gap-3">
            <SaveButton label="Save plan" disabled={step.phase.at === "requested"} />
            {refused === null ? null : <span className="text-muted text-table">{refused}</span>}
          </p>
        </fieldset>
        <Refused phase={step.phase} onReload={step.clear} />
      </form>
    </StepPanel>
  );
}

type Problems = Readonly<Partial<Record<"rate" | "concurrency" | "budget" | ThresholdName, string | null>>>;
const NO_PROBLEMS: Problems = {};

function problemsOf(typed: Typed, { policy }: ReplayDetail, mayLoosen: boolean): Problems {
  const stop = NAMES.map((name) => [name, refuseThreshold(name, typed.stop[name], policy[name], mayLoosen)]);
  return {
    rate: typed.rate.trim() === "" ? null : refuseNumber(typed.rate, RATE),
    concurrency: refuseNumber(typed.concurrency, CONCURRENCY),
    budget: refuseNumber(typed.budget, BUDGET),
    ...Object.fromEntries(stop),
  };
}

interface PartProps {
  typed: Typed;
  problems: Problems;
  onChange: (change: Partial<Typed>) => void;
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

const UNITS = { s: "s", "%": "%", count: "" } as const;

function Stops({ typed, problems, view, onChange }: PartProps & { view: ReplayDetail }) {
  const id = useId();
  return (
    <details className="rounded-md border border-line px-3 py-2">
      <summary
        id={id}
        className="flex min-h-6 cursor-pointer items-center font-medium text-table max-md:min-h-11"
      >
        Make stop conditions stricter
      </summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {NAMES.map((name) => {
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
