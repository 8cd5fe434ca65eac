/**
 * Deliveries written over HTTP by a program that may do nothing else: once for each key, byte for byte at the receiver,
 * and nothing at all for what is refused. What the outbox promises is measured in outbox/; this is its door.
 */
import { createHash, randomUUID } from "node:crypto";
import type { APIRequestContext, APIResponse } from "@playwright/test";
import { toPublicId } from "#domain/ids.ts";
import { keyFromFacts } from "#outbox/index.ts";
import { readAuditOf } from "#tests/support/access-rows/sql.ts";
import { clientOf, createPerson, newClient } from "./support/accounts.ts";
import { addCustomer, type Customer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const REASON = "made by a browser test";
const PATH = "/api/v1/deliveries?region=us";
const MAX_BODY_BYTES = 256 * 1024;

interface Answer {
  region: string;
  deliveries: { deliveryId: string; destinationId: string; idempotencyKey: string; status: string }[];
}

const ten = ({ tenantId }: Customer) => toPublicId("ten", tenantId);
const dst = ({ destinationId }: Customer) => toPublicId("dst", destinationId);

/** A client that carries a token for `enqueue` alone, in us. */
async function programOf(
  world: World,
  rest: { tenants?: string[]; scopes?: string[] } = {},
): Promise<APIRequestContext> {
  const admin = await clientOf(world, world.accounts.admin);
  const made = await admin.post("/api/v1/tokens", {
    data: {
      name: `billing-${randomUUID()}`,
      role: "admin",
      scopes: ["enqueue"],
      regions: ["us"],
      days: 1,
      reason: REASON,
      ...rest,
    },
  });
  expect(made.status(), await made.text()).toBe(201);
  const { token } = (await made.json()) as { token: string };
  await admin.dispose();
  return newClient(world.consoleUrl, undefined, { authorization: `Bearer ${token}` });
}

function bodyFor(customer: Customer, rest: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    tenantId: ten(customer),
    destinationId: dst(customer),
    eventType: "invoice.paid",
    payload: '{"amount": 1200}',
    ...rest,
  };
}

function send(program: APIRequestContext, key: string, data: unknown, path = PATH): Promise<APIResponse> {
  return program.post(path, { data, headers: { "idempotency-key": key } });
}

async function written(response: APIResponse, status: number): Promise<Answer> {
  const text = await response.text();
  expect(response.status(), text).toBe(status);
  return JSON.parse(text) as Answer;
}

async function refused(
  response: APIResponse,
  status: number,
  code: string,
): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect(response.status(), text).toBe(status);
  expect(response.headers()["content-type"]).toContain("application/problem+json");
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem).toMatchObject({ code, status });
  return problem;
}

/** Deliveries of a customer, whatever has become of them: each has a key for as long as it is known. */
async function keysOf(world: World, { destinationId }: Customer): Promise<string[]> {
  const { rows } = await world.regions.us.pool.query<{ idempotency_key: string }>(
    "SELECT idempotency_key FROM sluice.delivery_key WHERE destination_id = $1 ORDER BY 1",
    [destinationId],
  );
  return rows.map((row) => row.idempotency_key);
}

