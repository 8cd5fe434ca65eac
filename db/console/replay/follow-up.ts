/**
 * A follow-up takes what an ended batch sent and what failed again. It is a batch of its own, with its own review, and it must
 * name another cause than the one that was believed in before. The first batch stays as it ended.
 */
import { isSameCause, type ReplaySelection } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { type AccessScope, covers } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayState } from "#domain/replay.ts";
import type { Queryable } from "../../queue/types.ts";

export interface Parent {
  /** UUID */
  readonly id: string;
  readonly rootCause: string | null;
}

/** Nothing of it can be sent any more. */
const RAN: readonly ReplayState[] = ["completed", "stopped", "failed"];

/**
 * The batch that a selection follows, or null when it follows none.
 * @throws SluiceError `not_found` for a batch that is not there or has tenants outside the scope, `state_conflict` while it
 *   has not ended, `bad_id`
 */
export async function readParent(
  client: Queryable,
  selection: ReplaySelection,
  scope: AccessScope,
  region: Region,
): Promise<Parent | null> {
  if (!("deadAgainOf" in selection)) return null;
  const { rows } = await client.query<{
    id: string;
    state: ReplayState;
    root_cause: string | null;
    tenant_ids: string[];
  }>("SELECT b.id, b.state, b.root_cause, b.tenant_ids FROM sluice.replay_batch b WHERE b.id = $1", [
    fromPublicId("rpl", selection.deadAgainOf),
  ]);
  const row = rows[0];
  if (row === undefined || !row.tenant_ids.every((tenantId) => covers(scope, { region, tenantId }))) {
    throw new SluiceError("not_found", "There is no such batch in your scope.");
  }
  if (!RAN.includes(row.state)) {
    throw new SluiceError(
      "state_conflict",
      `the batch is ${row.state}: a follow-up is of one that ran and has ended`,
    );
  }
  return { id: row.id, rootCause: row.root_cause };
}

/** @throws SluiceError `replay_same_cause` when there is none, or the one of the batch before */
export function requireNewCause(parent: Parent, rootCause: string | null | undefined): void {
  if (rootCause == null || rootCause === "") {
    throw new SluiceError("replay_same_cause", "a follow-up names its root cause from the beginning");
  }
  if (isSameCause(parent.rootCause, rootCause)) {
    throw new SluiceError(
      "replay_same_cause",
      "this cause was named by the batch before, and its entries failed again: find out what else it is",
    );
  }
}

/** The cause that the batch before had named; null when the batch follows none. */
export async function parentOf(client: Queryable, parentId: string | null): Promise<Parent | null> {
  if (parentId === null) return null;
  const { rows } = await client.query<{ root_cause: string | null }>(
    "SELECT root_cause FROM sluice.replay_batch WHERE id = $1",
    [parentId],
  );
  return { id: parentId, rootCause: rows[0]?.root_cause ?? null };
}
