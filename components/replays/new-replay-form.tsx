"use client";
/** Name and reason of a new batch. What is typed here is not asked for again in the later steps. */
import { type FormEvent, useId, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { useCommand } from "#components/controls/use-command.ts";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { newReplayApiPath } from "#components/queries/replays.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { TextField } from "#components/ui/field.tsx";
import { plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import type { ReplaySelection } from "#domain/commands-replay.ts";
import type { Region } from "#domain/region.ts";
import {
  NAME_MAX_CHARS,
  refuseEvidence,
  refuseName,
  WORDS_MAX_CHARS,
  WORDS_MIN_CHARS,
} from "./replay-bounds.ts";

export interface NewReplayFormProps {
  region: Region;
  selection: ReplaySelection;
  limit: number;
  /** What was counted: the number on the button. */
  items: number;
  /** A follow-up has to name another cause than the batch before. */
  isFollowUp: boolean;
  onCreated: (id: string) => void;
}

export function NewReplayForm({
  region,
  selection,
  limit,
  items,
  isFollowUp,
  onCreated,
}: NewReplayFormProps) {
  const formId = useId();
  const { phase, send, clear } = useCommand<{ id: string }>();
  const [name, setName] = useState("");
  const [cause, setCause] = useState("");
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);
  const nameProblem = refuseName(name);
  const causeProblem = isFollowUp ? refuseEvidence(cause) : null;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (nameProblem !== null || causeProblem !== null || refuseReason(draft.reason) !== null) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const ticket = draft.ticket.trim();
    const body = {
      name: name.trim(),
      selection,
      limit,
      reason: draft.reason.trim(),
      ...(ticket === "" ? {} : { ticket }),
      ...(isFollowUp ? { rootCause: cause.trim() } : {}),
    };
    send(newReplayApiPath(region), { body }, ({ id }) => onCreated(id));
  }

  return (
    <Panel title="Name it">
      <form id={formId} onSubmit={submit} noValidate className="grid max-w-xl gap-4">
        <TextField
          label="Name of the batch"
          note="required"
          hint="As an incident is named: “INC-4812 ledger refused v2 bodies”."
          value={name}
          maxLength={NAME_MAX_CHARS}
          error={tried ? nameProblem : null}
          onChange={setName}
        />
        {isFollowUp ? (
          <OtherCause value={cause} error={tried ? causeProblem : null} onChange={setCause} />
        ) : null}
        <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        {phase.at === "refused" ? (
          <CommandError error={phase.error} nowMs={Date.now() - clockSkewMs()} onReload={clear} />
        ) : null}
        <CreateRow items={items} busy={phase.at === "requested"} />
      </form>
    </Panel>
  );
}

/** The number on the button is the number that was counted. */
function CreateRow({ items, busy }: { items: number; busy: boolean }) {
  return (
    <p className="flex flex-wrap items-center gap-3">
      <button
        type="submit"
        disabled={busy}
        className="inline-flex min-h-8 items-center rounded-md bg-accent-solid px-3 py-1 font-medium text-table text-white disabled:opacity-50 max-md:min-h-11"
      >
        Draft a batch of {plural(items, "dead letter")}
      </button>
      <span className="text-muted text-table">Nothing is sent. A second person has to approve it first.</span>
    </p>
  );
}

interface OtherCauseProps {
  value: string;
  error: string | null;
  onChange: (value: string) => void;
}

function OtherCause({ value, error, onChange }: OtherCauseProps) {
  return (
    <Textarea
      label="Root cause this time"
      note="required"
      hint="These failed again, so the cause that was named before is not the whole of it."
      rows={2}
      minChars={WORDS_MIN_CHARS}
      maxChars={WORDS_MAX_CHARS}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
