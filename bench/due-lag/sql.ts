/**
 * What the database stored about due times, for comparison with what the receiver saw; and when claims happened, which it forgets with
 * the lease and a trigger keeps for as long as a bench wants it.
 */
import type { Pool } from "pg";
import { toPublicId } from "#domain/ids.ts";

export interface StoredAttempt {
  readonly webhookId: string;
  readonly number: number;
  /** The due time that stood on the row when it was claimed, in milliseconds since 1970 with a fraction. */
  readonly dueAtMs: number;
  /** Started before that, by the database's own clock. */
  readonly early: boolean;
}

/** The same with the way of the attempt; moments as above. */
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

interface AttemptRow {
  delivery_id: string;
  number: number;
  due_ms: number;
  early: boolean;
}

interface StagedRow extends AttemptRow {
  asked_ms: number;
  locked_ms: number;
  claimed_ms: number;
  started_ms: number;
}

const ms = (moment: string) => `(extract(epoch FROM ${moment}) * 1000)::float8`;
const STORED = `a.delivery_id, a.number, ${ms("a.due_at")} AS due_ms, a.started_at < a.due_at AS early`;

/** Every HTTP attempt of the tenant. */
export async function storedAttempts(pool: Pool, tenantId: string): Promise<StoredAttempt[]> {
  const { rows } = await pool.query<AttemptRow>(
    `SELECT ${STORED} FROM sluice.attempt a WHERE a.tenant_id = $1 AND a.kind = 'http'`,
    [tenantId],
  );
  return rows.map(toStored);
}

/** From now on each claim of a row is kept, with the token that it was made under. Costs a claim some microseconds for each row. */
export async function noteClaims(pool: Pool): Promise<void> {
  await pool.query(`
    CREATE UNLOGGED TABLE sluice.bench_claim (token uuid, delivery_id uuid, locked_at timestamptz, claimed_at timestamptz,
                                              PRIMARY KEY (token, delivery_id));
    CREATE FUNCTION sluice.bench_note_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO sluice.bench_claim VALUES (NEW.lease_token, NEW.id, NEW.leased_at, clock_timestamp());
      RETURN NULL;
    END $$;
    CREATE TRIGGER bench_note_claim AFTER UPDATE ON sluice.delivery FOR EACH ROW
      WHEN (NEW.state = 'leased' AND OLD.state <> 'leased') EXECUTE FUNCTION sluice.bench_note_claim()`);
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

function toStored(row: AttemptRow): StoredAttempt {
  return {
    webhookId: toPublicId("dlv", row.delivery_id),
    number: row.number,
    dueAtMs: row.due_ms,
    early: row.early,
  };
}
