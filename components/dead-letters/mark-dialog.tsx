"use client";
/**
 * "Will not replay" for a whole cause. The number on the button is the number that was counted, and the entries that died
 * until that count are the ones that are marked: at most 500 in one transaction, so it goes in steps, and says how far it
 * has come. Rows stay; what is marked already stays marked when it is stopped.
 */
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useRef, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { CommandError } from "#components/controls/command-error.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { randomKey } from "#components/controls/use-command.ts";
import { groupPath } from "#components/queries/dead-letters.ts";
import { sendCommand } from "#components/queries/send-command.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { DeadLetterGroupView } from "#db/console/read-dead-letter-group.ts";
import { MAX_MARKED_ROWS } from "#domain/dead-letter-group.ts";
import type { Region } from "#domain/region.ts";
import { AuditToast } from "./audit-toast.tsx";
import { causeWords } from "./cause-words.ts";

/** Steps of one decision; more entries than that need another one. */
const MAX_STEPS = 100;

export interface MarkDialogProps {
  region: Region;
  view: DeadLetterGroupView;
  version: number;
  /** The time of the count, UTC. */
  asOf: string;
  onClose: () => void;
}

export function MarkDialog({ region, view, version, asOf, onClose }: MarkDialogProps) {
  const formId = useId();
  // What the person saw when the dialog opened is what is done, however the panel goes on behind it.
  const [seen] = useState({
    version,
    until: asOf,
    count: view.count - view.willNotReplay,
    more: view.more,
  });
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);
  const { marked, busy, error, start } = useMarking({
    region,
    view,
    until: seen.until,
    version: seen.version,
    onClose,
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (refuseReason(draft.reason) === null) start(draft);
  }

  const number = `${formatCount(seen.count)}${seen.more ? "+" : ""}`;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Will not replay: ${causeWords(view).title}, ${region.toUpperCase()}`}
      footer={
        <FormButtons
          formId={formId}
          label={`Mark ${number} as will not replay`}
          busy={busy}
          danger={false}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} onSubmit={submit} className="grid gap-4">
        <p className="text-muted">
          Says of {plural(seen.count, "entry", "entries")}
          {seen.more ? " and more" : ""} that died until{" "}
          <Timestamp iso={seen.until} form="clock" named plain /> that they will not be sent again. The rows
          stay, with all that is known of them. Entries that die later are not among them.
        </p>
        <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        {marked > 0 ? (
          <p role="status">
            {formatCount(marked)} of {number} marked{busy ? ", going on" : ""}.
          </p>
        ) : null}
        {error === null ? null : (
          <CommandError error={error} nowMs={Date.now() - clockSkewMs()} onReload={onClose} />
        )}
      </form>
    </Dialog>
  );
}

interface Marking {
  region: Region;
  view: DeadLetterGroupView;
  until: string;
  version: number;
  onClose: () => void;
}

function useMarking({ region, view, until, version, onClose }: Marking) {
  const client = useQueryClient();
  const toast = useToast();
  const [marked, setMarked] = useState(0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const running = useRef(false);

  async function run(draft: ReasonDraft): Promise<void> {
    const ticket = draft.ticket.trim();
    const body = { reason: draft.reason.trim(), until, ...(ticket === "" ? {} : { ticket }) };
    let done = 0;
    let auditId = "";
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const answer = await sendCommand<CommandAnswer>(
        `${groupPath(view.id, "will-not-replay")}?region=${region}`,
        {
          body,
          version,
          idempotencyKey: randomKey(),
        },
      );
      const now = Number(answer.after.marked);
      done += now;
      auditId = answer.auditId;
      setMarked(done);
      // A step that marks fewer than it may has met entries that somebody else holds, or the end.
      if (answer.after.left === 0 || now < MAX_MARKED_ROWS) break;
    }
    const message = `${formatCount(done)} marked as will not replay.`;
    toast(<AuditToast message={message} region={region} target={view.id} auditId={auditId} />);
    onClose();
  }

  return {
    marked,
    busy,
    error,
    start(draft: ReasonDraft) {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setError(null);
      run(draft)
        .catch((refused: unknown) => setError(refused as Error))
        .finally(() => {
          running.current = false;
          setBusy(false);
          client.invalidateQueries({ queryKey: ["live"] }).catch(() => undefined);
        });
    },
  };
}
