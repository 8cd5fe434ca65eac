/**
 * An Idempotency-Key in the region whose row changes. The key is taken first, in the very transaction of the change, and
 * its answer is stored there before the commit: a crash leaves both or neither, and of two equal requests at once the
 * second waits for the first one's end. A refusal stores nothing, so a repeat of it is judged anew. Retention removes
 * answers after a day. A secret must never be part of an answer that is kept.
 */
import type { PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import type { CommandAnswer, CommandContext } from "./run-command.ts";

/** What a repeat is told; whether it is applied is found out anew, behind a barrier of its own. */
export type StoredAnswer = Omit<CommandAnswer, "applied" | "replayed">;

export interface IdempotencyKey {
  /** 1 to 255 visible ASCII characters; a key belongs to its actor. */
  readonly key: string;
  /** SHA-256 over all that makes two requests the same. */
  readonly requestSha256: Uint8Array;
}

const LOCK_NOT_AVAILABLE = "55P03";
const RETRY_AFTER_MS = 1_000;
const OK = 200;

/**
 * Takes the key for this transaction.
 * @returns null when it is new; the stored answer when the same request has been done
 * @throws SluiceError `idempotency_mismatch`, or `request_in_progress` while another transaction holds the key for longer
 *   than the lock timeout
 */
export async function takeKey(
  client: PoolClient,
  { actor, region }: Pick<CommandContext, "actor" | "region">,
  { key, requestSha256 }: IdempotencyKey,
): Promise<StoredAnswer | null> {
  const taken = await client
    .query(
      `INSERT INTO sluice.api_idempotency (idempotency_key, actor, region, request_sha256) VALUES ($1, $2, $3, $4)
       ON CONFLICT (idempotency_key, actor) DO NOTHING`,
      [key, actor, region, Buffer.from(requestSha256)],
    )
    .catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      throw inProgress();
    });
  if (taken.rowCount === 1) return null;
  // A new statement: its snapshot sees what the insert has waited for.
  const { rows } = await client.query<{ request_sha256: Buffer; answer: StoredAnswer | null }>(
    "SELECT request_sha256, answer FROM sluice.api_idempotency WHERE idempotency_key = $1 AND actor = $2",
    [key, actor],
  );
  const known = rows[0];
  // Retention has taken it in between: as if it were going on, so that the caller asks again.
  if (known === undefined || known.answer === null) throw inProgress();
  if (!known.request_sha256.equals(Buffer.from(requestSha256))) {
    throw new SluiceError(
      "idempotency_mismatch",
      "this Idempotency-Key has answered another request: use a new key for a new change",
    );
  }
  return known.answer;
}

/** Stores what a repeat will be told, in the transaction of the change. */
export async function storeAnswer(
  client: PoolClient,
  actor: string,
  { key }: IdempotencyKey,
  answer: StoredAnswer,
): Promise<void> {
  await client.query(
    "UPDATE sluice.api_idempotency SET status = $3, answer = $4 WHERE idempotency_key = $1 AND actor = $2",
    [key, actor, OK, JSON.stringify(answer)],
  );
}

function inProgress(): SluiceError {
  return new SluiceError("request_in_progress", "the first request with this Idempotency-Key has not ended", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
