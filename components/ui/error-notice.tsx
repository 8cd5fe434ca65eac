"use client";
/** What a panel says when its read failed and there is nothing older to show. */
import { ProblemError } from "#components/queries/fetch-json.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

export interface ErrorNoticeProps {
  error: Error;
  onRetry: () => void;
  compact?: boolean;
}

/** Title and detail of the problem, its correlation id, and a retry. */
export function ErrorNotice({ error, onRetry, compact }: ErrorNoticeProps) {
  const problem = error instanceof ProblemError ? error.problem : null;
  return (
    <Notice
      kind="error"
      title={problem?.title ?? "The console does not answer"}
      compact={compact ?? false}
      actions={<Button onClick={onRetry}>Try again</Button>}
    >
      {problem ? (
        <>
          {problem.detail} <span className="text-faint">Correlation id {problem.correlationId}.</span>
        </>
      ) : (
        "No answer came from the console itself. Deliveries go on without it; this page asks again every 5 s."
      )}
    </Notice>
  );
}
