/** sluice.resume_ramp: after a pause, rows that were due before its end leave at a share of cap and rate that grows. */
import type { Us } from "#sim/scheduler.ts";
import type { DestinationTableRow, Pausable, TenantRow } from "./tables.ts";
import { MINUTE } from "./time.ts";

const RAMP_LONGEST_US = 10 * MINUTE;
const DEFAULT_SHARE = 0.2;

export interface Ramp {
  /** Rows due before it are limited. */
  readonly lineUs: Us;
  /** Of the destination's cap and rate. */
  readonly part: number;
  /** Of the tenant's cap; null: all. */
  readonly tenantPart: number | null;
}

/** Null when there is none, or none any more. */
export function rampOf(tenant: TenantRow, destination: DestinationTableRow, nowUs: Us): Ramp | null {
  const tenantPart = partOf(tenant, nowUs);
  const ownPart = partOf(destination, nowUs);
  if (tenantPart === null && ownPart === null) return null;
  const lines = [
    tenantPart === null ? 0 : (resumedAt(tenant, nowUs) ?? 0),
    ownPart === null ? 0 : (resumedAt(destination, nowUs) ?? 0),
  ];
  return { lineUs: Math.max(...lines), part: Math.min(tenantPart ?? 1, ownPart ?? 1), tenantPart };
}

/** A pause whose end has come counts as resumed at that end, whether or not somebody has written so yet. */
function resumedAt({ pauseUntilUs, resumedAtUs }: Pausable, nowUs: Us): Us | null {
  return pauseUntilUs !== null && pauseUntilUs <= nowUs ? pauseUntilUs : resumedAtUs;
}

function partOf(row: Pausable, nowUs: Us): number | null {
  const atUs = resumedAt(row, nowUs);
  if (atUs === null || nowUs >= atUs + RAMP_LONGEST_US) return null;
  // In thousandths, as the column has them: 0.29 x 100 must be 29.
  const share = Math.round((row.resumeShare ?? DEFAULT_SHARE) * 1000);
  const part = Math.min(1000, share * 2 ** Math.max(0, Math.floor((nowUs - atUs) / MINUTE))) / 1000;
  return part === 1 ? null : part;
}
