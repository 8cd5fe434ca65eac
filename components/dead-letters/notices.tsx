/** What the lists of dead letters say when they have no row. */
import type { ReactNode } from "react";
import { Notice } from "#components/ui/notice.tsx";
import { ageAt } from "#components/ui/relative.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { formatAge } from "#domain/queue-age.ts";

/** A region that does not answer has unknown dead letters, not none. */
export function RegionSilent({
  answer,
  what = "dead letters",
}: {
  answer: Extract<RegionAnswer<unknown>, { status: "unavailable" }>;
  /** What is not shown. */
  what?: string;
}) {
  return (
    <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`}>
      {answer.detail} Its {what} are not shown, which does not mean that there are none. The other region can
      be read as usual; this page asks again every 5 s.
    </Notice>
  );
}

export interface NoDeadLettersProps {
  narrowed: boolean;
  latestDiedAt: string | null;
  asOf: string;
  /** The way out of a filter. */
  action: ReactNode;
}

/** Nothing at all, or nothing that matches; when the last one died tells both from a page that is broken. */
export function NoDeadLetters({ narrowed, latestDiedAt, asOf, action }: NoDeadLettersProps) {
  const lastOne =
    latestDiedAt === null
      ? "There has never been one."
      : `Last one: ${formatAge(ageAt(latestDiedAt, asOf))} ago.`;
  if (narrowed) {
    return (
      <Notice kind="no-match" title="No dead letter matches" actions={action}>
        {lastOne}
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No dead letters in this scope">
      {lastOne} A delivery ends here when its receiver refuses it, or when its attempts are used up.
    </Notice>
  );
}
