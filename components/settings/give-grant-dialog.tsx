"use client";
/** Gives a person a role in a scope. What reaches further than the giver's own is refused by the server, in words. */
import { type FormEvent, useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { failureWords } from "#components/queries/send-json.ts";
import { PEOPLE_PATH } from "#components/queries/shell.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, INPUT } from "#components/ui/field.tsx";
import { CheckField, ChoiceField } from "#components/ui/field-choice.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { Person } from "#db/console/access/people.ts";
import { ROLES, type Role } from "#domain/permissions.ts";
import { ROLE_WORDS } from "./grant-words.ts";
import { MAX_REASON_CHARS, MIN_REASON_CHARS, reasonError } from "./reason.ts";
import { type ScopeChoice, ScopeFields, scopeError } from "./scope-fields.tsx";
import { SubmitButton } from "./submit-button.tsx";

export const ENDS = [
  { value: "", label: "No end" },
  { value: "1", label: "After 1 day" },
  { value: "7", label: "After 7 days" },
  { value: "30", label: "After 30 days" },
  { value: "90", label: "After 90 days" },
] as const;

const ROLE_CHOICES = ROLES.map((role) => ({
  value: role,
  label: ROLE_WORDS[role].label,
  hint: ROLE_WORDS[role].may,
}));

export interface GiveGrantDialogProps {
  person: Person;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

interface Values {
  role: Role;
  scope: ScopeChoice;
  canReveal: boolean;
  days: string;
  reason: string;
}

const EMPTY: Values = {
  role: "viewer",
  scope: { regions: [], tenants: null },
  canReveal: false,
  days: "",
  reason: "",
};

export function GiveGrantDialog({ person, onClose, onDone }: GiveGrantDialogProps) {
  const form = useId();
  const toast = useToast();
  const [values, setValues] = useState(EMPTY);
  const [errors, setErrors] = useState<{ scope: string | null; reason: string | null; sent: string | null }>({
    scope: null,
    reason: null,
    sent: null,
  });
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const found = { scope: scopeError(values.scope), reason: reasonError(values.reason), sent: null };
    setErrors(found);
    if (found.scope !== null || found.reason !== null) return;
    setBusy(true);
    try {
      await postJson(`${PEOPLE_PATH}/${person.id}/grants`, bodyOf(values));
      await onDone();
      toast(`${person.name} is now ${ROLE_WORDS[values.role].label.toLowerCase()} in this scope.`);
      onClose();
    } catch (failure) {
      setErrors({ ...found, sent: failureWords(failure) });
      setBusy(false);
    }
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={`Give ${person.name} a grant`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} busy={busy}>
            Give grant
          </SubmitButton>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)}>
        <GrantFields values={values} onChange={setValues} errors={errors} />
      </form>
    </Dialog>
  );
}

interface GrantFieldsProps {
  values: Values;
  onChange: (values: Values) => void;
  errors: { scope: string | null; reason: string | null; sent: string | null };
}

function GrantFields({ values, onChange, errors }: GrantFieldsProps) {
  const revealing = useSignedIn()?.actions.includes("reveal_body") ?? false;
  const set = (part: Partial<Values>) => onChange({ ...values, ...part });
  return (
    <div className="grid gap-5">
      <p className="text-muted text-table">
        It counts with the next request. It never reaches further than your own access, and ends no later.
      </p>
      <ChoiceField
        legend="Role"
        value={values.role}
        choices={ROLE_CHOICES}
        onChange={(role) => set({ role })}
      />
      <ScopeFields value={values.scope} onChange={(scope) => set({ scope })} error={errors.scope} />
      {revealing && values.role !== "viewer" ? (
        <CheckField
          label="May reveal request and response bodies; each view is audited"
          checked={values.canReveal}
          onChange={(canReveal) => set({ canReveal })}
        />
      ) : null}
      <Field label="Ends">
        {(control) => (
          <select
            {...control}
            value={values.days}
            onChange={(event) => set({ days: event.target.value })}
            className={`${INPUT} h-9 max-md:h-11`}
          >
            {ENDS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Textarea
        label="Reason"
        hint="Kept in the audit."
        value={values.reason}
        onChange={(reason) => set({ reason })}
        minChars={MIN_REASON_CHARS}
        maxChars={MAX_REASON_CHARS}
        error={errors.reason}
      />
      <p role="alert" className="text-danger text-table empty:hidden">
        {errors.sent ?? ""}
      </p>
    </div>
  );
}

function bodyOf({ role, scope, canReveal, days, reason }: Values): object {
  return {
    role,
    regions: scope.regions,
    ...(scope.tenants === null ? {} : { tenants: scope.tenants }),
    canReveal: role !== "viewer" && canReveal,
    ...(days === "" ? {} : { days: Number(days) }),
    reason: reason.trim(),
  };
}
