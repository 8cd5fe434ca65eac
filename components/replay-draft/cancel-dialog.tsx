"use client";
/** Gives a draft up. Its dead letters stay what they are. */
import { type FormEvent, useId, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { Refused } from "./step-parts.tsx";
import { type StepProps, useStep } from "./use-step.ts";

export default function CancelDialog({ onClose, ...props }: StepProps & { onClose: () => void }) {
  const formId = useId();
  const step = useStep(props);
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (refuseReason(draft.reason) !== null) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const ticket = draft.ticket.trim();
    step.send("cancel", { reason: draft.reason.trim(), ...(ticket === "" ? {} : { ticket }) }, onClose);
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={`Cancel draft: ${props.view.name}`}
      footer={
        <FormButtons
          formId={formId}
          label="Cancel draft"
          busy={step.phase.at === "requested"}
          danger={false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={submit} noValidate className="grid gap-4">
        <p className="text-muted">
          The batch ends and cannot be taken up again. Its entries stay dead letters, and can be in another
          batch.
        </p>
        <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        <Refused phase={step.phase} onReload={step.clear} />
      </form>
    </Dialog>
  );
}
