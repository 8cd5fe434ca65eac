/**
 * The one way to make a Postgres pool in this project. Prisma, the raw statements and graphile-worker share it.
 * It must never hand out a session whose time zone is not UTC (the Prisma adapter would shift every timestamp),
 * and a lost connection must never end the process.
 */
import { type ClientBase, Pool, type QueryConfig, TypeOverrides } from "pg";
import { SluiceError } from "#domain/errors.ts";

export interface PoolSettings {
  connectionString: string;
  /** Most connections open at once. */
  max: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Ends a statement that runs longer. Off when absent. */
  statementTimeoutMs?: number;
  /** Gives up on an answer after this, on our side: a connection that hangs would else hang its caller. Off when absent. */
  queryTimeoutMs?: number;
  /** Ends a session that leaves its transaction open this long. Default 30 s. */
  idleInTransactionTimeoutMs?: number;
  /** Longest wait for a free or a new connection. Default 5 s. */
  connectionTimeoutMs?: number;
  /** How long an unused connection is kept. Default 30 s. */
  idleTimeoutMs?: number;
  /** Hears about connections that break while nobody uses them. The pool has already replaced them. */
  onError?: (error: Error) => void;
}

const DEFAULT_CONNECTION_TIMEOUT_MS = 5_000;
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const INT8_OID = 20;
const UTC_NAMES: ReadonlySet<string> = new Set(["UTC", "Etc/UTC"]);

/**
 * Opens a lazy pool: no connection is made before the first query.
 * Whole numbers of type int8 (counts) come back as numbers when they are safe, else as text; never as BigInt.
 * A query rejects with SluiceError `database_time_zone` when the server does not give a UTC session.
 */
export function createPool(settings: PoolSettings): Pool {
  const { connectionString, options } = sessionOptions(settings.connectionString);
  const onError = settings.onError ?? ignore;
  const connectionTimeoutMs = settings.connectionTimeoutMs ?? DEFAULT_CONNECTION_TIMEOUT_MS;
  const pool = new Pool({
    connectionString,
    options,
    max: settings.max,
    application_name: settings.applicationName,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: settings.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    idle_in_transaction_session_timeout:
      settings.idleInTransactionTimeoutMs ?? DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS,
    statement_timeout: settings.statementTimeoutMs ?? false,
    ...(settings.queryTimeoutMs === undefined ? {} : { query_timeout: settings.queryTimeoutMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: typeParsers(),
    onConnect: (client) => refuseOtherTimeZones(client, connectionTimeoutMs),
  });
  pool.on("error", onError);
  // A checked-out client has no listener of the pool's: without this one a broken connection ends the process.
  // Its running query rejects, so there is nothing more to tell.
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

/**
 * Adds `-c timezone=UTC` to the options that a URL already carries. They must leave the URL, because pg lets
 * the URL win over the settings beside it.
 */
export function sessionOptions(connectionString: string): { connectionString: string; options: string } {
  const url = new URL(connectionString);
  const given = url.searchParams.get("options");
  url.searchParams.delete("options");
  url.searchParams.delete("application_name");
  return { connectionString: url.href, options: `${given ? `${given} ` : ""}-c timezone=UTC` };
}

/** Reads an int8 as a number when that is exact, else leaves its digits as text. */
export function parseInt8(digits: string): number | string {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : digits;
}

function typeParsers(): TypeOverrides {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(INT8_OID, parseInt8);
  return parsers;
}

/** Belongs to connecting, and the pool's own limit on that has ended when it runs: so it carries the limit itself. */
async function refuseOtherTimeZones(client: ClientBase, timeoutMs: number): Promise<void> {
  const ask: QueryConfig & { query_timeout: number } = { text: "SHOW timezone", query_timeout: timeoutMs };
  const result = await client.query<{ TimeZone: string }>(ask);
  const timeZone = result.rows[0]?.TimeZone ?? "unknown";
  if (UTC_NAMES.has(timeZone)) return;
  throw new SluiceError(
    "database_time_zone",
    `The database session runs in time zone ${timeZone}, not UTC. A pooler between us and Postgres may drop ` +
      "the start-up option: set the TimeZone of the role or the database to UTC.",
  );
}

function ignore(): void {}
