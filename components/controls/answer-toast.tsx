"use client";
/**
 * What the corner says after a control: what holds now, whether it is proved, the audit id, and Undo where there is one.
 * It repeats the API's answer and adds nothing to it.
 */
import { AuditEntryLink } from "#components/ui/audit-entry-link.tsx";
import { Button } from "#components/ui/button.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useToast } from "#components/ui/toast.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { ControlRequest } from "./control-request.ts";
import { openControl } from "./control-store.ts";
import { doneWords } from "./control-words.ts";
import { inverseOf } from "./inverse.ts";

/** Tells of one answer. `nowMs` is the server's time. */
export function useAnswerToast(): (request: ControlRequest, answer: CommandAnswer, nowMs: number) => void {
  const toast = useToast();
  return (request, answer, nowMs) => {
    const inverse = inverseOf(request, answer.before, nowMs);
    toast(<AnswerMessage request={request} answer={answer} />, {
      tone: answer.applied ? "ok" : "warn",
      subject: `${request.target.region} ${request.target.id}`,
      actions: (
        <>
          {inverse === null ? null : <Button onClick={() => openControl(inverse)}>Undo</Button>}
          <AuditLink request={request} auditId={answer.auditId} />
        </>
      ),
    });
  };
}

export function AnswerMessage({ request, answer }: { request: ControlRequest; answer: CommandAnswer }) {
  return (
    <>
      {doneWords(request)}.{" "}
      {answer.applied ? (
        <>
          Applied at <Timestamp iso={answer.at} form="clock" named plain />: every worker obeys it.
        </>
      ) : (
        <>
          Stored at <Timestamp iso={answer.at} form="clock" named plain />, but the proof could not be had
          yet: a claim that began before may still take work. Every claim that begins now obeys it.
        </>
      )}
    </>
  );
}

export function AuditLink({ request, auditId }: { request: ControlRequest; auditId: string }) {
  return <AuditEntryLink region={request.target.region} target={request.target.id} auditId={auditId} />;
}
