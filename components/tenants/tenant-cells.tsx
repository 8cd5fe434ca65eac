"use client";
/** What table and cards say of one tenant, in the same words. */
import Link from "next/link";
import { HELD_WORDS } from "#components/overview/held-words.ts";
import { formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import type { TenantList, TenantRegion, TenantRow } from "#db/console/list-tenants.ts";
import { Age, ageTone, BoundedFigure } from "./figures.tsx";
import { limitText } from "./limit-words.ts";

/** As db/console counts dead letters of a list. */
const DEAD_LIMIT = 1_000;

export interface TenantCellProps {
  row: TenantRow;
  list: TenantList;
}

/** What the row's own region compares with; null: its region has not answered, and nothing is judged. */
function regionOf({ row, list }: TenantCellProps): TenantRegion | null {
  const answer = list.regions.find(({ region }) => region === row.region);
  return answer?.status === "ok" ? answer.data : null;
}

export function FirstAttemptCell({ row, list }: TenantCellProps) {
  const objective = regionOf({ row, list })?.objectives[row.firstAttemptClass ?? "routine"];
  const tone = objective
    ? ageTone(row.firstAttemptMs, objective.firstAttemptWarnMs, objective.firstAttemptTargetMs)
    : "neutral";
  return <Age ms={row.firstAttemptMs} tone={tone} />;
}

export function DueCell({ row, list }: TenantCellProps) {
  const { due } = row;
  const dueLag = regionOf({ row, list })?.dueLag;
  return (
    <span className="inline-flex items-center gap-1.5">
      <Age
        ms={due.oldestMs}
        tone={dueLag ? ageTone(due.oldestMs, dueLag.warnMs, dueLag.pageMs) : "neutral"}
      />
      {due.count === 0 ? null : <span className="text-faint">of {formatCount(due.count)}</span>}
    </span>
  );
}

export function HeldCell({ row: { held } }: { row: TenantRow }) {
  if (held.count === 0) return <span className="text-faint">0</span>;
  return (
    <span className="inline-flex items-center gap-1.5" title={HELD_WORDS[held.why ?? ""]}>
      <StatusText tone="held" label={formatCount(held.count)} />
      <span className="text-muted">
        <Age ms={held.oldestMs} />
      </span>
    </span>
  );
}

export function DeadCell({ row }: { row: TenantRow }) {
  const href = `/dead-letters?region=${row.region}&tenant=${row.slug}`;
  return <BoundedFigure count={row.deadLetters.count} limit={DEAD_LIMIT} href={href} />;
}

export function FailingCell({ row }: { row: TenantRow }) {
  const of = `of ${formatCount(row.destinations)}`;
  if (row.destinationsFailing === 0) return <span className="text-faint">0 {of}</span>;
  return (
    <Link
      href={`/tenants/${row.id}?region=${row.region}&tab=destinations`}
      prefetch={false}
      className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
    >
      <StatusText tone="danger" label={`${formatCount(row.destinationsFailing)} ${of}`} />
    </Link>
  );
}

export function LimitCell({ row: { concurrency, inFlight } }: { row: TenantRow }) {
  const { desired, effective } = concurrency;
  return (
    <span title={limitText(concurrency)}>
      {formatCount(inFlight)} / {formatCount(effective)}
      {effective === desired ? null : <span className="text-muted"> of {formatCount(desired)}</span>}
    </span>
  );
}
