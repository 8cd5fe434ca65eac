/**
 * How often a sign-in may be tried. Each attempt is counted before the password is looked at, in one statement, so that
 * many at once cannot all pass. The rows hold hashes of addresses, never an address or a password.
 */
import { createHash } from "node:crypto";
import type { Pool } from "pg";

/** At most `max` attempts in `windowMs`, counted from the first one. */
export interface ThrottleRule {
  readonly max: number;
  readonly windowMs: number;
}

/** One account: five tries in a quarter of an hour. A right password takes the count away. */
export const ACCOUNT_RULE: ThrottleRule = { max: 5, windowMs: 15 * 60_000 };
/** One caller's address, where a proxy names it. */
export const ADDRESS_RULE: ThrottleRule = { max: 30, windowMs: 15 * 60_000 };
/** All callers together: each try costs a password hash of processor time. */
export const ALL_RULE: ThrottleRule = { max: 120, windowMs: 60_000 };

const MAX_ATTEMPTS_STORED = 1_000_000;
/** Old rows that one attempt may clear away. */
const SWEEP_ROWS = 20;
const KEPT_MS = 60 * 60_000;

const CONSUME = `
  INSERT INTO sluice.console_login_throttle AS t (key_sha256, attempts, window_at) VALUES ($1, 1, clock_timestamp())
  ON CONFLICT (key_sha256) DO UPDATE SET
    attempts = CASE WHEN t.window_at <= clock_timestamp() - $2::float8 * interval '1 millisecond' THEN 1
                    ELSE least(t.attempts + 1, ${MAX_ATTEMPTS_STORED}) END,
    window_at = CASE WHEN t.window_at <= clock_timestamp() - $2::float8 * interval '1 millisecond' THEN clock_timestamp()
                     ELSE t.window_at END
  RETURNING attempts, (extract(epoch FROM window_at - clock_timestamp()) * 1000 + $2::float8)::float8 AS left_ms`;

const SWEEP = `
  DELETE FROM sluice.console_login_throttle WHERE key_sha256 IN (
    SELECT key_sha256 FROM sluice.console_login_throttle
     WHERE window_at < clock_timestamp() - $1::float8 * interval '1 millisecond' LIMIT $2 FOR UPDATE SKIP LOCKED)`;

/**
 * Counts one attempt.
 * @returns null when it may go on, else the milliseconds until it may be tried again
 */
export async function countAttempt(pool: Pool, key: string, rule: ThrottleRule): Promise<number | null> {
  const { rows } = await pool.query<{ attempts: number; left_ms: number }>(CONSUME, [
    hash(key),
    rule.windowMs,
  ]);
  const row = rows[0];
  if (row === undefined) return null;
  if (row.attempts === 1) await pool.query(SWEEP, [KEPT_MS, SWEEP_ROWS]);
  if (row.attempts <= rule.max) return null;
  return Math.max(1_000, Math.ceil(row.left_ms));
}

/** Forgets the attempts of a key, after a success. */
export async function forgetAttempts(pool: Pool, key: string): Promise<void> {
  await pool.query("DELETE FROM sluice.console_login_throttle WHERE key_sha256 = $1", [hash(key)]);
}

function hash(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
