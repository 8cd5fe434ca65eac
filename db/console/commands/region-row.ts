/** The region's one control row, locked and compared with the version that the caller saw. */
import type { PoolClient } from "pg";
import type { Region } from "#domain/region.ts";
import { versionConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import type { Facts } from "./run-command.ts";

export interface RegionRow {
  readonly region: string;
  readonly draining: boolean;
  readonly drain_reason: string | null;
  readonly drained_by: string | null;
  readonly version: number;
}

/** @throws Refusal `version_conflict` */
export async function lockRegion(client: PoolClient, region: Region, seen: number): Promise<RegionRow> {
  const { rows } = await client.query<RegionRow>(
    "SELECT region, draining, drain_reason, drained_by, version FROM sluice.region_control FOR NO KEY UPDATE",
  );
  const row = oneRow(rows);
  if (row.version !== seen) throw versionConflict(region, seen, row.version, regionFacts(row));
  return row;
}

export function regionFacts(row: RegionRow): Facts {
  return row.draining
    ? { claims: "stopped", reason: row.drain_reason, stoppedBy: row.drained_by }
    : { claims: "on" };
}
