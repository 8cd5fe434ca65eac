"use client";
/** What table and cards say of one delivery, in the same words. */
import { cx } from "#components/ui/cx.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { StatusText } from "#components/ui/status.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { reasonWords, STATE_WORDS } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { HeldMark } from "./held-mark.tsx";

/** State, and why it is so: the reason of its end, or what holds it. */
export function StateCell({
  row,
  asOf,
  stacked = false,
  className,
}: {
  row: DeliveryRow;
  asOf: string;
  /** The reason below the state, for a column that must stay narrow. */
  stacked?: boolean;
  className?: string;
}) {
  const state = STATE_WORDS[row.state];
  return (
    <span
      className={cx(
        "inline-flex align-top",
        stacked ? "flex-col items-start compact:flex-row compact:items-center" : "items-center gap-2",
        className,
      )}
    >
      <StatusText tone={state.tone} icon={state.icon} label={state.label} />
      {row.reason ? <span className="text-muted">{reasonWords(row.reason)}</span> : null}
      {row.held.length > 0 ? <HeldMark blockers={row.held} asOf={asOf} /> : null}
    </span>
  );
}

/** "12, 3 of 8 failed": twelve requests, and three of the eight failures that end it. */
export function AttemptsCell({ row }: { row: DeliveryRow }) {
  const most = row.maxFailures === null ? "?" : formatCount(row.maxFailures);
  const words = `${plural(row.attempts, "attempt")}, ${formatCount(row.failures)} of ${most} failures`;
  return (
    <span title={words}>
      <span aria-hidden="true">
        {formatCount(row.attempts)},{" "}
        <span className="text-faint">
          {formatCount(row.failures)} of {most} failed
        </span>
      </span>
      <span className="sr-only">{words}</span>
    </span>
  );
}

/** When it goes next, absolute and from now; or when it ended. */
export function NextCell({ row, asOf }: { row: DeliveryRow; asOf: string }) {
  if (row.finishedAt !== null) {
    return (
      <>
        <span className="text-faint">ended </span>
        <NearTimestamp iso={row.finishedAt} asOf={asOf} />
      </>
    );
  }
  if (row.state === "leased") return <span className="text-muted">in flight</span>;
  return (
    <>
      <NearTimestamp iso={row.dueAt} asOf={asOf} />{" "}
      <span className="text-faint">{relativeTo(row.dueAt, asOf)}</span>
    </>
  );
}
