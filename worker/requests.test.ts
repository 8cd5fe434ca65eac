/**
 * What a receiver gets: exactly the bytes that were stored, exactly the headers that are promised, a signature that a
 * library of others verifies, made anew for each attempt.
 */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver, RequestRecord } from "#demo/receiver/types.ts";
import { toPublicId } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  type DestinationOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
  TEST_SIGNING_SECRET,
} from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 60_000;
const PREVIOUS_SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/** What jsonb, or a way through JavaScript's numbers and strings, would change. */
const BODIES: Record<string, Buffer> = {
  json: Buffer.from('{ "b" : 1e2,"a":1.0,  "n":12345678901234567890, "a":2 }\r\n\t'),
  utf8: Buffer.from('{"name":"J\u00fcrgen \u20ac \u{1f600} \\u00e9"}'),
  binary: Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 7) % 256)),
  "byte-order-mark": Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0a, 0x00]),
  empty: Buffer.alloc(0),
};

let database: TestDatabase;
let receiver: Receiver;
let worker: TestWorker;
let tenantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver({ recording: { keepBodies: true }, secretFor: () => TEST_SIGNING_SECRET });
  tenantId = await makeTenant(database.pool);
  worker = await startTestWorker(database);
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await database.drop();
});

interface Send {
  readonly id: string;
  readonly destinationId: string;
}

async function send(path: string, options: DestinationOptions & { body?: Buffer } = {}): Promise<Send> {
  const { body, ...destination } = options;
  const url = path.startsWith("/") ? `${receiver.url}${path}` : path;
  const destinationId = await makeDestination(database.pool, tenantId, { url, ...destination });
  const [id = ""] = await makeDeliveries(database.pool, {
    tenantId,
    destinationId,
    ...(body ? { body } : {}),
  });
  return { id, destinationId };
}

const delivered = (id: string) =>
  waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered", { timeoutMs: LONG_MS });

function bodyOf(record: RequestRecord | undefined): Buffer {
  return Buffer.from(record?.bodyBase64 ?? "nothing was recorded", "base64");
}

/** @throws when the signature does not match, or its time is more than 5 minutes away. */
function verify(record: RequestRecord | undefined, secret: string): void {
  new Webhook(secret).verify(bodyOf(record), {
    "webhook-id": record?.webhookId ?? "",
    "webhook-timestamp": record?.webhookTimestamp ?? "",
    "webhook-signature": record?.signatureHeader ?? "",
  });
}

describe("the body", () => {
  it.each(Object.keys(BODIES))(
    "fault 24: arrives as stored, on the first attempt and on the second: %s",
    async (name) => {
      const body = BODIES[name] as Buffer;
      receiver.script(`body-${name}`, [500, 200]);
      const { id } = await send(`/ok/body-${name}`, {
        body,
        policyOverride: { backoff: { baseMs: 5, capMs: 5 }, retryAfter: { minMs: 5 } },
      });
      await delivered(id);
      const requests = receiver.requests({ destination: `body-${name}` });
      expect(requests).toHaveLength(2);
      for (const request of requests) {
        expect(request.bodySha256).toBe(createHash("sha256").update(body).digest("hex"));
        expect(request).toMatchObject({ method: "POST", signature: "valid" });
      }
    },
  );
});

