/**
 * Erases a body in its one place. Every later attempt of every delivery that uses it ends as `payload_erased` without a
 * request. What stays: the key with the body's SHA-256 (a repeat must still be recognised), sizes, and what receivers
 * answered. A request that has read the body already is on its way and is not called back.
 */
import type { PoolClient } from "pg";
import { ErasePayload, readCommand } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, uuidV7TimeMs } from "#domain/ids.ts";
import { isoOf, stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, type Facts, Refusal, runCommand } from "./run-command.ts";

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
      const payload = await lockPayload(client, id, targetId);
      const before = payloadFacts(payload);
      // A restricted body lies apart; with it goes the last copy.
      const restricted = await client.query("DELETE FROM sluice.payload_restricted WHERE payload_id = $1", [
        id,
      ]);
      if (payload.erased_ms !== null && restricted.rowCount === 0) {
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
      return { tenantId, version: null, before, after: { erased: true, restricted: false, ...counts } };
    },
  );
}

export interface PayloadRow {
  readonly size_bytes: number;
  readonly erased_ms: number | null;
  readonly restricted: boolean;
  /** Retention has dropped the payload's day; only restricted bytes are left of it. */
  readonly gone: boolean;
}

const PAYLOAD = `
  SELECT p.size_bytes, (extract(epoch FROM p.erased_at) * 1000)::float8 AS erased_ms, false AS gone,
         EXISTS (SELECT 1 FROM sluice.payload_restricted r WHERE r.payload_id = p.id) AS restricted
    FROM sluice.payload p WHERE p.id = $1 FOR UPDATE OF p`;
const RESTRICTED_ONLY = `
  SELECT length(r.body) AS size_bytes, NULL AS erased_ms, true AS gone, true AS restricted
    FROM sluice.payload_restricted r WHERE r.payload_id = $1 FOR UPDATE OF r`;

/** @throws Refusal `not_found` */
export async function lockPayload(client: PoolClient, id: string, publicId: string): Promise<PayloadRow> {
  for (const statement of [PAYLOAD, RESTRICTED_ONLY]) {
    const { rows } = await client.query<PayloadRow>(statement, [id]);
    if (rows[0] !== undefined) return rows[0];
  }
  throw new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
}

export function payloadFacts({ erased_ms, restricted, size_bytes }: PayloadRow): Facts {
  return { erased: erased_ms !== null && !restricted, restricted, sizeBytes: size_bytes };
}

interface Users {
  readonly tenantId: string | null;
  readonly waiting: number;
  readonly leased: number;
  readonly dead: number;
  readonly delivered: number;
}

/** The tenant whose deliveries use a payload; null when there is no such payload. One payload is one tenant's. */
export async function findPayloadTenant(
  pool: Pick<CommandContext["pool"], "query">,
  id: string,
): Promise<{ readonly tenantId: string | null } | null> {
  const { rows } = await pool.query(
    "SELECT 1 FROM sluice.payload WHERE id = $1 UNION ALL SELECT 1 FROM sluice.payload_restricted WHERE payload_id = $1",
    [id],
  );
  return rows.length === 0 ? null : { tenantId: (await countUsers(pool, id)).tenantId };
}

/** Found by the time in their ids: no index leads from a payload to its deliveries, and the live table is large. */
export async function countUsers(
  client: Pick<CommandContext["pool"], "query">,
  payloadId: string,
): Promise<Users> {
  const ms = timeOf(payloadId);
  if (ms === null) return { tenantId: null, waiting: 0, leased: 0, dead: 0, delivered: 0 };
  const { rows } = await client.query<Users>(
    `SELECT CASE WHEN min(tenant_id::text) = max(tenant_id::text) THEN min(tenant_id::text) END AS "tenantId",
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
