"use client";
/** One attempt to sign in at a time, and what went wrong with the last one. */
import { useState } from "react";
import { ProblemError } from "#components/queries/fetch-json.ts";

export interface Attempt {
  busy: boolean;
  error: string | null;
  run: (work: () => Promise<void>) => void;
}

/** After a success it stays busy, because the browser is leaving for the next page. */
export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  function run(work: () => Promise<void>): void {
    setBusy(true);
    setError(null);
    work().catch((reason: unknown) => {
      setBusy(false);
      setError(
        reason instanceof ProblemError
          ? `${reason.problem.title}. ${reason.problem.detail}`
          : "The console does not answer. Try again.",
      );
    });
  }
  return { busy, error, run };
}
