/**
 * Databases as objects: create, clone, drop, list, and mark with a region. Used by the set-up commands and by tests.
 * It never reads or writes rows of ours.
 */
import { Client } from "pg";
import { sessionOptions } from "./pool.ts";

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const CONNECT_TIMEOUT_MS = 5_000;
const DUPLICATE_DATABASE = "42P04";
const UNDEFINED_DATABASE = "3D000";

/** The same server, another database. */
export function withDatabase(connectionString: string, database: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  return url.href;
}

/** The database name that a URL points at. */
export function databaseName(connectionString: string): string {
  return decodeURIComponent(new URL(connectionString).pathname.slice(1));
}

/** Opens one session in UTC, runs `work` with it and closes it. */
export async function withClient<T>(
  connectionString: string,
  work: (client: Client) => Promise<T>,
  applicationName = "sluice-admin",
): Promise<T> {
  const client = new Client({
    ...sessionOptions(connectionString),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Creates a database, optionally as a copy of another that nobody is connected to. Strategy `file_copy` is three times as fast for
 * a small one and makes the server write all that it holds: only for servers that nobody else uses.
 * @returns true when it was made, false when it was there already.
 */
export async function createDatabase(
  serverUrl: string,
  database: string,
  options: { template?: string; strategy?: "wal_log" | "file_copy" } = {},
): Promise<boolean> {
  const template = options.template === undefined ? "" : ` TEMPLATE ${quoteName(options.template)}`;
  const strategy = options.strategy === undefined ? "" : ` STRATEGY ${options.strategy}`;
  try {
    await withClient(serverUrl, (client) =>
      client.query(`CREATE DATABASE ${quoteName(database)}${template}${strategy}`),
    );
    return true;
  } catch (error) {
    if (hasCode(error, DUPLICATE_DATABASE)) return false;
    throw error;
  }
}

/** Drops a database and ends the sessions in it. Does nothing when it is not there. */
export async function dropDatabase(serverUrl: string, database: string): Promise<void> {
  try {
    await withClient(serverUrl, (client) =>
      client.query(`DROP DATABASE IF EXISTS ${quoteName(database)} WITH (FORCE)`),
    );
  } catch (error) {
    if (!hasCode(error, UNDEFINED_DATABASE)) throw error;
  }
}

/** Names of the server's databases that start with `prefix`. */
export async function listDatabases(serverUrl: string, prefix: string): Promise<string[]> {
  const result = await withClient(serverUrl, (client) =>
    client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE starts_with(datname::text, $1)",
      [prefix],
    ),
  );
  return result.rows.map((row) => row.datname);
}

/**
 * One round trip to the server.
 * @returns its version as a number, for instance 180004.
 * @throws the driver's error when it cannot be reached or refuses us.
 */
export async function pingDatabase(connectionString: string): Promise<number> {
  return withClient(connectionString, async (client) => {
    const result = await client.query<{ server_version_num: string }>("SHOW server_version_num");
    return Number(result.rows[0]?.server_version_num ?? 0);
  });
}

/** Stores `sluice.region` as a setting of the database, so that every later session sees it. */
export async function storeDatabaseRegion(client: Client, database: string, region: string): Promise<void> {
  await client.query(
    `ALTER DATABASE ${client.escapeIdentifier(database)} SET sluice.region = ${client.escapeLiteral(region)}`,
  );
}

/** True for a driver error with this SQLSTATE or system error code. */
export function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown } | null)?.code === code;
}

function quoteName(name: string): string {
  if (!NAME.test(name)) throw new Error(`Not a database name: ${JSON.stringify(name)}`);
  return `"${name}"`;
}
