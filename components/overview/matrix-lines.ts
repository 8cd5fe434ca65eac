/** The lines of the tenant x region matrix from the answers of all regions: merged by rank, never by number. Pure. */
import type { MatrixRow } from "#db/console/queue-summary.ts";
import type { Overview } from "#db/console/read-overview.ts";
import type { Thresholds } from "#domain/objectives.ts";
import type { Region } from "#domain/region.ts";

/** Lines shown over all regions. */
const MAX_LINES = 50;

export interface Line extends MatrixRow {
  region: Region;
  /** Of its region. */
  thresholds: Thresholds;
  /** Database time of its region's answer, UTC. */
  asOf: string;
  /** It takes an outsized part of its region. */
  noisy: boolean;
}

export function keyOf(line: Line): string {
  return `${line.region}:${line.id}`;
}

/** The worst lag first, whatever its region. */
export function linesOf(overview: Overview): Line[] {
  return overview.regions
    .flatMap((answer) => {
      if (answer.status !== "ok") return [];
      const { region, data, asOf } = answer;
      const noisy = new Set(data.noise.tenants.map(({ id }) => id));
      return data.tenants.map((row) => ({
        ...row,
        region,
        asOf,
        thresholds: data.thresholds,
        noisy: noisy.has(row.id),
      }));
    })
    .sort((a, b) => worstOf(b) - worstOf(a))
    .slice(0, MAX_LINES);
}

/** How many lines there are beside those shown. */
export function leftOutOf(overview: Overview | null, shown: number): number {
  let all = 0;
  for (const answer of overview?.regions ?? []) {
    if (answer.status === "ok") all += answer.data.tenants.length + answer.data.tenantsLeftOut;
  }
  return Math.max(0, all - shown);
}

function worstOf(row: MatrixRow): number {
  return Math.max(row.firstAttemptMs, row.due.oldestMs);
}
