"use client";
/** What a dialog shows before it has values: that they are being read, or why they could not be. Never a zero. */
import { ProblemError } from "#components/queries/fetch-json.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { RegionAnswer } from "#db/console/read-region.ts";

export interface ReadingNoticeProps {
  answer: RegionAnswer<unknown> | undefined;
  error: Error | null;
  onRetry: () => void;
}

export function ReadingNotice({ answer, error, onRetry }: ReadingNoticeProps) {
  const retry = <Button onClick={onRetry}>Try again</Button>;
  if (error !== null) {
    const problem = error instanceof ProblemError ? error.problem : null;
    return (
      <Notice kind="error" title={problem?.title ?? "The console does not answer"} compact actions={retry}>
        {problem === null
          ? "The present values could not be read. Nothing was changed, and deliveries go on without the console."
          : `${problem.detail} Correlation id ${problem.correlationId}.`}
      </Notice>
    );
  }
  if (answer?.status === "unavailable") {
    return (
      <Notice
        kind="unavailable"
        title={`${answer.region.toUpperCase()} does not answer`}
        compact
        actions={retry}
      >
        {answer.detail} Nothing can be changed there until it does. Other regions are not affected.
      </Notice>
    );
  }
  return (
    <output aria-label="Reading the present values" className="grid gap-3">
      <Skeleton className="h-28 w-full" />
      <Skeleton className="h-16 w-full" />
      <Skeleton className="h-24 w-full" />
    </output>
  );
}
