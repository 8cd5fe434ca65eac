"use client";
/** Saves the filters of the present address under a name. */
import { type FormEvent, useState } from "react";
import { failureWords } from "#components/queries/send-json.ts";
import { TextField } from "#components/ui/field.tsx";
import { CheckField } from "#components/ui/field-choice.tsx";
import { MAX_VIEW_NAME_CHARS } from "#domain/saved-view.ts";
import { useShell } from "./shell-context.ts";

export interface SaveViewFormProps {
  /** Resolves when it is saved; rejects with what went wrong. */
  onSave: (name: string, shared: boolean) => Promise<void>;
}

/** What was typed stays until it is saved. */
export function SaveViewForm({ onSave }: SaveViewFormProps) {
  const { copyLink } = useShell();
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") {
      setError("Give the view a name.");
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await onSave(name.trim(), shared);
      setName("");
    } catch (failure) {
      setError(failureWords(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="grid gap-2 border-line border-t pt-3">
      <TextField
        label="Save these filters as"
        value={name}
        onChange={setName}
        maxLength={MAX_VIEW_NAME_CHARS}
        error={error}
      />
      <CheckField label="Share with everybody who sees these rows" checked={shared} onChange={setShared} />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <button
          type="button"
          onClick={() => void copyLink()}
          className="min-h-8 text-accent text-table underline-offset-4 hover:underline max-md:min-h-11"
        >
          Copy link
        </button>
        <button
          type="submit"
          disabled={busy}
          className="h-8 rounded-md bg-accent-solid px-3 font-medium text-table text-white hover:opacity-90 disabled:opacity-50 max-md:h-11"
        >
          {busy ? "Saving" : "Save view"}
        </button>
      </div>
    </form>
  );
}
