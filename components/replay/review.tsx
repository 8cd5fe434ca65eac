"use client";
/**
 * What the second person reads before they decide: what changed since it was sent back, a sample that the author has not
 * seen, the author's evidence, what it asks of the region, and every stop condition as it is now.
 */
import {
  answersOf,
  QUESTION_WORDS,
  QUESTIONS,
  THRESHOLD_WORDS,
  thresholdWords,
} from "#components/replay-draft/draft-words.ts";
import { Load, troubleWords } from "#components/replay-draft/load.tsx";
import { Probes } from "#components/replay-draft/probes.tsx";
import { ConditionList } from "#components/replay-draft/submit-step.tsx";
import { Exclusions } from "#components/replays/preview-facts.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { ThresholdName } from "#domain/replay-plan.ts";
import { laneName } from "./lane-name.ts";
import { Diff } from "./review-diff.tsx";
import { FreshSample } from "./review-sample.tsx";
import type { Seen } from "./seen.ts";

export function Review({ view, asOf }: Seen) {
  const red = view.conditions.filter(({ breached }) => breached).length;
  return (
    <>
      <Frozen view={view} />
      {view.diff === null ? null : <Diff diff={view.diff} lanes={view.lanes} />}
      <FreshSample view={view} asOf={asOf} />
      <Evidence view={view} />
      <Panel title="What it asks for">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <PlanWords view={view} />
          <Load view={view} />
        </div>
      </Panel>
      <Panel
        title="Stop conditions now"
        actions={
          <StatusText
            tone={red === 0 ? "ok" : "danger"}
            label={red === 0 ? "All green" : `${red} red: it cannot start`}
          />
        }
      >
        <div className="grid gap-1.5">
          <ConditionList conditions={view.conditions} />
          <LaneTroubles lanes={view.lanes} />
        </div>
      </Panel>
    </>
  );
}

/** A destination in trouble stops its own lane, whatever the batch as a whole says. */
function LaneTroubles({ lanes }: { lanes: ReplayDetail["lanes"] }) {
  const troubled = lanes.flatMap((lane) => (lane.trouble === null ? [] : [{ ...lane, word: lane.trouble }]));
  if (troubled.length === 0) return null;
  return (
    <ul aria-label="Destinations in trouble" className="grid gap-1.5 text-table">
      {troubled.map((lane) => (
        <li key={lane.destinationId}>
          <StatusText
            tone="warn"
            label={`${laneName(lane)}: ${troubleWords(lane.word)}. As it is now, its lane would stop.`}
            wrap
          />
        </li>
      ))}
    </ul>
  );
}

function Frozen({ view }: { view: ReplayDetail }) {
  return (
    <Panel title="What is frozen">
      <div className="grid gap-2">
        <p>
          {plural(view.items, "entry", "entries")}
          {view.submittedBy === null ? "" : `, frozen by ${actorWords(view.submittedBy)}`}
          {view.submittedAt === null ? null : (
            <>
              {" "}
              at <Timestamp iso={view.submittedAt} named />
            </>
          )}
          . {view.canarySize === null ? "" : `The canary is ${plural(view.canarySize, "entry", "entries")}.`}
        </p>
        {view.sha256 === null ? null : (
          <p className="flex flex-wrap items-center gap-1 text-table">
            <span className="text-faint">SHA-256</span>
            <code className="min-w-0 break-all font-mono">{view.sha256}</code>
            <CopyButton text={view.sha256} what="hash" />
          </p>
        )}
        {view.approvedBy === null ? null : (
          <p className="break-words text-table">
            Approved by {actorWords(view.approvedBy)}: {view.approvalComment}
          </p>
        )}
        <Exclusions excluded={view.excluded} />
      </div>
    </Panel>
  );
}

function Evidence({ view }: { view: ReplayDetail }) {
  const answers = answersOf(view.checklist);
  return (
    <Panel title="What the author found">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="break-words">
          <span className="text-faint">Root cause</span> {view.rootCause ?? "not named"}
          {view.fixUrl === null ? null : (
            <>
              {" "}
              <a
                href={view.fixUrl}
                rel="noreferrer noopener"
                target="_blank"
                className="text-accent underline underline-offset-4"
              >
                Fix (new tab)
              </a>
            </>
          )}
        </p>
        <dl className="grid gap-2 text-table">
          {QUESTIONS.map((name) => (
            <div key={name} className="grid gap-0.5">
              <dt className="flex flex-wrap items-center gap-x-2 font-medium">
                {QUESTION_WORDS[name].question}
                <StatusText
                  tone={answers[name].yes === true ? "ok" : "danger"}
                  label={answers[name].yes === null ? "Not answered" : answers[name].yes ? "Yes" : "No"}
                />
              </dt>
              <dd className="break-words text-muted">{answers[name].evidence}</dd>
            </div>
          ))}
        </dl>
        <Probes lanes={view.lanes} />
      </div>
    </Panel>
  );
}

/** The plan in a sentence, and where it is stricter or looser than the policy. */
function PlanWords({ view }: { view: ReplayDetail }) {
  const { plan, policy } = view;
  const names = Object.keys(THRESHOLD_WORDS) as ThresholdName[];
  const other = names.filter((name) => plan.stop[name] !== policy[name]);
  return (
    <div className="grid gap-2 text-table">
      <p>
        {plan.ratePerSecond === null
          ? "Each destination at its own default rate"
          : `${plan.ratePerSecond}/s for each destination`}
        , {plural(plan.concurrency, "entry", "entries")} of a destination out at once,{" "}
        {plural(plan.attemptBudget, "attempt")} for each entry.
        {plan.endsBefore === null ? null : (
          <>
            {" "}
            It ends before <Timestamp iso={plan.endsBefore} named />.
          </>
        )}
      </p>
      {other.length === 0 ? (
        <p className="text-muted">Every stop condition is as the policy has it.</p>
      ) : (
        <ul aria-label="Stop conditions that differ from the policy" className="grid gap-0.5">
          {other.map((name) => (
            <li key={name} className={plan.stop[name] > policy[name] ? "text-warn" : ""}>
              {THRESHOLD_WORDS[name].label}: {thresholdWords(name, plan.stop[name])} instead of{" "}
              {thresholdWords(name, policy[name])} ({plan.stop[name] > policy[name] ? "looser" : "stricter"})
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
