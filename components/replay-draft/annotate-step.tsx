"use client";
/**
 * Why these failed, what mended it, and five questions with evidence for the second person. The probe beside them was made
 * by the server just now; it answers for nobody.
 */
import { type FormEvent, useId, useState } from "react";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import {
  NAME_MAX_CHARS,
  refuseEvidence,
  refuseName,
  WORDS_MAX_CHARS,
  WORDS_MIN_CHARS,
} from "#components/replays/replay-bounds.ts";
import { TextField } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import {
  type Answer,
  type Answers,
  answersOf,
  QUESTION_WORDS,
  QUESTIONS,
  type Question,
  readinessOf,
} from "./draft-words.ts";
import { Probes } from "./probes.tsx";
import { Refused, SaveRow, StepPanel } from "./step-parts.tsx";
import { type FormStepProps, useStep, useUnsaved } from "./use-step.ts";

const URL_MAX_CHARS = 500;

interface Annotation {
  name: string;
  rootCause: string;
  fixUrl: string;
  answers: Answers;
}

function annotationOf(view: ReplayDetail): Annotation {
  return {
    name: view.name,
    rootCause: view.rootCause ?? "",
    fixUrl: view.fixUrl ?? "",
    answers: answersOf(view.checklist),
  };
}

function refuseUrl(text: string): string | null {
  if (text.trim() === "") return null;
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? null
    : "An address with http or https, or nothing.";
}

function refuseAnswer(answer: Answer): string | null {
  return answer.yes === null ? "Answer yes or no." : refuseEvidence(answer.evidence);
}

export function AnnotateStep(props: FormStepProps) {
  const { view, readOnly } = props;
  const formId = useId();
  const step = useStep(props);
  // What was typed stays, however the page goes on reading.
  const [typed, setTyped] = useState<Annotation>(() => annotationOf(view));
  const [tried, setTried] = useState(false);
  const problems = {
    name: refuseName(typed.name),
    rootCause: refuseEvidence(typed.rootCause),
    fixUrl: refuseUrl(typed.fixUrl),
  };
  const wrong =
    Object.values(problems).some((problem) => problem !== null) ||
    QUESTIONS.some((name) => refuseAnswer(typed.answers[name]) !== null);
  const refused = view.actions.annotate.reason;
  const unsaved = contentOf(typed) !== contentOf(annotationOf(view));
  useUnsaved(props, "annotation", unsaved);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (wrong) focusFirstWrong(event.currentTarget);
    else step.send("annotate", fieldsOf(typed));
  }

  return (
    <StepPanel title="2. Say what happened" done={readinessOf(view).annotated}>
      <form id={formId} onSubmit={submit} noValidate>
        <fieldset disabled={readOnly || refused !== null} className="grid max-w-2xl min-w-0 gap-4">
          <legend className="sr-only">Cause and evidence</legend>
          <Words typed={typed} problems={tried ? problems : NO_PROBLEMS} onChange={setTyped} />
          <Probes lanes={view.lanes} />
          {QUESTIONS.map((name) => (
            <QuestionField
              key={name}
              name={name}
              answer={typed.answers[name]}
              tried={tried}
              onChange={(answer) => setTyped({ ...typed, answers: { ...typed.answers, [name]: answer } })}
            />
          ))}
          <SaveRow label="Save cause and evidence" step={step} unsaved={unsaved} refused={refused} />
        </fieldset>
        <Refused phase={step.phase} onReload={step.clear} />
      </form>
    </StepPanel>
  );
}

/** What of an annotation counts: blanks around it do not. */
function contentOf({ name, rootCause, fixUrl, answers }: Annotation): string {
  const each = QUESTIONS.map((question) => [answers[question].yes, answers[question].evidence.trim()]);
  return JSON.stringify([name.trim(), rootCause.trim(), fixUrl.trim(), each]);
}

/** As the API takes it. */
function fieldsOf({ name, rootCause, fixUrl, answers }: Annotation): object {
  const checklist = QUESTIONS.map((question) => {
    const { yes, evidence } = answers[question];
    return [question, { yes: yes === true, evidence: evidence.trim() }];
  });
  return {
    name: name.trim(),
    rootCause: rootCause.trim(),
    fixUrl: fixUrl.trim() === "" ? null : fixUrl.trim(),
    checklist: Object.fromEntries(checklist),
  };
}

interface WordsProps {
  typed: Annotation;
  problems: Readonly<Record<"name" | "rootCause" | "fixUrl", string | null>>;
  onChange: (typed: Annotation) => void;
}

const NO_PROBLEMS = { name: null, rootCause: null, fixUrl: null };

function Words({ typed, problems, onChange }: WordsProps) {
  return (
    <>
      <TextField
        label="Name of the batch"
        value={typed.name}
        maxLength={NAME_MAX_CHARS}
        error={problems.name}
        onChange={(name) => onChange({ ...typed, name })}
      />
      <Textarea
        label="Root cause"
        note="required"
        hint="In a sentence that the second person understands."
        rows={2}
        minChars={WORDS_MIN_CHARS}
        maxChars={WORDS_MAX_CHARS}
        value={typed.rootCause}
        error={problems.rootCause}
        onChange={(rootCause) => onChange({ ...typed, rootCause })}
      />
      <TextField
        label="Link to the fix"
        note="optional"
        type="url"
        value={typed.fixUrl}
        maxLength={URL_MAX_CHARS}
        error={problems.fixUrl}
        onChange={(fixUrl) => onChange({ ...typed, fixUrl })}
      />
    </>
  );
}

interface QuestionFieldProps {
  name: Question;
  answer: Answer;
  tried: boolean;
  onChange: (answer: Answer) => void;
}

function QuestionField({ name, answer, tried, onChange }: QuestionFieldProps) {
  const id = useId();
  const { question, hint } = QUESTION_WORDS[name];
  const open = tried && answer.yes === null;
  return (
    <fieldset className="grid min-w-0 gap-1.5" aria-describedby={open ? `${id}-open` : undefined}>
      <legend className="mb-1 font-medium text-table">{question}</legend>
      <div className="flex flex-wrap gap-4">
        {[true, false].map((yes) => (
          <label key={String(yes)} className="inline-flex min-h-6 items-center gap-1.5 max-md:min-h-11">
            <input
              type="radio"
              name={id}
              checked={answer.yes === yes}
              aria-invalid={open ? true : undefined}
              onChange={() => onChange({ ...answer, yes })}
              className="size-4 accent-(--accent-solid)"
            />
            {yes ? "Yes" : "No"}
          </label>
        ))}
      </div>
      <p id={`${id}-open`} aria-live="polite" className="text-danger text-table empty:hidden">
        {open ? "Answer yes or no." : ""}
      </p>
      <TextField
        label="Evidence"
        hint={hint}
        value={answer.evidence}
        maxLength={WORDS_MAX_CHARS}
        error={tried ? refuseEvidence(answer.evidence) : null}
        onChange={(evidence) => onChange({ ...answer, evidence })}
      />
    </fieldset>
  );
}
