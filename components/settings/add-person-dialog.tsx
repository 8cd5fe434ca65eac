"use client";
/** Adds a person. A password is shown once: it lives in this dialog only and is gone with it. */
import { type FormEvent, useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { failureWords } from "#components/queries/send-json.ts";
import { PEOPLE_PATH } from "#components/queries/shell.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { TextField } from "#components/ui/field.tsx";
import { ChoiceField } from "#components/ui/field-choice.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { PersonWay } from "#db/console/access/people.ts";
import {
  hasErrors,
  MAX_EMAIL_CHARS,
  MAX_NAME_CHARS,
  NO_PERSON_ERRORS,
  type PersonDraft,
  type PersonErrors,
  personErrors,
  WAY_WORDS,
} from "./person-draft.ts";
import { MAX_REASON_CHARS, MIN_REASON_CHARS } from "./reason.ts";
import { SubmitButton } from "./submit-button.tsx";

interface Made {
  email: string;
  /** Null for an invitation. */
  password: string | null;
}

export interface AddPersonDialogProps {
  /** How people can sign in here; at least one. */
  ways: readonly PersonWay[];
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

export function AddPersonDialog({ ways, onClose, onDone }: AddPersonDialogProps) {
  const form = useId();
  const toast = useToast();
  const [draft, setDraft] = useState<PersonDraft>({
    email: "",
    name: "",
    way: ways[0] ?? "invite",
    reason: "",
  });
  const [errors, setErrors] = useState(NO_PERSON_ERRORS);
  const [sent, setSent] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Made | null>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const found = personErrors(draft);
    setErrors(found);
    setSent(null);
    if (hasErrors(found)) return;
    setBusy(true);
    try {
      const added = await postJson<Made>(PEOPLE_PATH, trimmed(draft));
      // A password must be seen even when the list cannot be read again.
      if (added.password !== null) setMade(added);
      await onDone();
      toast(`${draft.name.trim()} is added, without any grant.`);
      if (added.password === null) onClose();
    } catch (failure) {
      setSent(failureWords(failure));
    } finally {
      setBusy(false);
    }
  }

  if (made !== null) return <MadePerson made={made} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add a person"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} busy={busy}>
            Add person
          </SubmitButton>
        </>
      }
    >
      <form id={form} noValidate onSubmit={(event) => void submit(event)} className="grid gap-5">
        <PersonFields draft={draft} errors={errors} ways={ways} onChange={setDraft} />
        <p role="alert" className="text-danger text-table empty:hidden">
          {sent ?? ""}
        </p>
      </form>
    </Dialog>
  );
}

interface PersonFieldsProps {
  draft: PersonDraft;
  errors: PersonErrors;
  ways: readonly PersonWay[];
  onChange: (draft: PersonDraft) => void;
}

function PersonFields({ draft, errors, ways, onChange }: PersonFieldsProps) {
  const set = (part: Partial<PersonDraft>) => onChange({ ...draft, ...part });
  return (
    <>
      <p className="text-muted text-table">They see nothing until you give them a grant.</p>
      <TextField
        label="E-mail address"
        value={draft.email}
        maxLength={MAX_EMAIL_CHARS}
        error={errors.email}
        autoFocus
        onChange={(email) => set({ email })}
      />
      <TextField
        label="Name"
        value={draft.name}
        maxLength={MAX_NAME_CHARS}
        error={errors.name}
        onChange={(name) => set({ name })}
      />
      <ChoiceField
        legend="Signs in"
        value={draft.way}
        choices={ways.map((way) => ({ value: way, ...WAY_WORDS[way] }))}
        onChange={(way) => set({ way })}
      />
      <Textarea
        label="Reason"
        hint="Kept in the audit."
        value={draft.reason}
        onChange={(reason) => set({ reason })}
        minChars={MIN_REASON_CHARS}
        maxChars={MAX_REASON_CHARS}
        error={errors.reason}
      />
    </>
  );
}

function MadePerson({ made, onClose }: { made: Made; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Copy the password now"
      footer={<Button onClick={onClose}>I have copied it</Button>}
    >
      <div className="grid gap-3">
        <p>
          {made.email} signs in with it. It is shown this once: only its hash is stored, so nobody can look it
          up later.
        </p>
        <p className="flex items-center gap-2 rounded-md border border-line-strong bg-subtle px-3 py-2">
          <code className="min-w-0 flex-1 break-all font-mono text-table" data-testid="made-password">
            {made.password}
          </code>
          <CopyButton text={made.password ?? ""} what="password" />
        </p>
      </div>
    </Dialog>
  );
}

function trimmed({ email, name, way, reason }: PersonDraft): PersonDraft {
  return { email: email.trim(), name: name.trim(), way, reason: reason.trim() };
}
