/**
 * Which batch a batch follows, which follow it, and what a follow-up would take. Reads only. Another batch is named only to
 * those who may read every tenant of it.
 */
import { toPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";
import type { ReplayState } from "#domain/replay.ts";
import type { Reader } from "../read-region.ts";
import { scopeTerm } from "./replay-row.ts";
import type { ReplayDetail, ReplayLink } from "./replay-views.ts";

export type Family = Pick<ReplayDetail, "parent" | "followUps" | "followUpItems">;

const MAX_FOLLOW_UPS = 20;

interface LinkRow {
  id: string;
  name: string;
  state: ReplayState;
  root_cause: string | null;
}

/** Entries of the batch `$1` that failed again and stand where it left them. */
export const DEAD_AGAIN = `
  SELECT i.delivery_id FROM sluice.replay_item i WHERE i.batch_id = $1 AND i.state = 'dead_again'`;

export async function familyOf(
  sql: Reader,
  { id, parent_id }: { readonly id: string; readonly parent_id: string | null },
  tenants: TenantScope,
): Promise<Family> {
  const values: unknown[] = [id, parent_id];
  const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
  const links = await sql<LinkRow>(
    `SELECT b.id, b.name, b.state, b.root_cause FROM sluice.replay_batch b
      WHERE (b.parent_id = $1 OR b.id = $2) AND ${term} ORDER BY b.id DESC LIMIT ${MAX_FOLLOW_UPS + 1}`,
    values,
  );
  const [waiting] = await sql<{ n: number }>(
    `SELECT count(*)::integer AS n FROM sluice.dead_letter d
      WHERE d.id IN (${DEAD_AGAIN}) AND d.replay_batch_id = $1 AND d.will_not_replay_at IS NULL`,
    [id],
  );
  const parent = links.find((link) => link.id === parent_id);
  return {
    parent: parent === undefined ? null : { ...toLink(parent), rootCause: parent.root_cause },
    followUps: links.filter((link) => link.id !== parent_id).map(toLink),
    followUpItems: waiting?.n ?? 0,
  };
}

function toLink({ id, name, state }: LinkRow): ReplayLink {
  return { id: toPublicId("rpl", id), name, state };
}
