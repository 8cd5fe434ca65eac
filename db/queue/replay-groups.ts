/**
 * What the end of a batch means for the causes that its entries had: a cause of which it delivered something and that has no
 * entry left that waits for a person is resolved, whether the batch was completed or stopped. When it comes back it is told
 * as regressed, as after any other resolution. No entry is touched here.
 */
import type { Queryable } from "./types.ts";

const RESOLVE = `
  UPDATE sluice.dead_letter_group g
     SET state = 'resolved', resolved_at = clock_timestamp(), state_by = $2, state_at = clock_timestamp(), version = g.version + 1
   WHERE g.state <> 'resolved'
     AND g.fingerprint IN (SELECT DISTINCT i.former->>'fingerprint' FROM sluice.replay_item i WHERE i.batch_id = $1 AND i.state = 'delivered')
     AND NOT EXISTS (SELECT 1 FROM sluice.dead_letter d WHERE d.fingerprint = g.fingerprint AND d.will_not_replay_at IS NULL)`;

/** Returns how many causes were resolved. */
export async function resolveGroups(client: Queryable, batchId: string, actor: string): Promise<number> {
  const { rowCount } = await client.query(RESOLVE, [batchId, actor]);
  return rowCount ?? 0;
}
