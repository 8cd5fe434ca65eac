"use client";
/** Takes something away after a reason was given: a grant, a token. The error stays in the dialog. */
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { deleteJson, failureWords } from "#components/queries/send-json.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import { MAX_REASON_CHARS, MIN_REASON_CHARS, reasonError } from "./reason.ts";
import { SubmitButton } from "./submit-button.tsx";

export interface TakeDialogProps {
  title: string;
  /** The resource to delete. */
  path: string;
  /** Verb and object, as in the title. */
  button: string;
  /** Said when it is done. */
  done: string;
  /** The exact effect. */
  children: ReactNode;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

export function TakeDialog({ title, path, button, done, children, onClose, onDone }: TakeDialogProps) {
  const form = useId();
  const toast = useToast();
  const [reason, setReason] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const wrong = reasonError(reason);
    setError(wrong);
    if (wrong !== null) return;
    setBusy(true);
    try {
      await deleteJson(path, { reason: reason.trim() });
      await onDone();
      toast(done);
      onClose();
    } catch (failure) {
      setError(failureWords(failure));
      setBusy(false);
    }
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} busy={busy} tone="danger">
            {button}
          </SubmitButton>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)} className="grid gap-4">
        <p>{children}</p>
        <Textarea
          label="Reason"
          hint="Kept in the audit."
          value={reason}
          onChange={setReason}
          minChars={MIN_REASON_CHARS}
          maxChars={MAX_REASON_CHARS}
          error={error}
        />
      </form>
    </Dialog>
  );
}
