"use client";
/** What stands in the place of a tenant or destination that cannot be shown: not there, no answer, an error, not yet. */
import { ProblemError } from "#components/queries/fetch-json.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";

export interface MissingProps {
  /** "tenant" or "destination". */
  what: string;
  region: Region;
  error: Error | null;
  answer: RegionAnswer<unknown> | undefined;
  onRetry: () => void;
}

export function Missing({ what, region, error, answer, onRetry }: MissingProps) {
  const where = region.toUpperCase();
  if (answer?.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${where} does not answer`}>
        {answer.detail} What it holds of this {what} is unknown, not gone. Its workers go on without the
        console; this page asks again every 5 s.
      </Notice>
    );
  }
  if (error === null) return <DetailSkeleton />;
  const code = error instanceof ProblemError ? error.problem.code : null;
  if (code === "not_found" || code === "bad_id") {
    return (
      <Notice
        kind="no-match"
        title={code === "not_found" ? `No such ${what}` : `This is not the id of a ${what}`}
      >
        {code === "not_found"
          ? `Region ${where} answered and has no ${what} of this id that you may see. It may be in the other region.`
          : "Follow the link from a list, or copy the whole id."}
      </Notice>
    );
  }
  return <ErrorNotice error={error} onRetry={onRetry} />;
}

function DetailSkeleton() {
  return (
    <div aria-hidden="true" className="grid gap-4">
      <Skeleton className="h-24 w-full" />
      <Skeleton className="h-9 w-full" />
      <Skeleton className="h-96 w-full" />
    </div>
  );
}
