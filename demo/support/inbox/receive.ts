/**
 * The heart of a receiving endpoint: the key is claimed, the effect applied and the result stored in ONE transaction, and
 * only its commit is acknowledged. A crash before the commit leaves nothing, one after it leaves a key that is known.
 * A refusal never keeps a key: a delivery that is put right and sent again must still be able to succeed.
 */
import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { ENRICHMENT_WANTED, FOLLOW_UP_DUE, INDEX_WANTED, type KnownMessage } from "../messages.ts";
import { ADD_ACTIVITY, CLAIM_KEY, PUT_DOCUMENT, READ_KEY, STORE_RESULT } from "./sql.ts";

/** `applied`: the effect is there. `superseded`: something newer was there. `ignored`: a type that we do not know. */
export type ReceivedResult = "applied" | "superseded" | "ignored";

export interface Receipt {
  readonly result: ReceivedResult;
  /** The key was known: this is its result from then, and nothing has happened now. */
  readonly repeated: boolean;
}

/** An authenticated message of one endpoint. */
export interface InboundMessage {
  readonly region: Region;
  /** The endpoint, by the sender's destination id (a UUID). */
  readonly endpointId: string;
  readonly idempotencyKey: string;
  readonly webhookId: string;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
  /** Null: a type that this endpoint does not know. */
  readonly message: KnownMessage | null;
}

interface KeyRow {
  idempotency_key: string;
  webhook_id: string;
  body_sha256: Buffer;
  result: ReceivedResult | null;
}

/**
 * Resolves when the effect and its key are committed, or when the key was known already.
 * @throws SluiceError `idempotency_mismatch` when the key or the webhook-id stands for something else
 * @throws what the database throws: then nothing was written, or, when the reply to COMMIT was lost, all of it was; the
 *   sender comes back with the same key in both cases
 */
export async function receive(pool: Pool, inbound: InboundMessage): Promise<Receipt> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("BEGIN");
    const receipt = await claimAndApply(client, inbound);
    await client.query("COMMIT");
    return receipt;
  } catch (error) {
    failure = await rollBack(client, error);
    throw error;
  } finally {
    // A connection that failed is not used again: its transaction must not be anybody else's.
    client.release(failure);
  }
}

async function claimAndApply(client: PoolClient, inbound: InboundMessage): Promise<Receipt> {
  const sha256 = createHash("sha256").update(inbound.body).digest();
  const { endpointId, idempotencyKey, region, webhookId } = inbound;
  const claimed = await client.query(CLAIM_KEY, [endpointId, idempotencyKey, region, webhookId, sha256]);
  if (claimed.rowCount === 0) return readReceipt(client, inbound, sha256);
  const result = await applyEffect(client, inbound);
  await client.query(STORE_RESULT, [endpointId, idempotencyKey, result]);
  return { result, repeated: false };
}

/** In a statement of its own, whose snapshot sees what the claim has waited for. */
async function readReceipt(client: PoolClient, inbound: InboundMessage, sha256: Buffer): Promise<Receipt> {
  const { endpointId, idempotencyKey, webhookId } = inbound;
  const { rows } = await client.query<KeyRow>(READ_KEY, [endpointId, idempotencyKey, webhookId]);
  const [known] = rows;
  if (known === undefined) {
    throw new SluiceError("overloaded", "The key was known and is gone: it was forgotten just now.");
  }
  const isSame =
    rows.length === 1 &&
    known.idempotency_key === idempotencyKey &&
    known.webhook_id === webhookId &&
    known.body_sha256.equals(sha256);
  if (!isSame || known.result === null) {
    throw new SluiceError(
      "idempotency_mismatch",
      "This Idempotency-Key or webhook-id was used with another body or with each other's. Nothing was done.",
    );
  }
  return { result: known.result, repeated: true };
}

async function applyEffect(client: PoolClient, inbound: InboundMessage): Promise<ReceivedResult> {
  const { message, region, endpointId, idempotencyKey } = inbound;
  if (message === null) return "ignored";
  const { ticket } = message;
  switch (message.type) {
    case FOLLOW_UP_DUE: {
      const detail = `promised for ${message.followUpAt}`;
      await client.query(ADD_ACTIVITY, [region, endpointId, ticket.id, "follow_up", idempotencyKey, detail]);
      return "applied";
    }
    case ENRICHMENT_WANTED: {
      const detail = `version ${ticket.version}`;
      await client.query(ADD_ACTIVITY, [region, endpointId, ticket.id, "enrichment", idempotencyKey, detail]);
      return "applied";
    }
    case INDEX_WANTED: {
      const values = [endpointId, ticket.id, region, ticket.version, ticket.subject];
      const { rowCount } = await client.query(PUT_DOCUMENT, values);
      return rowCount === 0 ? "superseded" : "applied";
    }
  }
}

/** @returns an error when the connection cannot be used any more */
async function rollBack(client: PoolClient, cause: unknown): Promise<Error | undefined> {
  try {
    await client.query("ROLLBACK");
    return undefined;
  } catch {
    return cause instanceof Error ? cause : new Error("the connection broke");
  }
}
