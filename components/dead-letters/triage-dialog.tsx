"use client";
/**
 * Acknowledge, resolve, reopen, assign and note: one form with what each needs. It sends the version that was shown, and
 * what was typed stays when somebody else was faster.
 */
import { type FormEvent, useId, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { useCommand } from "#components/controls/use-command.ts";
import { groupPath, useAssignees } from "#components/queries/dead-letters.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, INPUT } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { Assignees } from "#db/console/access/assignees.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { DeadLetterGroupView } from "#db/console/read-dead-letter-group.ts";
import { NOTE_MAX_CHARS } from "#domain/dead-letter-group.ts";
import type { Region } from "#domain/region.ts";
import { AuditToast } from "./audit-toast.tsx";
import { causeWords } from "./cause-words.ts";

export type TriageVerb = "acknowledge" | "resolve" | "reopen" | "assign" | "note";

const WORDS: Readonly<Record<TriageVerb, { verb: string; done: string; effect: string }>> = {
  acknowledge: {
    verb: "Acknowledge",
    done: "Acknowledged",
    effect: "Says that somebody looks into it. Its entries stay as they are, and new ones still join them.",
  },
  resolve: {
    verb: "Mark resolved",
    done: "Resolved",
    effect:
      "Says that the cause is gone. Its entries stay. If another one of the same cause dies within 24 hours, it is shown as regressed.",
  },
  reopen: { verb: "Reopen", done: "Reopened", effect: "Back to new, for somebody to look at." },
  assign: { verb: "Assign", done: "Assigned", effect: "Says who looks after it. Empty: nobody." },
  note: {
    verb: "Save note",
    done: "Note saved",
    effect: "What the next person should know. Empty: no note.",
  },
};
const MAX_ASSIGNEE_CHARS = 200;

export interface TriageDialogProps {
  verb: TriageVerb;
  region: Region;
  view: DeadLetterGroupView;
  /** What the change is based on. */
  version: number;
  /** Hears of the version after the change. */
  onChanged: (version: number) => void;
  onClose: () => void;
}

export function TriageDialog({ verb, region, view, version, onChanged, onClose }: TriageDialogProps) {
  const formId = useId();
  const toast = useToast();
  const { phase, send, clear } = useCommand<CommandAnswer>();
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [value, setValue] = useState(verb === "assign" ? (view.assignee ?? "") : (view.note ?? ""));
  const [tried, setTried] = useState(false);
  const words = WORDS[verb];
  const tooLong = verb === "note" && value.length > NOTE_MAX_CHARS;

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (refuseReason(draft.reason) !== null || tooLong) return;
    const ticket = draft.ticket.trim();
    const body = {
      reason: draft.reason.trim(),
      ...(ticket === "" ? {} : { ticket }),
      ...(verb === "assign" ? { assignee: value.trim() || null } : {}),
      ...(verb === "note" ? { note: value.trim() || null } : {}),
    };
    send(`${groupPath(view.id, verb)}?region=${region}`, { body, version }, (answer) => {
      toast(
        <AuditToast message={`${words.done}.`} region={region} target={view.id} auditId={answer.auditId} />,
      );
      onChanged(answer.version ?? version);
      onClose();
    });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={`${words.verb}: ${causeWords(view).title}, ${region.toUpperCase()}`}
      footer={
        <FormButtons
          formId={formId}
          label={words.verb}
          busy={phase.at === "requested"}
          danger={false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={submit} className="grid gap-4">
        <p className="text-muted">{words.effect}</p>
        {verb === "assign" ? (
          <AssigneeField region={region} groupId={view.id} value={value} onChange={setValue} />
        ) : null}
        {verb === "note" ? (
          <Textarea
            label="Note"
            rows={4}
            minChars={0}
            maxChars={NOTE_MAX_CHARS}
            value={value}
            error={tooLong ? `At most ${NOTE_MAX_CHARS} characters.` : null}
            onChange={setValue}
          />
        ) : null}
        <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        {phase.at === "refused" ? (
          <CommandError error={phase.error} nowMs={Date.now() - clockSkewMs()} onReload={clear} />
        ) : null}
      </form>
    </Dialog>
  );
}

interface AssigneeFieldProps {
  region: Region;
  /** `dlg_...` */
  groupId: string;
  value: string;
  onChange: (value: string) => void;
}

/** Offers the people who may see the cause. Without the list an address can still be typed: the server checks it. */
function AssigneeField({ region, groupId, value, onChange }: AssigneeFieldProps) {
  const me = useSignedIn()?.email ?? null;
  const { data, isError } = useAssignees(region, groupId);
  const listId = useId();
  const people = data?.assignees ?? [];
  return (
    <div className="grid gap-2">
      <Field label="Assignee" hint={hintOf(data, isError)}>
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="email"
            list={listId}
            value={value}
            maxLength={MAX_ASSIGNEE_CHARS}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
            className={`${INPUT} h-9 max-md:h-11`}
          />
        )}
      </Field>
      <datalist id={listId}>
        {people.map(({ email, name }) => (
          <option key={email} value={email}>
            {name}
          </option>
        ))}
      </datalist>
      {me === null ||
      me === value ||
      (data !== undefined && !data.truncated && !people.some(({ email }) => email === me)) ? null : (
        <p>
          <Button onClick={() => onChange(me)}>Assign to me</Button>
        </p>
      )}
    </div>
  );
}

function hintOf(data: Assignees | undefined, failed: boolean): string {
  const what = "The e-mail address of a person who may see this cause.";
  if (failed) return `${what} The list of people could not be read; an address that you type is checked.`;
  return data?.truncated ? `${what} Not all of them are in the list.` : what;
}
