/**
 * Erases a body in its one place. Every later attempt of every delivery that uses it ends as `payload_erased` without a
 * request. What stays: the key with the body's SHA-256 (a repeat must still be recognised), sizes, and what receivers
 * answered. A request that has read the body already is on its way and is not called back.
 */
import { ErasePayload, readCommand } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, uuidV7TimeMs } from "#domain/ids.ts";
import { isoOf, stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, Refusal, runCommand } from "./run-command.ts";

/** A payload and its deliveries are written in one statement and share their ids' millisecond; a foreign writer may be this far off. */
const SAME_WRITE_MS = 1_000;

/**
 * `after` counts the deliveries that use it: `waiting` and `dead` ones can no longer be sent; `leased` ones may be in
 * flight at this moment, with the body.
 * @throws SluiceError `not_found`, `state_conflict` when it was erased already, and those of readCommand and runCommand
 */
export async function erasePayload(context: CommandContext, input: ErasePayload): Promise<CommandAnswer> {
  const command = readCommand(ErasePayload, input);
  const { reason, ticket, payloadId: targetId } = command;
  const id = fromPublicId("pay", targetId);
  return runCommand(
    context,
    { action: "payload.erase", targetKind: "payload", targetId, reason, ticket },
    async (client) => {
      const found = await client.query<{ size_bytes: number; erased_ms: number | null }>(
        "SELECT size_bytes, (extract(epoch FROM erased_at) * 1000)::float8 AS erased_ms FROM sluice.payload WHERE id = $1 FOR UPDATE",
        [id],
      );
      const payload = found.rows[0];
      if (payload === undefined) {
        throw new Refusal(
          "conflict",
          new SluiceError("not_found", `${targetId} does not exist in this region`),
        );
      }
      const before = { erased: payload.erased_ms !== null, sizeBytes: payload.size_bytes };
      if (payload.erased_ms !== null) {
        throw stateConflict("the payload was erased already", {
          ...before,
          erasedAt: isoOf(payload.erased_ms),
        });
      }
      await client.query(
        "UPDATE sluice.payload SET body = NULL, erased_at = clock_timestamp() WHERE id = $1 AND erased_at IS NULL",
        [id],
      );
      const { tenantId, ...counts } = await countUsers(client, id);
      return { tenantId, version: null, before, after: { erased: true, ...counts } };
    },
  );
}

interface Users {
  readonly tenantId: string | null;
  readonly waiting: number;
  readonly leased: number;
  readonly dead: number;
  readonly delivered: number;
}

/** Found by the time in their ids: no index leads from a payload to its deliveries, and the live table is large. */
async function countUsers(
  client: { query: CommandContext["pool"]["query"] },
  payloadId: string,
): Promise<Users> {
  const ms = timeOf(payloadId);
  if (ms === null) return { tenantId: null, waiting: 0, leased: 0, dead: 0, delivered: 0 };
  const { rows } = await client.query<Users>(
    `SELECT min(tenant_id::text) AS "tenantId",
            count(*) FILTER (WHERE state IN ('ready', 'delayed'))::integer AS waiting, count(*) FILTER (WHERE state = 'leased')::integer AS leased,
            count(*) FILTER (WHERE state = 'dead')::integer AS dead, count(*) FILTER (WHERE state = 'delivered')::integer AS delivered
       FROM sluice.delivery_all
      WHERE id >= sluice.uuid_floor(to_timestamp($2::float8 / 1000)) AND id < sluice.uuid_floor(to_timestamp($3::float8 / 1000))
        AND payload_id = $1`,
    [payloadId, ms - SAME_WRITE_MS, ms + SAME_WRITE_MS],
  );
  return rows[0] ?? { tenantId: null, waiting: 0, leased: 0, dead: 0, delivered: 0 };
}

function timeOf(uuid: string): number | null {
  try {
    return uuidV7TimeMs(uuid);
  } catch {
    return null;
  }
}
