"use client";
/**
 * Why a command was refused, inside the dialog: what happened, what is unaffected, what to do. Nothing that was typed is
 * lost by any of it.
 */
import { ProblemError } from "#components/queries/fetch-json.ts";
import { Button } from "#components/ui/button.tsx";
import type { Zone } from "#components/ui/format.ts";
import { ToneIcon } from "#components/ui/status.tsx";
import { useZone } from "#components/ui/zone.tsx";
import { conflictWords, readCurrent } from "./conflict-words.ts";

export interface CommandErrorProps {
  error: Error;
  /** The server's time of the refusal. */
  nowMs: number;
  /** Reads the present values again and keeps what was typed. */
  onReload: () => void;
}

export function CommandError({ error, nowMs, onReload }: CommandErrorProps) {
  const zone = useZone();
  const { title, detail, reload } = explain(error, nowMs, zone);
  return (
    <div role="alert" className="flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2.5 text-table">
      <ToneIcon tone="danger" className="mt-0.75 size-3.5" />
      <div className="grid min-w-0 flex-1 gap-1">
        <p className="break-words font-medium text-danger">{title}</p>
        <p className="break-words text-fg">{detail}</p>
        {error instanceof ProblemError ? (
          <p className="break-all text-muted">Correlation id {error.problem.correlationId}</p>
        ) : null}
        {reload ? (
          <p className="mt-1">
            <Button onClick={onReload}>Reload values</Button>
          </p>
        ) : null}
      </div>
    </div>
  );
}

interface Explained {
  title: string;
  detail: string;
  reload: boolean;
}

function explain(error: Error, nowMs: number, zone: Zone): Explained {
  if (!(error instanceof ProblemError)) {
    return {
      title: "No answer came",
      detail:
        "The change may have happened or not. Press the same button again: it is the same request and cannot be done twice. Deliveries go on without the console.",
      reload: false,
    };
  }
  const { problem } = error;
  if (problem.code === "version_conflict") {
    return {
      title: conflictWords(readCurrent(problem), nowMs, zone),
      detail: "Nothing was changed by you. Reload the values and decide again; what you typed stays.",
      reload: true,
    };
  }
  if (problem.code === "unauthenticated") {
    return {
      title: "Your session has ended",
      detail:
        "Nothing was changed. Sign in in another tab, then press the button again; what you typed stays.",
      reload: false,
    };
  }
  return { title: problem.title, detail: problem.detail, reload: problem.code === "state_conflict" };
}