async function arrived(world: World, key: string) {
  await expect.poll(async () => (await world.receiver.client.requests({ key })).length).toBe(1);
  const [request] = await world.receiver.client.requests({ key });
  return request;
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");

test("ID-11 a program with no other right writes a delivery once, and it arrives byte for byte", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Http Bank", `/ok/http-${Date.now()}`);
  const program = await programOf(world);
  const key = `invoice-${randomUUID()}`;
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const body = bodyFor(customer, { payload: '{ "amount" : 1200, "note": "ü" }', traceparent });

  const first = await send(program, key, body);
  const { region, deliveries } = await written(first, 201);
  expect(region).toBe("us");
  expect(deliveries).toEqual([
    {
      deliveryId: expect.stringMatching(/^dlv_/),
      destinationId: dst(customer),
      idempotencyKey: key,
      status: "created",
    },
  ]);
  const id = deliveries[0]?.deliveryId ?? "";
  expect(first.headers().location).toBe(`/api/v1/deliveries/${id}`);
  expect(first.headers()["idempotency-replayed"]).toBeUndefined();

  const again = await send(program, key, body);
  expect((await written(again, 200)).deliveries).toEqual([{ ...deliveries[0], status: "duplicate" }]);
  expect(again.headers()["idempotency-replayed"]).toBe("true");

  expect(await arrived(world, key)).toMatchObject({
    webhookId: id,
    eventType: "invoice.paid",
    contentType: "application/json",
    bodySha256: sha256('{ "amount" : 1200, "note": "ü" }'),
    traceparent: expect.stringContaining("0af7651916cd43dd8448eb211c80319c"),
  });
  expect(await keysOf(world, customer)).toEqual([key]);
  // The token may write and nothing else, not even read what it wrote.
  await refused(await program.get(`/api/v1/deliveries/${id}`), 403, "forbidden");
  await program.dispose();
});

test("ID-11 the same key with another body is told the id that stands, and changes nothing", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Clash Bank", `/ok/clash-${Date.now()}`);
  const program = await programOf(world);
  const key = `clash-${randomUUID()}`;
  const { deliveries } = await written(await send(program, key, bodyFor(customer)), 201);
  const { idempotencyKey, deliveryId, destinationId } = deliveries[0] ?? {};

  const other = bodyFor(customer, { payload: '{"amount": 1300}' });
  const sameRequestKey = await refused(await send(program, key, other), 422, "idempotency_mismatch");
  expect(sameRequestKey.deliveries).toEqual([{ deliveryId, destinationId, idempotencyKey }]);

  const sameDeliveryKey = { ...other, idempotencyKey: key };
  const conflict = await refused(await send(program, randomUUID(), sameDeliveryKey), 409, "key_mismatch");
  expect(conflict.deliveries).toEqual([{ deliveryId, destinationId, idempotencyKey, status: "mismatch" }]);

  expect(await arrived(world, key)).toMatchObject({ bodySha256: sha256('{"amount": 1200}') });
  expect(await keysOf(world, customer)).toEqual([key]);
  await program.dispose();
});

test("of the same request twice at once one is written, and both know its id", async ({ world }) => {
  const customer = await addCustomer(world, "us", "Twice Bank", `/ok/twice-${Date.now()}`);
  const program = await programOf(world);
  const key = `twice-${randomUUID()}`;
  const both = await Promise.all([1, 2, 3].map(() => send(program, key, bodyFor(customer))));
  expect(both.map((response) => response.status()).toSorted()).toEqual([200, 200, 201]);
  const answers = (await Promise.all(both.map((response) => response.json()))) as Answer[];
  expect(new Set(answers.map(({ deliveries }) => deliveries[0]?.deliveryId)).size).toBe(1);
  expect(await keysOf(world, customer)).toEqual([key]);
  await program.dispose();
});

test("a key of business facts is the one that a transaction gives, so both ways are one delivery", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Facts Bank", `/ok/facts-${Date.now()}`);
  const program = await programOf(world);
  const entityId = `inv-${randomUUID()}`;
  const key = keyFromFacts({ event: "hold.released", entityId, version: "7" });
  const { id } = await enqueue(world, "us", customer, { key, body: '{"amount":1200}' });
  const body = bodyFor(customer, {
    eventType: "hold.released",
    entityId,
    businessVersion: "7",
    payload: '{"amount":1200}',
  });
  const answer = await written(await send(program, randomUUID(), body), 200);
  expect(answer.deliveries).toEqual([
    { deliveryId: id, destinationId: dst(customer), idempotencyKey: key, status: "duplicate" },
  ]);
  const half = bodyFor(customer, { entityId });
  expect((await refused(await send(program, randomUUID(), half), 422, "invalid_body")).errors).toEqual([
    { pointer: "businessVersion", detail: "entityId and businessVersion belong together" },
  ]);
  await program.dispose();
});

