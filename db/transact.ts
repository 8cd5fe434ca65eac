/**
 * One short transaction on a connection of its own, within the bounds that its caller gives it. It must never put a connection
 * back that may still hold a transaction, and never try again: whether the work may be repeated is the caller's to know.
 */
import type { Pool, PoolClient } from "pg";

/** Of one transaction. What is left out is as the session has it. */
export interface TransactionBounds {
  /** Longest wait for what another transaction holds; then it fails with 55P03. */
  readonly lockMs?: number;
  /** Longest statement; then it fails with 57014. */
  readonly statementMs?: number;
  /** A process that is stopped between two statements holds its rows no longer; then the connection is gone. */
  readonly idleMs?: number;
}

/** Runs `work` and commits what it did, or nothing of it. Rejects with what `work` or the commit threw. */
export async function transact<T>(
  pool: Pool,
  bounds: TransactionBounds,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query(beginWithin(bounds));
    const result = await work(client);
    await client.query("COMMIT");
    broken = false;
    return result;
  } catch (error) {
    broken = !(await client.query("ROLLBACK").then(
      () => true,
      () => false,
    ));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** One text, so that bounds cost no answer of their own. */
function beginWithin({ lockMs, statementMs, idleMs }: TransactionBounds): string {
  const bounds = {
    lock_timeout: lockMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleMs,
  };
  const given = Object.entries(bounds).filter(([, ms]) => ms !== undefined);
  return ["BEGIN", ...given.map(([name, ms]) => `SET LOCAL ${name} = ${ms}`)].join("; ");
}
