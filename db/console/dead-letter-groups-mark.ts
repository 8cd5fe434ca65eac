/**
 * DLQ-3 for a whole cause: says of its entries that they will not be sent again, and why, at most 500 in one transaction.
 * Every row stays, with all that it has. What was not shown when the person decided is never among them.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { WillNotReplayGroup } from "#domain/dead-letter-commands.ts";
import { MAX_MARKED_ROWS } from "#domain/dead-letter-group.ts";
import { stateConflict } from "./commands/locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./commands/run-command.ts";
import { COUNT_LIMIT } from "./dead-letter-groups-counts.ts";
import { lockGroup } from "./dead-letter-groups-triage.ts";

/**
 * Marks the oldest entries that died until `until` and are not marked yet. `after.marked` says how many, `after.left` how
 * many of them are still to be marked (up to 10,000): call it again until that is 0. The group's version stays, so that
 * the calls of one decision follow each other. Entries that another change holds at this moment are passed over.
 * @throws SluiceError `state_conflict` when there is none (any more), and those of triageGroup
 */
export async function markGroup(context: CommandContext, input: WillNotReplayGroup): Promise<CommandAnswer> {
  const command = readCommand(WillNotReplayGroup, input);
  const { groupId, reason, ticket, version, until } = command;
  return runCommand(
    context,
    {
      action: "dead_letter_group.will_not_replay",
      targetKind: "dead_letter_group",
      targetId: groupId,
      reason,
      ticket,
    },
    async (client) => {
      const row = await lockGroup(client, groupId, version);
      const open = await countOpen(client, row.fingerprint, until);
      if (open === 0)
        throw stateConflict("it was said of all these entries already that they will not be replayed");
      const marked = await mark(client, row.fingerprint, until, reason);
      return {
        tenantId: row.tenantId,
        version: row.version,
        before: { open, until },
        after: { marked, left: open - marked, until },
      };
    },
  );
}

async function countOpen(client: PoolClient, fingerprint: string, until: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM (
       SELECT 1 FROM sluice.dead_letter
        WHERE fingerprint = $1 AND died_at <= $2::timestamptz AND will_not_replay_at IS NULL LIMIT ${COUNT_LIMIT}) r`,
    [fingerprint, until],
  );
  return rows[0]?.n ?? 0;
}

async function mark(client: PoolClient, fingerprint: string, until: string, reason: string): Promise<number> {
  const { rowCount } = await client.query(
    `UPDATE sluice.dead_letter d
        SET will_not_replay_at = clock_timestamp(), will_not_replay_reason = $3, version = d.version + 1
       FROM (SELECT l.id FROM sluice.dead_letter l
              WHERE l.fingerprint = $1 AND l.died_at <= $2::timestamptz AND l.will_not_replay_at IS NULL
              ORDER BY l.died_at, l.id LIMIT ${MAX_MARKED_ROWS} FOR UPDATE SKIP LOCKED) o
      WHERE d.id = o.id`,
    [fingerprint, until, reason],
  );
  return rowCount ?? 0;
}
