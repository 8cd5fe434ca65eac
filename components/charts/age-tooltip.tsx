/** The exact values of one moment of an age chart. */

import { formatCount, formatInstant, type Zone, zoneName } from "#components/ui/format.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { DrawnPoint } from "./age-scale.ts";

interface AgeTooltipProps {
  active: boolean | undefined;
  payload: readonly { payload?: unknown }[] | undefined;
  zone: Zone;
}

/** Nothing where there is no sample. */
export function AgeTooltip({ active, payload, zone }: AgeTooltipProps) {
  const point = payload?.[0]?.payload as DrawnPoint | undefined;
  if (!active || point === undefined || point.firstAttemptMs === null || point.dueMs === null) return null;
  const iso = new Date(point.t).toISOString();
  return (
    <dl className="grid grid-cols-[auto_auto] gap-x-4 rounded-md border border-line bg-surface px-3 py-2 text-table shadow-overlay">
      <dt className="col-span-2 text-faint">
        {formatInstant(iso, zone)} {zoneName(zone, iso)}
      </dt>
      <dt className="text-muted">First attempt, oldest</dt>
      <dd className="text-right font-medium">{formatAge(point.firstAttemptMs)}</dd>
      <dt className="text-muted">Due, oldest</dt>
      <dd className="text-right font-medium">{formatAge(point.dueMs)}</dd>
      <dt className="text-muted">Due, unclaimed</dt>
      <dd className="text-right font-medium">{formatCount(point.dueCount ?? 0)}</dd>
    </dl>
  );
}