describe("the headers", () => {
  it("are those that are promised, and no others", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      request.resume().on("end", () => response.end());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { id } = await send(`http://127.0.0.1:${port}/hook?a=1&b=%20`);
    await delivered(id);
    server.close();
    server.closeAllConnections();
    const {
      "webhook-timestamp": timestamp,
      "webhook-signature": signature,
      "user-agent": agent,
      ...others
    } = seen[0] ?? {};
    expect(others).toEqual({
      host: `127.0.0.1:${port}`,
      connection: "keep-alive",
      "content-type": "application/json",
      "content-length": "7",
      "webhook-id": toPublicId("dlv", id),
      "idempotency-key": `key-${id}`,
      "sluice-tenant": toPublicId("ten", tenantId),
      "sluice-region": "us",
      "sluice-event-type": "test.event",
      "sluice-attempt": "1",
    });
    expect(Math.abs(Number(timestamp) * 1_000 - Date.now())).toBeLessThan(LONG_MS);
    expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(agent).toMatch(/^sluice\//);
  });

  it("keep the traceparent and the content type of the delivery", async () => {
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/ok/traced`,
    });
    const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId, dueInMs: 3_600_000 });
    await database.pool.query(
      "UPDATE sluice.payload SET content_type = 'application/vnd.test+xml; charset=utf-8' WHERE id = $1",
      [id],
    );
    await database.pool.query(
      "UPDATE sluice.delivery SET traceparent = $2, due_at = clock_timestamp() WHERE id = $1",
      [id, TRACEPARENT],
    );
    await delivered(id);
    expect(receiver.requests({ destination: "traced" })[0]).toMatchObject({
      traceparent: TRACEPARENT,
      contentType: "application/vnd.test+xml; charset=utf-8",
      region: "us",
      tenant: toPublicId("ten", tenantId),
    });
  });
});

describe("the signature", () => {
  it("RECV-3 is verified by the Standard Webhooks library, with either of two live secrets and with no other", async () => {
    const { id } = await send("/ok/two-secrets", {
      previousSecret: PREVIOUS_SECRET,
      body: BODIES.json as Buffer,
    });
    await delivered(id);
    const [request] = receiver.requests({ destination: "two-secrets" });
    expect(request?.signatureHeader?.split(" ")).toHaveLength(2);
    verify(request, TEST_SIGNING_SECRET);
    verify(request, PREVIOUS_SECRET);
    expect(() => verify(request, `whsec_${Buffer.alloc(32, 6).toString("base64")}`)).toThrow(
      /No matching signature/,
    );
  });

  it("is made with one secret once the previous one has ended", async () => {
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/ok/rotated`,
      previousSecret: PREVIOUS_SECRET,
    });
    await database.pool.query(
      "UPDATE sluice.destination SET secret_previous_until = clock_timestamp() - interval '1 second' WHERE id = $1",
      [destinationId],
    );
    const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId });
    await delivered(id);
    const [request] = receiver.requests({ destination: "rotated" });
    verify(request, TEST_SIGNING_SECRET);
    expect(() => verify(request, PREVIOUS_SECRET)).toThrow();
  });

  it("fault 23: is made anew for each attempt: a later time, the same id, key and bytes", async () => {
    receiver.script("anew", [500, 200]);
    const { id } = await send("/ok/anew", {
      policyOverride: { backoff: { baseMs: 1_500, factor: 1, capMs: 1_500, jitter: 0 } },
    });
    await delivered(id);
    const [first, second] = receiver.requests({ destination: "anew" });
    for (const request of [first, second]) {
      verify(request, TEST_SIGNING_SECRET);
      expect(Math.abs(Number(request?.webhookTimestamp) * 1_000 - (request?.arrivedAtMs ?? 0))).toBeLessThan(
        5_000,
      );
    }
    expect(Number(second?.webhookTimestamp)).toBeGreaterThan(Number(first?.webhookTimestamp));
    expect(second?.signatureHeader).not.toBe(first?.signatureHeader);
    expect([second?.webhookId, second?.key, second?.bodySha256]).toEqual([
      first?.webhookId,
      first?.key,
      first?.bodySha256,
    ]);
    expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
  });

  it("has a plain form beside it where a destination asks for one", async () => {
    const name = `x-signature-${randomUUID().slice(0, 4)}`;
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/ok/plain?auth=require`,
    });
    receiver.setSecret("plain", { secrets: [TEST_SIGNING_SECRET], header: name });
    await database.pool.query("UPDATE sluice.destination SET plain_signature_header = $2 WHERE id = $1", [
      destinationId,
      name,
    ]);
    const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId });
    await delivered(id);
    expect(receiver.stats("plain")).toMatchObject({ requests: 1, validSignatures: 1 });
  });
});
