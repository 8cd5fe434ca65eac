"use client";
/**
 * Writes the next version of a policy: the frame of every such dialog. It sends with the version that was shown when it
 * opened; it must never claim anything before the answer, nor lose what was typed to an error.
 */
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { Effects } from "#components/controls/dialog-parts.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { useCommand } from "#components/controls/use-command.ts";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { AuditToast } from "#components/dead-letters/audit-toast.tsx";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, INPUT } from "#components/ui/field.tsx";
import { NumberField } from "#components/ui/number-field.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { Region } from "#domain/region.ts";
import {
  type NumberSpec,
  type NumberSpecs,
  type Numbers,
  numberProblem,
  type Typed,
  typedText,
  valueWords,
} from "./policy-numbers.ts";

export interface PolicyDialogProps {
  title: string;
  region: Region;
  path: string;
  /** That was shown. */
  version: number;
  /** What is sent beside the reason. */
  body: object;
  /** Why it cannot be sent as it stands, or null. */
  problem: string | null;
  effects: readonly string[];
  /** What is said when it is done: "Version 2 of the objectives of US". */
  doneWords: (version: number | null) => string;
  /** Reads the policy again; false when there is no answer. What was typed stays. */
  onReload: () => Promise<boolean>;
  onClose: () => void;
  children: ReactNode;
}

export function PolicyDialog(props: PolicyDialogProps) {
  const { title, version, problem, effects, onClose, children } = props;
  const formId = useId();
  const form = usePolicyForm(props);
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      width="wide"
      footer={
        <FormButtons
          formId={formId}
          label={`Write version ${version + 1}`}
          busy={form.phase.at === "requested"}
          danger={false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={form.submit} noValidate className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Effects>
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
          <li>The version before stays in the history.</li>
        </Effects>
        {children}
        <ReasonFields draft={form.draft} onChange={form.setDraft} showProblems={form.tried} />
        {form.tried && problem !== null ? (
          <p role="alert" className="text-danger text-table">
            {problem}
          </p>
        ) : null}
        {form.phase.at === "refused" ? (
          <CommandError
            error={form.phase.error}
            nowMs={Date.now() - clockSkewMs()}
            onReload={() => void form.reload()}
          />
        ) : null}
      </form>
    </Dialog>
  );
}

function usePolicyForm({
  region,
  path,
  version,
  body,
  problem,
  doneWords,
  onReload,
  onClose,
}: PolicyDialogProps) {
  const toast = useToast();
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);
  const { phase, send, clear } = useCommand<CommandAnswer>();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (problem !== null || refuseReason(draft.reason) !== null) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const ticket = draft.ticket.trim();
    const fields = { ...body, reason: draft.reason.trim(), ...(ticket === "" ? {} : { ticket }) };
    send(path, { body: fields, version }, (answer) => {
      const message = `${doneWords(answer.version)} is in force.`;
      toast(<AuditToast message={message} region={region} target={region} auditId={answer.auditId} />);
      onClose();
    });
  }

  async function reload() {
    if (await onReload()) clear();
  }

  return { phase, draft, setDraft, tried, submit, reload };
}

export interface NumberGroupsProps<Name extends string> {
  specs: NumberSpecs<Name>;
  groups: readonly { readonly title: string; readonly names: readonly Name[] }[];
  inForce: Numbers<Name>;
  typed: Typed<Name>;
  onChange: (typed: Typed<Name>) => void;
  /** What stands below the numbers of a group, by its title. */
  below?: Readonly<Record<string, ReactNode>>;
}

/** A field for each number, with what is in force below it. */
export function NumberGroups<Name extends string>({
  specs,
  groups,
  inForce,
  typed,
  onChange,
  below,
}: NumberGroupsProps<Name>) {
  return groups.map(({ title, names }) => (
    <fieldset
      key={title}
      className="grid min-w-0 items-start gap-4 rounded-md border border-line px-3 py-3 sm:grid-cols-2"
    >
      <legend className="px-1 font-medium text-table">{title}</legend>
      {names.map((name) => (
        <PolicyNumberField
          key={name}
          spec={specs[name]}
          inForce={inForce[name]}
          text={typed[name]}
          onChange={(text) => onChange({ ...typed, [name]: text })}
        />
      ))}
      {below?.[title]}
    </fieldset>
  ));
}

const UNITS = { s: "s", "%": "%", "×": "×", count: "" } as const;

interface PolicyNumberFieldProps {
  spec: NumberSpec;
  inForce: number;
  text: string | undefined;
  onChange: (text: string) => void;
}

function PolicyNumberField({ spec, inForce, text, onChange }: PolicyNumberFieldProps) {
  const { label, unit, min, max, choices } = spec;
  const hint = `Now: ${valueWords(spec, inForce)}`;
  const value = text ?? typedText(spec, inForce);
  if (choices !== undefined) {
    return (
      <Field label={label} hint={hint}>
        {(control) => (
          <select
            {...control}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className={`${INPUT} h-9 max-md:h-11`}
          >
            {choices.map((choice) => (
              <option key={choice} value={typedText(spec, choice)}>
                {valueWords(spec, choice)}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  }
  return (
    <NumberField
      label={label}
      name={label.toLowerCase()}
      unit={UNITS[unit]}
      hint={hint}
      min={Number(typedText(spec, min))}
      max={Number(typedText(spec, max))}
      value={value}
      error={numberProblem(spec, text)}
      onChange={onChange}
    />
  );
}
