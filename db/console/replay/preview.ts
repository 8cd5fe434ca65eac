/** What a selection means at this moment: how many, whose, how old, and what would be left out and why. Reads only. */
import { readCommand } from "#domain/commands.ts";
import { PreviewReplay } from "#domain/commands-replay.ts";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { Exclusion } from "#domain/replay.ts";
import { type RegionAnswer, readRegion } from "../read-region.ts";
import { readParent } from "./follow-up.ts";
import { asQueryable } from "./read-replay.ts";
import { exclusionsOf, SELECTION_COUNT_LIMIT, type SelectedEntry, selectEntries } from "./select-entries.ts";

export interface ReplayPreview {
  /** All that match, whatever their state; up to 100,000 are counted. */
  matching: number;
  matchingIsLowerBound: boolean;
  /** The oldest so many are taken. */
  limit: number;
  /** Would be in the batch. */
  items: number;
  excluded: Partial<Record<Exclusion, number>>;
  tenants: string[];
  destinations: string[];
  reasons: Readonly<Record<string, number>>;
  oldestDiedAt: string | null;
  newestDiedAt: string | null;
  payloadBytes: number;
}

/** @throws SluiceError `invalid_body`, `not_found` for a region outside the scope or a cause that does not exist, `bad_id` */
export async function previewReplay(
  scope: AccessScope,
  region: Region,
  input: unknown,
): Promise<RegionAnswer<ReplayPreview>> {
  const { selection, limit } = readCommand(PreviewReplay, input);
  const tenants = tenantsIn(scope, region);
  return readRegion(region, async (sql) => {
    await readParent(asQueryable(sql), selection, scope, region);
    const selected = await selectEntries(asQueryable(sql), selection, limit, tenants);
    const kept = selected.entries.filter(({ exclusion }) => exclusion === null);
    const { matching } = selected;
    return {
      matching,
      matchingIsLowerBound: matching >= SELECTION_COUNT_LIMIT,
      limit,
      excluded: exclusionsOf(selected),
      ...sumOf(kept),
    };
  });
}

function sumOf(kept: readonly SelectedEntry[]) {
  const reasons: Record<string, number> = {};
  for (const { reason } of kept) reasons[reason] = (reasons[reason] ?? 0) + 1;
  const at = (entry: SelectedEntry | undefined) =>
    entry === undefined ? null : new Date(entry.died_ms).toISOString();
  return {
    items: kept.length,
    tenants: [...new Set(kept.map(({ tenant_id }) => toPublicId("ten", tenant_id)))],
    destinations: [...new Set(kept.map(({ destination_id }) => toPublicId("dst", destination_id)))],
    reasons,
    oldestDiedAt: at(kept[0]),
    newestDiedAt: at(kept.at(-1)),
    payloadBytes: kept.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0),
  };
}
