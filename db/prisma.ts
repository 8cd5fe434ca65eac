/**
 * A Prisma client on one of our pools, so that Prisma and the raw statements share connections and settings.
 * It must never open a connection of its own.
 */
import { PrismaPg } from "@prisma/adapter-pg";
import type { Pool } from "pg";
import { Prisma, PrismaClient } from "./generated/client.ts";

export type { PrismaClient };
export { Prisma };

/** A client for the tables in schema `sluice`. Closing the pool is the caller's task; `$disconnect` leaves it open. */
export function createPrisma(pool: Pool): PrismaClient {
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema: "sluice" }) });
}