test("bytes, a content type, a due time and several destinations", async ({ world }) => {
  const customer = await addCustomer(world, "us", "Bytes Bank", `/ok/bytes-${Date.now()}`);
  const second = await world.regions.us.prisma.destination.findUniqueOrThrow({
    where: { id: customer.destinationId },
  });
  const secondId = randomUUID();
  await world.regions.us.prisma.destination.create({
    data: {
      id: secondId,
      region: "us",
      tenantId: customer.tenantId,
      name: "Archive",
      url: `${world.receiver.url}/ok/archive-${Date.now()}`,
      secretCurrent: second.secretCurrent,
    },
  });
  const program = await programOf(world);
  const bytes = Buffer.from([0, 255, 10, 13, 128]);
  const { payload: _text, ...rest } = bodyFor(customer, {
    payloadBase64: bytes.toString("base64"),
    contentType: "application/octet-stream",
  });
  const key = `bytes-${randomUUID()}`;
  await written(await send(program, key, rest), 201);
  expect(await arrived(world, key)).toMatchObject({
    bodySha256: sha256(bytes),
    contentType: "application/octet-stream",
  });

  // One of two destinations has this key with another body: neither is written.
  const { destinationId: _one, ...several } = bodyFor(customer, {
    destinationIds: [dst(customer), toPublicId("dst", secondId)],
  });
  const clash = await refused(
    await send(program, randomUUID(), { ...several, idempotencyKey: key }),
    409,
    "key_mismatch",
  );
  expect(clash.deliveries).toHaveLength(1);
  expect(await keysOf(world, { ...customer, destinationId: secondId })).toEqual([]);

  const later = `later-${randomUUID()}`;
  const dueAt = new Date(Date.now() + 3_600_000).toISOString();
  const both = await written(await send(program, later, { ...several, dueAt, serviceClass: "urgent" }), 201);
  expect(both.deliveries.map(({ status }) => status)).toEqual(["created", "created"]);
  expect(new Set(both.deliveries.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  const operator = await clientOf(world, world.accounts.operator);
  const shown = await operator.get(`/api/v1/deliveries/${both.deliveries[1]?.deliveryId}`);
  expect(await shown.json()).toMatchObject({
    delivery: {
      dueAt,
      serviceClass: "urgent",
      state: expect.stringMatching(/^(ready|delayed)$/),
      attempts: 0,
    },
  });
  await operator.dispose();
  await program.dispose();
});

test("what does not fit is refused in words, and nothing is written", async ({ world }) => {
  const customer = await addCustomer(world, "us", "Strict Bank", `/ok/strict-${Date.now()}`);
  const other = await addCustomer(world, "us", "Other Bank", `/ok/other-${Date.now()}`);
  const program = await programOf(world);
  const absent = toPublicId("dst", randomUUID());
  const faults: readonly (readonly [string, Record<string, unknown>, number, string])[] = [
    ["no body", { payload: undefined }, 422, "invalid_body"],
    ["two bodies", { payloadBase64: "AA==" }, 422, "invalid_body"],
    ["no base64", { payload: undefined, payloadBase64: "not base64" }, 422, "invalid_body"],
    ["no destination", { destinationId: undefined }, 422, "invalid_body"],
    ["two ways to name them", { destinationIds: [dst(customer)] }, 422, "invalid_body"],
    ["an unknown field", { colour: "blue" }, 422, "invalid_body"],
    ["no tenant", { tenantId: "acme" }, 422, "invalid_body"],
    ["a class that is not", { serviceClass: "soon" }, 422, "invalid_body"],
    ["an event type that is not", { eventType: "two words" }, 422, "bad_event_type"],
    ["a content type that is not", { contentType: "text" }, 422, "bad_content_type"],
    ["a trace that is not", { traceparent: "00-0" }, 422, "bad_traceparent"],
    ["a time that is not", { dueAt: "tomorrow" }, 422, "invalid_body"],
    ["too far ahead", { dueAt: "2999-01-01T00:00:00Z" }, 422, "bad_due_time"],
    ["a key with a space", { idempotencyKey: "a b" }, 422, "bad_key"],
    ["two keys", { idempotencyKey: "a", entityId: "b", businessVersion: "1" }, 422, "invalid_body"],
    ["a destination that is not", { destinationId: absent }, 422, "unknown_destination"],
    ["somebody else's", { destinationId: dst(other) }, 422, "foreign_destination"],
    ["a tenant that is not", { tenantId: toPublicId("ten", randomUUID()) }, 422, "unknown_tenant"],
    ["more than fits", { payload: "x".repeat(MAX_BODY_BYTES + 1) }, 413, "body_too_large"],
    ["half a character", { payload: "\ud800" }, 422, "bad_body"],
    ["half a character in a key's facts", { entityId: "\ud800", businessVersion: "1" }, 422, "invalid_body"],
    ["its other half", { entityId: "\udc00", businessVersion: "1" }, 422, "invalid_body"],
    ["half a version", { entityId: "hold_1", businessVersion: "\udc00" }, 422, "invalid_body"],
    ["half an event", { eventType: "\ud800", entityId: "hold_1", businessVersion: "1" }, 422, "invalid_body"],
  ];
  for (const [what, change, status, code] of faults) {
    await test.step(what, async () => {
      await refused(await send(program, randomUUID(), bodyFor(customer, change)), status, code);
    });
  }
  const body = bodyFor(customer);
  await refused(await program.post(PATH, { data: body }), 422, "bad_key");
  await refused(await send(program, "a b", body), 422, "bad_key");
  await refused(await send(program, "k", body, "/api/v1/deliveries"), 422, "invalid_query");
  await refused(await send(program, "k", body, `${PATH}&colour=blue`), 422, "invalid_query");
  const headers = { "idempotency-key": "k" };
  const text = { ...headers, "content-type": "text/plain" };
  await refused(await program.post(PATH, { headers: text, data: "{}" }), 415, "unsupported_media_type");
  const json = { ...headers, "content-type": "application/json" };
  await refused(await program.post(PATH, { headers: json, data: Buffer.from("{") }), 400, "bad_json");
  const huge = Buffer.alloc(3 * 1024 * 1024, 32);
  await refused(await program.post(PATH, { headers: json, data: huge }), 413, "body_too_large");
  expect(await keysOf(world, customer)).toEqual([]);
  expect(await keysOf(world, other)).toEqual([]);
  await program.dispose();
});

test("REG-4 who may not is refused, and another region or tenant is not told from none", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Own Bank", `/ok/own-${Date.now()}`);
  const other = await addCustomer(world, "us", "Foreign Bank", `/ok/foreign-${Date.now()}`);
  const narrow = await programOf(world, { tenants: [ten(customer)] });
  await written(await send(narrow, randomUUID(), bodyFor(customer)), 201);
  await refused(await send(narrow, randomUUID(), bodyFor(other)), 404, "not_found");
  await refused(
    await send(narrow, randomUUID(), bodyFor(customer, { destinationId: dst(other) })),
    422,
    "unknown_destination",
  );
  await refused(
    await send(narrow, randomUUID(), bodyFor(customer), "/api/v1/deliveries?region=eu"),
    404,
    "not_found",
  );
  const reader = await programOf(world, { scopes: ["read"] });
  expect(
    (await refused(await send(reader, randomUUID(), bodyFor(customer)), 403, "forbidden")).roles,
  ).toEqual(["admin"]);
  const person = await createPerson(world.regions, "enqueuer", {
    role: "operator",
    regions: ["us"],
    tenantIds: null,
  });
  const operator = await clientOf(world, person);
  await refused(await send(operator, randomUUID(), bodyFor(customer)), 403, "forbidden");
  expect(await readAuditOf(world.regions.us.pool, `user:${person.email}`)).toEqual([
    { action: "enqueue", result: "denied", target_id: "POST /api/v1/deliveries" },
  ]);
  const nobody = await newClient(world.consoleUrl);
  await refused(await send(nobody, randomUUID(), bodyFor(customer)), 401, "unauthenticated");
  expect(await keysOf(world, other)).toEqual([]);
  for (const client of [narrow, reader, operator, nobody]) await client.dispose();
});
