/**
 * The console's own database: accounts, sessions, grants, service tokens. By default it is the first region's.
 * Nothing of a delivery is read through it.
 */
import type { Pool } from "pg";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { createPool } from "../pool.ts";
import { createPrisma, type PrismaClient } from "../prisma.ts";
import { readConsoleUrl } from "./console-config.ts";
import { explainOutage } from "./read-region.ts";

const POOL_MAX = 6;
const STATEMENT_TIMEOUT_MS = 3_000;
const CONNECT_TIMEOUT_MS = 1_500;

/** Next loads modules more than once per process, so the pool lives on globalThis. */
const shared = globalThis as typeof globalThis & {
  sluiceConsoleDatabase?: { pool: Pool; prisma: PrismaClient };
};

/** Pool and Prisma client on it, made on first use. @throws SluiceError `bad_config` */
export function consoleDatabase(): { pool: Pool; prisma: PrismaClient } {
  shared.sluiceConsoleDatabase ??= open(readConsoleUrl());
  return shared.sluiceConsoleDatabase;
}

/** Closes the pool. A later call opens a new one. */
export async function closeConsoleDatabase(): Promise<void> {
  const open = shared.sluiceConsoleDatabase;
  delete shared.sluiceConsoleDatabase;
  await open?.prisma.$disconnect();
  await open?.pool.end();
}

/**
 * Runs a read or write of accounts. A database that does not answer becomes one error that says which.
 * @throws SluiceError `sign_in_unavailable`, or what the work throws
 */
export async function withAccounts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSluiceError(error) || explainOutage(error) === null) throw error;
    throw new SluiceError(
      "sign_in_unavailable",
      "Nobody can be checked: the console's own database does not answer. Workers go on without it.",
      undefined,
      { cause: error },
    );
  }
}

function open(connectionString: string): { pool: Pool; prisma: PrismaClient } {
  const pool = createPool({
    connectionString,
    max: POOL_MAX,
    applicationName: "sluice-console-access",
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  return { pool, prisma: createPrisma(pool) };
}
