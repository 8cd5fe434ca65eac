"use client";
/** Makes a service token and shows it once. The text lives in this dialog only and is gone with it. */
import { type FormEvent, useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { failureWords } from "#components/queries/send-json.ts";
import { TOKENS_PATH } from "#components/queries/shell.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { SubmitButton } from "./submit-button.tsx";
import { bodyOf, EMPTY_TOKEN, findErrors, NO_ERRORS, TokenFields } from "./token-fields.tsx";

interface Made {
  token: string;
  expiresAt: string;
}

export interface NewTokenDialogProps {
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

export function NewTokenDialog({ onClose, onDone }: NewTokenDialogProps) {
  const form = useId();
  const [values, setValues] = useState(EMPTY_TOKEN);
  const [errors, setErrors] = useState(NO_ERRORS);
  const [sent, setSent] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Made | null>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const found = findErrors(values);
    setErrors(found);
    setSent(null);
    if (Object.values(found).some((error) => error !== null)) return;
    setBusy(true);
    try {
      setMade(await postJson<Made>(TOKENS_PATH, bodyOf(values)));
      await onDone();
    } catch (failure) {
      setSent(failureWords(failure));
    } finally {
      setBusy(false);
    }
  }

  if (made !== null) return <MadeToken made={made} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title="New service token"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} busy={busy}>
            Make token
          </SubmitButton>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)} className="grid gap-5">
        <TokenFields values={values} errors={errors} onChange={setValues} />
        <p role="alert" className="text-danger text-table empty:hidden">
          {sent ?? ""}
        </p>
      </form>
    </Dialog>
  );
}

function MadeToken({ made, onClose }: { made: Made; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Copy the token now"
      footer={<Button onClick={onClose}>I have copied it</Button>}
    >
      <div className="grid gap-3">
        <p>It is shown this once. Only its hash is stored, so nobody can look it up later.</p>
        <p className="flex items-center gap-2 rounded-md border border-line-strong bg-subtle px-3 py-2">
          <code className="min-w-0 flex-1 break-all font-mono text-table" data-testid="made-token">
            {made.token}
          </code>
          <CopyButton text={made.token} what="service token" />
        </p>
        <p className="text-muted text-table">
          Send it as <code className="font-mono">Authorization: Bearer</code>. It ends{" "}
          <Timestamp iso={made.expiresAt} named />.
        </p>
      </div>
    </Dialog>
  );
}
