"use client";
/**
 * Writes the next version of a region's replay policy. It sends only what was changed, with the version that was shown
 * when it opened; it must never claim anything before the answer, nor lose what was typed to an error.
 */
import { type FormEvent, useId, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { Effects, Warning } from "#components/controls/dialog-parts.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { useCommand } from "#components/controls/use-command.ts";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { AuditToast } from "#components/dead-letters/audit-toast.tsx";
import { replayPolicyApiPath } from "#components/queries/replays.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { CheckField } from "#components/ui/field-choice.tsx";
import { NumberField } from "#components/ui/number-field.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import {
  AUTO_LABEL,
  looserLabels,
  NOTHING_TYPED,
  POLICY_FIELDS,
  POLICY_GROUPS,
  type PolicyNumber,
  type PolicyTyped,
  policyChanges,
  policyProblem,
  policyValueWords,
  typedText,
} from "./replay-policy-words.ts";

const UNITS = { s: "s", "%": "%", count: "" } as const;
const NAMES = Object.keys(POLICY_FIELDS) as PolicyNumber[];

export interface ReplayPolicyDialogProps {
  region: Region;
  view: ReplayPolicyView;
  /** Reads the policy again; null when there is no answer. */
  onReload: () => Promise<ReplayPolicyView | null>;
  onClose: () => void;
}

export function ReplayPolicyDialog(props: ReplayPolicyDialogProps) {
  const { region, onClose } = props;
  const formId = useId();
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const form = usePolicyForm(props, draft);
  const { seen, typed, tried, phase } = form;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Change the replay policy of ${region.toUpperCase()}`}
      width="wide"
      footer={
        <FormButtons
          formId={formId}
          label={`Write version ${seen.version + 1}`}
          busy={phase.at === "requested"}
          danger={false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={form.submit} noValidate className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Effects>
          <li>A batch keeps the stop conditions that it was frozen with.</li>
          <li>Spans of review, holds and the ramp count at once, also for batches that run.</li>
          <li>The version before stays in the history.</li>
        </Effects>
        <PolicyFields seen={seen} typed={typed} onChange={form.setTyped} />
        <Looser labels={looserLabels(form.changes, seen.policy)} region={region} />
        <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        {tried && form.problem !== null ? (
          <p role="alert" className="text-danger text-table">
            {form.problem}
          </p>
        ) : null}
        {phase.at === "refused" ? (
          <CommandError
            error={phase.error}
            nowMs={Date.now() - clockSkewMs()}
            onReload={() => void form.reload()}
          />
        ) : null}
      </form>
    </Dialog>
  );
}

/** What was seen, what was typed over it, and the one command that it may become. */
function usePolicyForm(
  { region, view, onReload, onClose }: ReplayPolicyDialogProps,
  { reason, ticket }: ReasonDraft,
) {
  const toast = useToast();
  // What was shown when the dialog opened is what it is about, until the person reloads it.
  const [seen, setSeen] = useState(view);
  const [typed, setTyped] = useState<PolicyTyped>(NOTHING_TYPED);
  const [tried, setTried] = useState(false);
  const { phase, send, clear } = useCommand<CommandAnswer>();
  const wrong = NAMES.some((name) => policyProblem(name, typed) !== null);
  const changes = wrong ? {} : policyChanges(typed, seen.policy);
  const problem = wrong
    ? "A number cannot be used: it says why."
    : Object.keys(changes).length === 0
      ? "Nothing is changed yet."
      : null;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (problem !== null || refuseReason(reason) !== null) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const more = ticket.trim() === "" ? {} : { ticket: ticket.trim() };
    const body = { policy: changes, reason: reason.trim(), ...more };
    send(replayPolicyApiPath(region), { body, version: seen.version }, ({ auditId, version }) => {
      const message = `Version ${version} of the replay policy of ${region.toUpperCase()} is in force.`;
      toast(<AuditToast message={message} region={region} target={region} auditId={auditId} />);
      onClose();
    });
  }

  async function reload() {
    const fresh = await onReload();
    if (fresh === null) return;
    setSeen(fresh);
    clear();
  }

  return { seen, typed, setTyped, tried, phase, changes, problem, submit, reload };
}

interface PolicyFieldsProps {
  seen: ReplayPolicyView;
  typed: PolicyTyped;
  onChange: (typed: PolicyTyped) => void;
}

function PolicyFields({ seen: { policy }, typed, onChange }: PolicyFieldsProps) {
  return POLICY_GROUPS.map(({ title, names }) => (
    <fieldset
      key={title}
      className="grid min-w-0 items-start gap-4 rounded-md border border-line px-3 py-3 sm:grid-cols-2"
    >
      <legend className="px-1 font-medium text-table">{title}</legend>
      {names.map((name) => {
        const { label, unit, min, max } = POLICY_FIELDS[name];
        return (
          <NumberField
            key={name}
            label={label}
            name={label.toLowerCase()}
            unit={UNITS[unit]}
            hint={`Now: ${policyValueWords(name, policy[name])}`}
            min={Number(typedText(name, min))}
            max={Number(typedText(name, max))}
            value={typed.numbers[name] ?? typedText(name, policy[name])}
            error={policyProblem(name, typed)}
            onChange={(text) => onChange({ ...typed, numbers: { ...typed.numbers, [name]: text } })}
          />
        );
      })}
      {title === "Canary and ramp" ? (
        <CheckField
          label={AUTO_LABEL}
          hint={`Now: ${policy.canaryAuto ? "yes" : "no"}`}
          checked={typed.canaryAuto ?? policy.canaryAuto}
          onChange={(canaryAuto) => onChange({ ...typed, canaryAuto })}
        />
      ) : null}
    </fieldset>
  ));
}

/** The only place where a stop condition gets looser for everybody, so it is said before it is done. */
function Looser({ labels, region }: { labels: readonly string[]; region: Region }) {
  if (labels.length === 0) return null;
  return (
    <Warning>
      Looser for every new batch in {region.toUpperCase()}: {labels.join(", ")}.
    </Warning>
  );
}
