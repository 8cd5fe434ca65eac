/** The batch that a command is about, locked and compared with the version that the caller saw. */
import type { PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { lockBatch, type ReplayBatchRow } from "../../queue/replay-rows.ts";
import { versionConflict } from "../commands/locked-row.ts";
import { type Facts, Refusal } from "../commands/run-command.ts";

/**
 * @param seen null: the state is guard enough (a stop must not fail because the runner has just taken a step)
 * @throws Refusal `not_found`, `version_conflict`
 */
export async function lockReplay(
  client: PoolClient,
  publicId: string,
  seen: number | null,
): Promise<ReplayBatchRow> {
  const batch = await lockBatch(client, fromPublicId("rpl", publicId));
  if (batch === null) {
    throw new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
  }
  if (seen !== null && batch.version !== seen)
    throw versionConflict(publicId, seen, batch.version, batchFacts(batch));
  return batch;
}

export function batchFacts({ state, name, rate_cap }: ReplayBatchRow): Facts {
  return { state, name, rateCap: rate_cap };
}

/** For the audit, which is read by tenant; a batch of several is a matter of the region. */
export function tenantOf({ tenant_ids }: Pick<ReplayBatchRow, "tenant_ids">): string | null {
  return tenant_ids.length === 1 ? (tenant_ids[0] ?? null) : null;
}
