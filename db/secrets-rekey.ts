/**
 * Which keys seal the stored secrets, and how they are all sealed anew under the current one while workers run. A row
 * is only ever written over the bytes that were read from it, so a secret that somebody rotates meanwhile stays. No
 * secret and no key may leave this file; ids of both may.
 */
import type { Pool } from "pg";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { type Keyring, openSecret, sealSecret } from "./secrets.ts";

/** Destinations that are read, sealed and written in one statement each. */
export const REKEY_CHUNK_ROWS = 200;
/** A row that others change all the time is looked at again this often before it is reported as left. */
const MAX_PASSES = 5;
const MAX_REPORTED = 20;
const MAX_KEY_IDS = 64;

/** The key id in sealed bytes; nothing where they are no sealed bytes. See `sealSecret` for the layout. */
const keyIdOf = (column: string): string =>
  `CASE WHEN length(${column}) > 2 AND get_byte(${column}, 0) = 1 THEN substr(${column}, 3, get_byte(${column}, 1)) END`;
const NOT_ENDED = "secret_previous_until > clock_timestamp()";

export interface SealingKey {
  readonly keyId: string;
  /** Destinations whose current, or still living previous, secret is sealed with it. */
  readonly destinations: number;
}

/** The keys in use, the most used first. Deleted destinations do not count: nothing is sent to them. */
export async function readSealingKeys(pool: Pick<Pool, "query">): Promise<SealingKey[]> {
  const { rows } = await pool.query<{ key_id: Buffer; n: number }>(
    `SELECT key_id, count(DISTINCT id)::integer AS n
       FROM (SELECT id, ${keyIdOf("secret_current")} AS key_id FROM sluice.destination WHERE deleted_at IS NULL
             UNION ALL
             SELECT id, ${keyIdOf("secret_previous")} FROM sluice.destination WHERE deleted_at IS NULL AND ${NOT_ENDED}) s
      WHERE key_id IS NOT NULL GROUP BY key_id ORDER BY n DESC, key_id LIMIT ${MAX_KEY_IDS}`,
  );
  return rows
    .map(({ key_id, n }) => ({ keyId: key_id.toString("latin1"), destinations: n }))
    .filter(({ keyId }) => /^[A-Za-z0-9._-]{1,32}$/.test(keyId));
}

/**
 * A worker without a key would end every delivery of that key's destinations as config_error, so it must not start.
 * @throws SluiceError `bad_config` naming the missing key's id
 */
export async function assertKeysFor(pool: Pick<Pool, "query">, keyring: Keyring): Promise<void> {
  const missing = (await readSealingKeys(pool)).find(({ keyId }) => !keyring.keys.has(keyId));
  if (missing === undefined) return;
  throw new SluiceError(
    "bad_config",
    `SLUICE_SECRET_KEYS lacks the key "${missing.keyId}", which seals secrets in use (destinations: ${missing.destinations})`,
  );
}

export interface RekeyResult {
  readonly keyId: string;
  /** Destinations whose secrets were sealed anew. */
  readonly sealed: number;
  /** Destinations that changed under every pass; run it again. */
  readonly left: number;
  /** Ids of destinations with a secret that no key of the keyring opens, at most 20 of them; `unreadable` counts all. */
  readonly unreadableIds: readonly string[];
  readonly unreadable: number;
}

interface SecretRow {
  readonly id: string;
  readonly secret_current: Buffer;
  readonly secret_previous: Buffer | null;
  readonly ended: boolean;
}

/**
 * Seals every secret that is not sealed under the current key anew, in chunks; previous secrets that have ended are
 * removed instead. Each chunk is one statement: what was done stays done when the rest fails, and a second run goes on.
 * Versions stay: what the secrets say has not changed.
 * @param onChunk called after each chunk with the destinations sealed so far
 */
export async function rekeySecrets(
  pool: Pick<Pool, "query">,
  keyring: Keyring,
  onChunk: (sealed: number) => void = () => {},
): Promise<RekeyResult> {
  const unreadable = new Set<string>();
  let sealed = 0;
  let left = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    left = 0;
    let after = "00000000-0000-0000-0000-000000000000";
    for (let rows = await readChunk(pool, keyring, after); rows.length > 0; ) {
      const ready = rows.flatMap((row) => sealAnew(row, keyring, unreadable));
      const written = await writeChunk(pool, ready);
      sealed += written;
      left += ready.length - written;
      onChunk(sealed);
      after = rows.at(-1)?.id ?? after;
      rows = await readChunk(pool, keyring, after);
    }
    if (left === 0) break;
  }
  return {
    keyId: keyring.current,
    sealed,
    left,
    unreadable: unreadable.size,
    unreadableIds: [...unreadable].slice(0, MAX_REPORTED),
  };
}

async function readChunk(pool: Pick<Pool, "query">, keyring: Keyring, after: string): Promise<SecretRow[]> {
  const { rows } = await pool.query<SecretRow>(
    `SELECT id, secret_current, secret_previous, coalesce(secret_previous_until <= clock_timestamp(), false) AS ended
       FROM sluice.destination
      WHERE id > $1 AND (${keyIdOf("secret_current")} IS DISTINCT FROM $2::bytea
             OR (secret_previous IS NOT NULL AND (NOT ${NOT_ENDED} OR ${keyIdOf("secret_previous")} IS DISTINCT FROM $2::bytea)))
      ORDER BY id LIMIT ${REKEY_CHUNK_ROWS}`,
    [after, Buffer.from(keyring.current, "latin1")],
  );
  return rows;
}

interface Resealed extends SecretRow {
  readonly newCurrent: Buffer;
  readonly newPrevious: Buffer | null;
}

function sealAnew(row: SecretRow, keyring: Keyring, unreadable: Set<string>): Resealed[] {
  const again = (sealed: Buffer) => sealSecret(keyring, openSecret(keyring, sealed));
  try {
    const previous = row.ended ? null : row.secret_previous;
    return [
      {
        ...row,
        newCurrent: again(row.secret_current),
        newPrevious: previous === null ? null : again(previous),
      },
    ];
  } catch (error) {
    if (!isSluiceError(error, "bad_secret")) throw error;
    unreadable.add(row.id);
    return [];
  }
}

async function writeChunk(pool: Pick<Pool, "query">, rows: readonly Resealed[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await pool.query(
    `UPDATE sluice.destination d
        SET secret_current = u.new_current, secret_previous = u.new_previous,
            secret_previous_until = CASE WHEN u.new_previous IS NOT NULL THEN d.secret_previous_until END
       FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[])
              AS u(id, old_current, old_previous, new_current, new_previous)
      WHERE d.id = u.id AND d.secret_current = u.old_current AND d.secret_previous IS NOT DISTINCT FROM u.old_previous`,
    [
      rows.map(({ id }) => id),
      rows.map((row) => row.secret_current),
      rows.map((row) => row.secret_previous),
      rows.map((row) => row.newCurrent),
      rows.map((row) => row.newPrevious),
    ],
  );
  return rowCount ?? 0;
}
