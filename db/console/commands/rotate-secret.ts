/**
 * Gives a destination a new signing secret. The plain secret is in the answer of this one call and nowhere else: not in
 * the audit, not in a log, not in an error. A caller that keeps answers for repeated requests must leave it out.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { RotateSecret, type RotateSecret as RotateSecretInput } from "#domain/commands-secret.ts";
import { type Keyring, newSigningSecret, sealSecret } from "../../secrets.ts";
import { isoOf, lockDestination, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

export interface SecretContext extends CommandContext {
  /** Seals the new secret with its current key. Every worker of the region must have that key already. */
  readonly keyring: Keyring;
  /** n bytes that nobody can guess; default node:crypto's. */
  readonly randomBytes?: (n: number) => Uint8Array;
}

export interface RotatedSecret {
  readonly answer: CommandAnswer;
  /** `whsec_...`, shown once; null when this is the answer of a repeat, which never holds it. */
  readonly secret: string | null;
  /** Until when the previous secret signs too, ISO in UTC; null: it has ended. */
  readonly previousUntil: string | null;
}

interface SecretTimes {
  readonly version: number;
  readonly set_ms: number;
  readonly previous_until_ms: number | null;
}

/** What becomes the previous secret: an expression over the row as it was. */
const KEPT = { current: "secret_current", previous: "secret_previous", none: "NULL::bytea" } as const;

/**
 * The next attempt signs with the new secret, and with the kept one too while that lives.
 * @throws SluiceError `state_conflict` when the current one is to be kept while an earlier one still lives (there is
 *   room for two), or the previous one when there is none; and those of readCommand and runCommand
 */
export async function rotateSecret(context: SecretContext, input: RotateSecretInput): Promise<RotatedSecret> {
  const command = readCommand(RotateSecret, input);
  const { reason, ticket, destinationId: targetId, keep, keepMs } = command;
  const secret = newSigningSecret(context.randomBytes);
  const sealed = sealSecret(context.keyring, secret);
  const answer = await runCommand(
    context,
    { action: "destination.rotate_secret", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      const before = await readTimes(client, row.id);
      checkKept(keep, before, nowMs);
      const { rows } = await client.query<SecretTimes>(
        `UPDATE sluice.destination
            SET secret_previous = ${KEPT[keep]},
                secret_previous_until = CASE WHEN $4 THEN clock_timestamp() + $5::float8 * interval '1 millisecond' END,
                secret_current = $3, secret_set_at = clock_timestamp(), version = version + 1
          WHERE id = $1 AND version = $2 RETURNING ${TIMES}`,
        [row.id, row.version, sealed, keep !== "none", keepMs],
      );
      const after = oneRow(rows);
      const kept = { ...facts(after), kept: keep };
      return { tenantId: row.tenant_id, version: after.version, before: facts(before), after: kept };
    },
  );
  const { previousSecretUntil } = answer.after;
  return {
    answer,
    secret: answer.replayed ? null : secret,
    previousUntil: typeof previousSecretUntil === "string" ? previousSecretUntil : null,
  };
}

function checkKept(keep: keyof typeof KEPT, before: SecretTimes, nowMs: number): void {
  const lives = (before.previous_until_ms ?? 0) > nowMs;
  if (keep === "current" && lives) {
    const until = isoOf(before.previous_until_ms);
    throw stateConflict(`the previous secret still signs until ${until}: end it first`, facts(before));
  }
  if (keep === "previous" && !lives)
    throw stateConflict("there is no previous secret to keep", facts(before));
}

const TIMES = `version, (extract(epoch FROM secret_set_at) * 1000)::float8 AS set_ms,
  (extract(epoch FROM secret_previous_until) * 1000)::float8 AS previous_until_ms`;

/** The row is locked already. */
export async function readTimes(client: PoolClient, id: string): Promise<SecretTimes> {
  const { rows } = await client.query<SecretTimes>(`SELECT ${TIMES} FROM sluice.destination WHERE id = $1`, [
    id,
  ]);
  return oneRow(rows);
}

/** What the audit keeps: when, never what. */
export function facts(times: SecretTimes): Facts {
  return { secretSetAt: isoOf(times.set_ms), previousSecretUntil: isoOf(times.previous_until_ms) };
}
