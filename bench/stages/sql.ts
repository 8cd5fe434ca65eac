/**
 * When claims happened, which the database forgets with the lease: a trigger keeps it for as long as a bench wants it. Only in a database
 * that the bench made.
 */
import type { Pool } from "pg";
import { type AttemptRow, ms, STORED, type StoredAttempt, toStored } from "../due-lag/sql.ts";

/** A stored attempt with its way; moments in milliseconds since 1970 with a fraction, by the database's clock. */
export interface StagedAttempt extends StoredAttempt {
  /** The claim's statement was about to be sent, to the millisecond below. */
  readonly askedMs: number;
  /** The claim had its lock. */
  readonly lockedMs: number;
  /** The claim had chosen its rows; its commit and its answer were still to come. */
  readonly claimedMs: number;
  /** The request started. */
  readonly startedMs: number;
}

interface StagedRow extends AttemptRow {
  asked_ms: number;
  locked_ms: number;
  claimed_ms: number;
  started_ms: number;
}

/**
 * From now on each claim of a row is kept, with the token that it was made under. Costs a claim some microseconds for each row.
 * @param tenantId only the claims of this tenant's rows: those of all others cost next to nothing then
 */
export async function noteClaims(pool: Pool, tenantId: string | null = null): Promise<void> {
  // A trigger's condition cannot hold a parameter; the id is a uuid of the bench's own making.
  const isWanted = tenantId === null ? "" : `AND NEW.tenant_id = '${tenantId}'`;
  await pool.query(`
    CREATE UNLOGGED TABLE sluice.bench_claim (token uuid, delivery_id uuid, locked_at timestamptz, claimed_at timestamptz,
                                              PRIMARY KEY (token, delivery_id));
    CREATE FUNCTION sluice.bench_note_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO sluice.bench_claim VALUES (NEW.lease_token, NEW.id, NEW.leased_at, clock_timestamp());
      RETURN NULL;
    END $$;
    CREATE TRIGGER bench_note_claim AFTER UPDATE ON sluice.delivery FOR EACH ROW
      WHEN (NEW.state = 'leased' AND OLD.state <> 'leased' ${isWanted}) EXECUTE FUNCTION sluice.bench_note_claim()`);
}

export async function forgetClaims(pool: Pool): Promise<void> {
  await pool.query("TRUNCATE sluice.bench_claim");
}

/** Every HTTP attempt of the tenant whose claim was noted. A lease's token is a UUIDv7, drawn as its claim is sent. */
export async function stagedAttempts(pool: Pool, tenantId: string): Promise<StagedAttempt[]> {
  const { rows } = await pool.query<StagedRow>(
    `SELECT ${STORED}, ('x' || left(replace(a.lease_token::text, '-', ''), 12))::bit(48)::bigint::float8 AS asked_ms,
            ${ms("c.locked_at")} AS locked_ms, ${ms("c.claimed_at")} AS claimed_ms, ${ms("a.started_at")} AS started_ms
       FROM sluice.attempt a JOIN sluice.bench_claim c ON c.token = a.lease_token AND c.delivery_id = a.delivery_id
      WHERE a.tenant_id = $1 AND a.kind = 'http'`,
    [tenantId],
  );
  return rows.map((row) => ({
    ...toStored(row),
    askedMs: row.asked_ms,
    lockedMs: row.locked_ms,
    claimedMs: row.claimed_ms,
    startedMs: row.started_ms,
  }));
}
