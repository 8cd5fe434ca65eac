/**
 * A Prisma client on one of our pools, so that Prisma and the raw statements share connections and settings.
 * It must never open a connection of its own.
 */
import { PrismaPg } from "@prisma/adapter-pg";
import type { Pool } from "pg";
import { Prisma, PrismaClient } from "./generated/client.ts";

export type { PrismaClient };
export { Prisma };

export interface PrismaSettings {
  /** Names statements that are to stay prepared, such as the outbox's; "" for the others. */
  readonly statementName?: (query: { readonly sql: string }) => string;
}

/** A client for the tables in schema `sluice`. Closing the pool is the caller's task; `$disconnect` leaves it open. */
export function createPrisma(pool: Pool, settings: PrismaSettings = {}): PrismaClient {
  const { statementName } = settings;
  const options = statementName === undefined ? {} : { statementNameGenerator: statementName };
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema: "sluice", ...options }) });
}
