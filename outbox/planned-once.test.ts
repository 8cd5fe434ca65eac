/** ID-1: what a business transaction pays: its enqueue is planned once for each connection, not in every call. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { openTestOutbox } from "#tests/outbox/test-outbox.ts";
import { enqueueDelivery, outboxStatementName } from "./index.ts";

/** Postgres plans anew five times, and from then on only what it believes to gain by. */
const CALLS_PLANNED = 5;
const CALLS = 9;

it("keeps one plan for an enqueue over Prisma, from the sixth call of a connection on", async () => {
  const outbox = await openTestOutbox();
  const pool = createPool({
    connectionString: outbox.database.connectionString,
    max: 1,
    applicationName: "sluice-test",
  });
  const prisma = createPrisma(pool, { statementName: outboxStatementName });
  try {
    const tenantId = await outbox.addTenant();
    const destinationId = await outbox.addDestination(tenantId);
    for (let call = 0; call < CALLS; call++) {
      const delivery = {
        region: "us",
        tenantId,
        destinationId,
        eventType: "a.b",
        body: `{"call":${call}}`,
      } as const;
      await prisma.$transaction((tx) => enqueueDelivery(tx, { ...delivery, idempotencyKey: randomUUID() }));
    }
    const { rows } = await pool.query(
      `SELECT custom_plans::integer AS planned, generic_plans::integer AS kept FROM pg_prepared_statements
        WHERE statement LIKE '%INSERT INTO sluice.delivery_key%'`,
    );
    expect(rows).toEqual([{ planned: CALLS_PLANNED, kept: CALLS - CALLS_PLANNED }]);
  } finally {
    await prisma.$disconnect();
    await pool.end();
    await outbox.close();
  }
});
