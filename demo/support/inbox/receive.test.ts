/** RECV-1: the key, the effect and the result are one transaction, whoever comes at the same time. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPrisma } from "#db/prisma.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { followUpBody, indexBody } from "#tests/support/inbox-request.ts";
import { clearInbox, readInboxRows } from "#tests/support/inbox-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { readMessage } from "../messages.ts";
import { type InboundMessage, receive } from "./receive.ts";
import { FORGET_KEYS } from "./sql.ts";

const endpointId = randomUUID();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
});
afterAll(() => database.drop());
beforeEach(() => clearInbox(database.pool));

function inbound(more: Partial<InboundMessage> & { text?: string } = {}): InboundMessage {
  const body = Buffer.from(more.text ?? followUpBody(randomUUID()));
  return {
    region: "us",
    endpointId,
    idempotencyKey: randomUUID(),
    webhookId: randomUUID(),
    body,
    message: readMessage(body),
    ...more,
  };
}

const counts = () => readInboxRows(database.pool);

describe("one transaction", () => {
  it("RECV-1 of many requests with one key at once one applies, and all get its result", async () => {
    const message = inbound();
    const receipts = await Promise.all(Array.from({ length: 20 }, () => receive(database.pool, message)));
    expect(receipts.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(receipts.map(({ result }) => result))).toEqual(new Set(["applied"]));
    expect(await counts()).toMatchObject({ keys: 1, unfinished: 0, followUps: 1, doubled: 0 });
  });

  it("a second request waits for the first one's end: its rollback leaves the key to the second", async () => {
    const message = inbound();
    const first = await database.pool.connect();
    await first.query("BEGIN");
    await first.query(
      `INSERT INTO sluice.demo_inbound_key (endpoint_id, idempotency_key, region, webhook_id, body_sha256)
       VALUES ($1, $2, 'us', $3, $4)`,
      [endpointId, message.idempotencyKey, message.webhookId, randomBytes(32)],
    );
    const second = receive(database.pool, message);
    await waitFor(async () => {
      const { rowCount } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    });
    await first.query("ROLLBACK");
    first.release();
    expect(await second).toEqual({ result: "applied", repeated: false });
    expect(await counts()).toMatchObject({ keys: 1, followUps: 1 });
  });

  it("an effect that fails leaves no key, so that the next attempt can succeed", async () => {
    const text = indexBody(randomUUID(), 1, "s");
    const message = inbound({ text });
    await database.pool.query(
      `CREATE FUNCTION refuse_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE TRIGGER refuse_document BEFORE INSERT ON sluice.demo_inbound_document FOR EACH ROW EXECUTE FUNCTION refuse_document()`,
    );
    await expect(receive(database.pool, message)).rejects.toThrow(/not now/);
    expect(await counts()).toMatchObject({ keys: 0, documents: 0 });
    await database.pool.query(
      "DROP TRIGGER refuse_document ON sluice.demo_inbound_document; DROP FUNCTION refuse_document()",
    );
    expect(await receive(database.pool, message)).toEqual({ result: "applied", repeated: false });
  });

  it("a commit that fails leaves neither effect nor key", async () => {
    const message = inbound();
    await database.pool.query(
      `CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON sluice.demo_inbound_key
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`,
    );
    await expect(receive(database.pool, message)).rejects.toThrow(/not now/);
    await database.pool.query(
      "DROP TRIGGER refuse_commit ON sluice.demo_inbound_key; DROP FUNCTION refuse_commit()",
    );
    expect(await counts()).toMatchObject({ keys: 0, followUps: 0 });
  });

  it("REG-1 the database of one region takes no row of the other's endpoint", async () => {
    await expect(receive(database.pool, inbound({ region: "eu" }))).rejects.toMatchObject({ code: "23514" });
    expect(await counts()).toMatchObject({ keys: 0, followUps: 0 });
  });
});

describe("a key or an id that does not fit", () => {
  it("the same key with another body is refused and changes nothing", async () => {
    const message = inbound();
    await receive(database.pool, message);
    const other = inbound({ idempotencyKey: message.idempotencyKey, webhookId: message.webhookId });
    await expect(receive(database.pool, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await receive(database.pool, message)).toEqual({ result: "applied", repeated: true });
    expect(await counts()).toMatchObject({ keys: 1, followUps: 1 });
  });

  it("a signed request whose unsigned key was exchanged has no second effect", async () => {
    const message = inbound();
    await receive(database.pool, message);
    const replayed = { ...message, idempotencyKey: randomUUID() };
    await expect(receive(database.pool, replayed)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await counts()).toMatchObject({ keys: 1, followUps: 1 });
  });

  it("key and id of two different deliveries are refused", async () => {
    const [one, two] = [inbound(), inbound()];
    await receive(database.pool, one);
    await receive(database.pool, two);
    const mixed = { ...one, webhookId: two.webhookId };
    await expect(receive(database.pool, mixed)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await counts()).toMatchObject({ keys: 2, followUps: 2 });
  });

  it("two endpoints know nothing of each other's keys", async () => {
    const message = inbound();
    await receive(database.pool, message);
    const elsewhere = { ...message, endpointId: randomUUID() };
    expect(await receive(database.pool, elsewhere)).toEqual({ result: "applied", repeated: false });
  });
});

describe("forgetting", () => {
  it("removes keys and activities past their time, in chunks, and no others", async () => {
    const prisma = createPrisma(database.pool);
    for (let n = 0; n < 5; n += 1) await receive(database.pool, inbound());
    const old = inbound();
    await receive(database.pool, old);
    await database.pool.query(
      `UPDATE sluice.demo_inbound_key SET received_at = received_at - interval '2 days' WHERE idempotency_key = $1`,
      [old.idempotencyKey],
    );
    await database.pool.query(
      `UPDATE sluice.demo_inbound_activity SET at = at - interval '2 days' WHERE idempotency_key = $1`,
      [old.idempotencyKey],
    );
    await prisma.$executeRawUnsafe(FORGET_KEYS, 24 * 60 * 60 * 1000, 100);
    expect(await counts()).toMatchObject({ keys: 5, followUps: 5 });
    await prisma.$executeRawUnsafe(FORGET_KEYS, 0, 2);
    expect(await counts()).toMatchObject({ keys: 3, followUps: 3 });
    await prisma.$disconnect();
  });
});
