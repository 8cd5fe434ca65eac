"use client";
/** Why, and where it is written down: the two fields that every control asks for. The reason is never filled in. */
import { TextField } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { REASON_MAX_CHARS, REASON_MIN_CHARS, refuseReason, TICKET_MAX_CHARS } from "./bounds.ts";

export interface ReasonDraft {
  reason: string;
  ticket: string;
}

export interface ReasonFieldsProps {
  draft: ReasonDraft;
  onChange: (draft: ReasonDraft) => void;
  /** False until the form was sent once: nobody is told off while typing. */
  showProblems: boolean;
}

export function ReasonFields({ draft, onChange, showProblems }: ReasonFieldsProps) {
  return (
    <>
      <Textarea
        label="Reason"
        note="required"
        hint="The audit keeps it."
        rows={2}
        minChars={REASON_MIN_CHARS}
        maxChars={REASON_MAX_CHARS}
        value={draft.reason}
        error={showProblems ? refuseReason(draft.reason) : null}
        onChange={(reason) => onChange({ ...draft, reason })}
      />
      <TextField
        label="Ticket"
        note="optional"
        value={draft.ticket}
        maxLength={TICKET_MAX_CHARS}
        onChange={(ticket) => onChange({ ...draft, ticket })}
      />
    </>
  );
}
