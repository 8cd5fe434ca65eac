"use client";
/** Takes something away, or gives it back, after a reason was given: a grant, a token, the sign-in. The error stays in the dialog. */
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { deleteJson, failureWords } from "#components/queries/send-json.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import { MAX_REASON_CHARS, MIN_REASON_CHARS, reasonError } from "./reason.ts";
import { SubmitButton } from "./submit-button.tsx";

export interface TakeDialogProps {
  title: string;
  /** The resource to delete, or the verb to post. */
  path: string;
  method?: "delete" | "post";
  /** Red: it takes something away. */
  tone?: "accent" | "danger";
  /** Verb and object, as in the title. */
  button: string;
  /** Said when it is done. */
  done: string;
  /** The exact effect. */
  children: ReactNode;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

export function TakeDialog({
  title,
  path,
  method = "delete",
  tone = "danger",
  button,
  done,
  children,
  onClose,
  onDone,
}: TakeDialogProps) {
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
      await (method === "post" ? postJson : deleteJson)(path, { reason: reason.trim() });
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
          <SubmitButton form={form} busy={busy} tone={tone}>
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
