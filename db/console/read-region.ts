/**
 * How the console asks a region: read only, in one snapshot, within a bound, and only from the region's own database.
 * A region that does not answer becomes an answer that says so; it must never become a zero or an empty list.
 */
import type { PoolClient, QueryResult, QueryResultRow } from "pg";
import { isSluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { regionPool } from "../regions.ts";

/** Longest wait for a connection. */
export const CONNECT_TIMEOUT_MS = 1_500;
/** Longest single statement. */
export const STATEMENT_TIMEOUT_MS = 3_000;
/** Longest read of one region altogether, its connection included. */
export const READ_TIMEOUT_MS = 4_000;

/** What one region said, or that it said nothing. `asOf` is the region's own database time, UTC. */
export type RegionAnswer<T> =
  | { region: Region; status: "ok"; asOf: string; data: T }
  | { region: Region; status: "unavailable"; detail: string };

/** Runs one statement and returns its rows. */
export type Reader = <Row extends QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** The region did not answer in time. */
class RegionTimeoutError extends Error {
  override readonly name = "RegionTimeoutError";
}

/** The database answered, but it is not this region's, or was never migrated. */
class RegionUnusableError extends Error {
  override readonly name = "RegionUnusableError";
}

/**
 * Reads are small and planned for few rows: compiling one takes longer than running it, helpers of a large scan would take
 * the cores of workers and of other readers, and the memory of a sum over ten thousand destinations is known.
 */
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS};
  SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL work_mem = '16MB'`;
/** Goes with the begin, so that a read does not wait for one more answer. */
const BEGIN_AND_WHO = `${BEGIN};
  SELECT clock_timestamp() AS as_of, (SELECT region FROM sluice.region_control) AS region`;

/**
 * Reads from one region. `read` gets the statement runner and the database time that the answer is of.
 * Errors of our own statements are thrown; everything that means "the region does not answer" is returned.
 */
export async function readRegion<T>(
  region: Region,
  read: (sql: Reader, asOf: Date) => Promise<T>,
): Promise<RegionAnswer<T>> {
  let client: PoolClient | undefined;
  let broken = true;
  try {
    client = await connect(region);
    const { data, asOf } = await within(READ_TIMEOUT_MS, readSnapshot(client, region, read));
    broken = false;
    return { region, status: "ok", asOf: asOf.toISOString(), data };
  } catch (error) {
    const detail = explainOutage(error);
    if (detail === null) throw error;
    return { region, status: "unavailable", detail };
  } finally {
    // A connection that failed in the middle of a transaction is not given to the next reader.
    client?.release(broken);
  }
}

interface Who extends QueryResultRow {
  as_of: Date;
  region: string | null;
}

async function readSnapshot<T>(
  client: PoolClient,
  region: Region,
  read: (sql: Reader, asOf: Date) => Promise<T>,
): Promise<{ data: T; asOf: Date }> {
  // One result for each statement of the text; the types know of one only.
  const begun = (await client.query(BEGIN_AND_WHO)) as unknown as QueryResult<Who>[];
  const row = begun.at(-1)?.rows[0];
  if (row === undefined || row.region !== region) {
    throw new RegionUnusableError(`Its database belongs to region ${row?.region ?? "none"}.`);
  }
  const run: Reader = async (text, values) => (await client.query(text, values ? [...values] : [])).rows;
  const data = await read(run, row.as_of);
  await client.query("COMMIT");
  return { data, asOf: row.as_of };
}

async function connect(region: Region): Promise<PoolClient> {
  const connecting = regionPool(region).connect();
  try {
    return await within(CONNECT_TIMEOUT_MS, connecting);
  } catch (error) {
    // A connection that comes after its reader has left goes straight back to the pool.
    connecting.then(
      (late) => late.release(),
      () => {},
    );
    throw error;
  }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RegionTimeoutError(`No answer within ${limitMs / 1_000} s.`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const UNUSABLE: ReadonlySet<string> = new Set(["bad_config", "database_time_zone"]);
const SQLSTATE = /^[0-9A-Z]{5}$/;
const MISSING_SCHEMA: ReadonlySet<string> = new Set(["42P01", "3F000", "3D000"]);

/**
 * Words for an outage, or null for an error that is ours. Texts of the driver stay out: they carry host names.
 */
export function explainOutage(error: unknown): string | null {
  if (error instanceof RegionTimeoutError || error instanceof RegionUnusableError) return error.message;
  // Our own refusals carry a code too; only these two mean that the database cannot be used.
  if (isSluiceError(error)) return UNUSABLE.has(error.code) ? error.detail : null;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string" && SQLSTATE.test(code)) return explainState(code);
  if (typeof code === "string") return `Its database cannot be reached (${code}).`;
  if (typeof message === "string" && /timeout|terminated|connection/i.test(message)) {
    return "Its database does not answer.";
  }
  return null;
}

function explainState(code: string): string | null {
  if (code === "57014") return `A read took longer than ${STATEMENT_TIMEOUT_MS / 1_000} s.`;
  if (MISSING_SCHEMA.has(code)) return "Its database has not been migrated.";
  if (code.startsWith("28")) return "Its database refused the console's credentials.";
  if (code.startsWith("53")) return "Its database has no connection or memory left.";
  if (code.startsWith("57") || code.startsWith("08")) return "Its database is shutting down or starting.";
  return null;
}
