"use client";
/**
 * The one dialog of a batch's commands. It sends the version and, for an approval, the hash that were shown when it opened:
 * another set is another approval. Nothing is claimed before the API has answered.
 */
import { type FormEvent, useId, useState } from "react";
import {
  REASON_MAX_CHARS,
  REASON_MIN_CHARS,
  refuseReason,
  TICKET_MAX_CHARS,
} from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { useCommand } from "#components/controls/use-command.ts";
import { focusFirstWrong } from "#components/controls/use-control-form.ts";
import { AuditToast } from "#components/dead-letters/audit-toast.tsx";
import { replayApiPath } from "#components/queries/replays.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { MAX_RATE, MIN_RATE, NAME_MAX_CHARS, refuseNumber } from "#components/replays/replay-bounds.ts";
import { rateWords } from "#components/replays/replay-words.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { TextField } from "#components/ui/field.tsx";
import { plural } from "#components/ui/format.ts";
import { NumberField } from "#components/ui/number-field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { type BatchVerb, defaultReason, refuseRaise, standingRate, VERB_WORDS } from "./action-words.ts";
import type { Seen } from "./seen.ts";

const RATE = { min: MIN_RATE, max: MAX_RATE, whole: false };
const RATE_STEP = 0.1;

interface Draft {
  text: string;
  ticket: string;
  rate: string;
  typedName: string;
}

export interface ActionDialogProps extends Seen {
  verb: BatchVerb;
  onClose: () => void;
}

type Problems = Readonly<Record<"text" | "rate" | "typedName", string | null>>;
const NO_PROBLEMS: Problems = { text: null, rate: null, typedName: null };

function problemsOf(verb: BatchVerb, draft: Draft, seen: ReplayDetail): Problems {
  const typed = draft.text.trim() !== "" || VERB_WORDS[verb].text.required;
  return {
    text: typed ? refuseReason(draft.text) : null,
    rate: verb === "rate" ? (refuseNumber(draft.rate, RATE) ?? refuseRaise(Number(draft.rate), seen)) : null,
    typedName:
      verb === "break-glass" && draft.typedName.trim() !== seen.name
        ? "Type the name of the batch as it stands above."
        : null,
  };
}

function bodyOf(verb: BatchVerb, { text, ticket, rate, typedName }: Draft, seen: ReplayDetail): object {
  return {
    reason: text.trim() === "" ? defaultReason(verb) : text.trim(),
    ...(ticket.trim() === "" ? {} : { ticket: ticket.trim() }),
    ...(verb === "rate" ? { ratePerSecond: Number(rate) } : {}),
    ...(verb === "break-glass" ? { typedName: typedName.trim() } : {}),
    ...(verb === "approve" ? { sha256: seen.sha256 } : {}),
  };
}

export default function ActionDialog({ verb, region, view, onClose }: ActionDialogProps) {
  const formId = useId();
  const toast = useToast();
  // What was shown when the dialog opened is what it is about, until the person reloads it.
  const [seen, setSeen] = useState(view);
  const [draft, setDraft] = useState<Draft>({
    text: "",
    ticket: "",
    rate: String(standingRate(view) ?? ""),
    typedName: "",
  });
  const [tried, setTried] = useState(false);
  const { phase, send, clear } = useCommand<CommandAnswer>();
  const words = VERB_WORDS[verb];
  const problems = problemsOf(verb, draft, seen);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) {
      focusFirstWrong(event.currentTarget);
      return;
    }
    const attempt = { body: bodyOf(verb, draft, seen), version: seen.version };
    send(replayApiPath(region, seen.id, verb), attempt, ({ auditId }) => {
      toast(<AuditToast message={words.done} region={region} target={seen.id} auditId={auditId} />);
      onClose();
    });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={`${words.label}: ${seen.name}, ${region.toUpperCase()}`}
      footer={
        <FormButtons
          formId={formId}
          label={words.label}
          busy={phase.at === "requested"}
          danger={words.danger ?? false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={submit} noValidate className="grid gap-4">
        <p className="text-muted">{words.effect}</p>
        <Facts verb={verb} seen={seen} />
        <Fields verb={verb} draft={draft} problems={tried ? problems : NO_PROBLEMS} onChange={setDraft} />
        {phase.at === "refused" ? (
          <CommandError
            error={phase.error}
            nowMs={Date.now() - clockSkewMs()}
            onReload={() => {
              setSeen(view);
              clear();
            }}
          />
        ) : null}
      </form>
    </Dialog>
  );
}

/** The numbers that the button is about. */
function Facts({ verb, seen }: { verb: BatchVerb; seen: ReplayDetail }) {
  if (verb === "approve") {
    return (
      <p className="break-all text-table">
        {plural(seen.items, "entry", "entries")}, hash <code className="font-mono">{seen.sha256}</code>
      </p>
    );
  }
  if (verb === "stop" || verb === "pause") {
    const { released, frozen } = seen.counts;
    return (
      <p className="text-table">
        Now: {seen.progress}, {plural(released, "entry", "entries")} in flight or released, {frozen} not
        released.
      </p>
    );
  }
  if (verb === "rate" && seen.ratePerSecond !== null)
    return (
      <p className="text-table">
        Now: at most {rateWords(standingRate(seen))} for each destination, {rateWords(seen.ratePerSecond)}{" "}
        over all lanes that go on.
      </p>
    );
  return null;
}

interface FieldsProps {
  verb: BatchVerb;
  draft: Draft;
  problems: Problems;
  onChange: (draft: Draft) => void;
}

function Fields({ verb, draft, problems, onChange }: FieldsProps) {
  const { text } = VERB_WORDS[verb];
  return (
    <>
      {verb === "rate" ? (
        <NumberField
          label="Highest rate of each destination"
          name="the rate"
          unit="per s"
          step={RATE_STEP}
          {...RATE}
          value={draft.rate}
          error={problems.rate}
          onChange={(rate) => onChange({ ...draft, rate })}
        />
      ) : null}
      {verb === "break-glass" ? (
        <TextField
          label="Name of the batch"
          value={draft.typedName}
          maxLength={NAME_MAX_CHARS}
          error={problems.typedName}
          onChange={(typedName) => onChange({ ...draft, typedName })}
        />
      ) : null}
      <Textarea
        label={text.label}
        note={text.required ? "required" : "optional"}
        hint="The audit keeps it."
        rows={2}
        minChars={text.required ? REASON_MIN_CHARS : 0}
        maxChars={REASON_MAX_CHARS}
        value={draft.text}
        error={problems.text}
        onChange={(typed) => onChange({ ...draft, text: typed })}
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
