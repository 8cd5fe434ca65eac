/**
 * What the outbox's tests need: a database of their own with tenants and destinations, and counts of what was written.
 * Only tests import this.
 */
import { randomUUID } from "node:crypto";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { COUNT_WRITTEN, READ_BODY } from "./sql.ts";

export interface TestOutbox {
  database: TestDatabase;
  prisma: PrismaClient;
  /** Makes a tenant and returns its UUID. */
  addTenant(): Promise<string>;
  /** Makes a destination and returns its UUID. */
  addDestination(tenantId: string, fields?: Partial<DestinationFields>): Promise<string>;
  /** Rows of the three tables that a delivery leaves something in. */
  counts(): Promise<Counts>;
  /** Body bytes of a payload, or null when there is no such row. */
  readBody(payloadId: string): Promise<Buffer | null>;
  close(): Promise<void>;
}

export interface DestinationFields {
  deletedAt: Date;
  disabledAt: Date;
  disabledReason: string;
  pausedAt: Date;
  pauseUntil: Date;
  pauseReason: string;
}

export interface Counts {
  keys: number;
  payloads: number;
  deliveries: number;
}

/** Clones a database of the region (default us) and opens Prisma on it. Call `close` in afterAll. */
export async function openTestOutbox(region: Region = "us"): Promise<TestOutbox> {
  const database = await createTestDatabase({ region });
  const prisma = createPrisma(database.pool);
  return {
    database,
    prisma,
    addTenant: async () => {
      const id = randomUUID();
      await prisma.tenant.create({ data: { id, region, slug: `t-${id.slice(0, 8)}`, name: "A tenant" } });
      return id;
    },
    addDestination: async (tenantId, fields = {}) => {
      const id = randomUUID();
      const data = { id, region, tenantId, name: "A destination", url: "http://127.0.0.1/ok/a" };
      await prisma.destination.create({ data: { ...data, secretCurrent: Buffer.from("sealed"), ...fields } });
      return id;
    },
    counts: async () => {
      const { rows } = await database.pool.query<Counts>(COUNT_WRITTEN);
      return rows[0] ?? { keys: -1, payloads: -1, deliveries: -1 };
    },
    readBody: async (payloadId) => {
      const { rows } = await database.pool.query<{ body: Buffer }>(READ_BODY, [payloadId]);
      return rows[0]?.body ?? null;
    },
    close: async () => {
      await prisma.$disconnect();
      await database.drop();
    },
  };
}
