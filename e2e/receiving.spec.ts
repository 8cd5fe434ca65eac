/** RECV-1..3 at the real Next route: the statuses, the headers, and one effect for a delivery that comes more than once. */

import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { APIRequestContext, APIResponse } from "@playwright/test";
import { newSigningSecret, sealSecret } from "#db/secrets.ts";
import { endpointPath } from "#demo/support/desk.ts";
import { fromPublicId } from "#domain/ids.ts";
import { enqueueDelivery } from "#outbox/index.ts";
import { followUpBody, type SignedRequestOptions, signedRequest } from "#tests/support/inbox-request.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { KEYRING } from "./support/secret-keys.ts";
import { expect, test, type World } from "./support/world.ts";

interface Customer {
  tenantId: string;
  destinationId: string;
  secret: string;
  previous: string;
  path: string;
}

/** A customer whose destination is the console's own receiving endpoint, in the middle of a rotation. */
async function addCustomer({ regions, consoleUrl }: World): Promise<Customer> {
  const { prisma } = regions.us;
  const [tenantId, destinationId] = [randomUUID(), randomUUID()];
  const [secret, previous] = [newSigningSecret(), newSigningSecret()];
  const path = endpointPath("us", destinationId);
  const slug = `inbox-${tenantId.slice(0, 8)}`;
  await prisma.tenant.create({ data: { id: tenantId, region: "us", slug, name: "Inbox" } });
  await prisma.destination.create({
    data: {
      id: destinationId,
      region: "us",
      tenantId,
      name: "Inbox",
      url: consoleUrl + path,
      secretCurrent: sealSecret(KEYRING, secret),
      secretPrevious: sealSecret(KEYRING, previous),
      secretPreviousUntil: new Date(Date.now() + 3_600_000),
    },
  });
  return { tenantId, destinationId, secret, previous, path };
}

function post(
  request: APIRequestContext,
  customer: Customer,
  options: Partial<SignedRequestOptions> = {},
): Promise<APIResponse> {
  const { tenantId, secret, path } = customer;
  const body = followUpBody(randomUUID());
  const signed = signedRequest({ region: "us", tenantId, secret, body, ...options });
  return request.post(path, { headers: signed.headers, data: Buffer.from(signed.body) });
}

async function expectProblem(response: APIResponse, status: number, code: string): Promise<void> {
  expect(response.status()).toBe(status);
  expect(response.headers()["content-type"]).toContain("application/problem+json");
  expect(await response.json()).toMatchObject({ status, code });
}

async function activities(world: World, { destinationId }: Customer): Promise<number> {
  const { rows } = await world.regions.us.pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.demo_inbound_activity WHERE endpoint_id = $1",
    [destinationId],
  );
  return rows[0]?.n ?? -1;
}

test("RECV-1 a delivery that comes three times has one effect and one result", async ({ request, world }) => {
  const customer = await addCustomer(world);
  const same = { webhookId: "dlv_e2e", key: "key-e2e", body: followUpBody(randomUUID()) };
  const seen: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const response = await post(request, customer, same);
    seen.push(
      `${response.status()} ${response.headers()["inbox-result"]} ${response.headers()["inbox-repeated"]}`,
    );
  }
  expect(seen).toEqual(["204 applied false", "204 applied true", "204 applied true"]);
  expect(await activities(world, customer)).toBe(1);
  const mismatch = await post(request, customer, { ...same, body: followUpBody(randomUUID()) });
  await expectProblem(mismatch, 422, "idempotency_mismatch");
});

test("RECV-1 what the outbox writes arrives there by a real worker, once", async ({ world }) => {
  const customer = await addCustomer(world);
  const { deliveryId } = await world.regions.us.prisma.$transaction((tx) =>
    enqueueDelivery(tx, {
      region: "us",
      tenantId: customer.tenantId,
      destinationId: customer.destinationId,
      eventType: "ticket.follow_up_due",
      serviceClass: "urgent",
      idempotencyKey: randomUUID(),
      body: followUpBody(randomUUID()),
    }),
  );
  await waitFor(async () => (await activities(world, customer)) === 1, {
    what: "the effect",
    timeoutMs: 30_000,
    intervalMs: 100,
  });
  await waitFor(
    async () => {
      const { rowCount } = await world.regions.us.pool.query(
        "SELECT 1 FROM sluice.delivery_archive WHERE id = $1 AND state = 'delivered'",
        [fromPublicId("dlv", deliveryId)],
      );
      return rowCount === 1;
    },
    { what: "the acknowledgement", timeoutMs: 30_000, intervalMs: 100 },
  );
});

test("RECV-2 405 with Allow for every other method", async ({ request, world }) => {
  const { path } = await addCustomer(world);
  for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const response = await request.fetch(path, { method });
    expect([method, response.headers().allow]).toEqual([method, "POST"]);
    await expectProblem(response, 405, "method_not_allowed");
  }
  expect((await request.head(path)).status()).toBe(405);
});

test("RECV-2 RECV-3 refusals of authentication, envelope and body", async ({ request, world }) => {
  const customer = await addCustomer(world);
  const refusals: [number, string, Partial<SignedRequestOptions>][] = [
    [401, "unauthenticated", { headers: { "webhook-signature": null } }],
    [401, "bad_signature", { secret: newSigningSecret() }],
    [401, "stale_timestamp", { at: new Date(Date.now() - 360_000) }],
    [422, "bad_envelope", { headers: { "webhook-id": null } }],
    [422, "bad_envelope", { headers: { "sluice-tenant": null } }],
    [422, "bad_region", { headers: { "sluice-region": "mars" } }],
    [400, "bad_json", { body: "{" }],
  ];
  for (const [status, code, options] of refusals) {
    await expectProblem(await post(request, customer, options), status, code);
  }
  const unsigned = await request.post(customer.path);
  await expectProblem(unsigned, 401, "unauthenticated");
  expect(unsigned.headers()["www-authenticate"]).toContain("StandardWebhooks");
  const nobody = { ...customer, path: endpointPath("us", randomUUID()) };
  await expectProblem(await post(request, nobody), 404, "not_found");
  expect(await activities(world, customer)).toBe(0);
  expect((await post(request, customer, { secret: customer.previous })).status()).toBe(204);
});

test("RECV-2 413 above 256 KiB: by the length alone, and while a body without one is coming", async ({
  world,
}) => {
  const { path } = await addCustomer(world);
  const { port } = new URL(world.consoleUrl);
  const socket = connect(Number(port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("utf8");
  });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 262145\r\n\r\n`);
  await waitFor(() => answer.includes("body_too_large"), { what: "the answer to a length" });
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();

  const outgoing = httpRequest(world.consoleUrl + path, {
    method: "POST",
    headers: { "transfer-encoding": "chunked" },
  });
  const status = new Promise<number | undefined>((resolve) => {
    outgoing.once("response", (response) => resolve(response.statusCode));
  });
  outgoing.on("error", () => {});
  // Never ended: an answer can only come before the end of the body.
  outgoing.write(Buffer.alloc(300 * 1024, 97));
  expect(await status).toBe(413);
  outgoing.destroy();
});

test("RECV-2 429 with Retry-After beyond the endpoint's rate", async ({ request, world }) => {
  const customer = await addCustomer(world);
  // The world's endpoints take 20 at once and then one in five seconds.
  const responses = await Promise.all(Array.from({ length: 40 }, () => post(request, customer)));
  const limited = responses.filter((response) => response.status() === 429);
  const taken = responses.filter((response) => response.status() === 204);
  expect(limited.length + taken.length).toBe(40);
  expect(taken.length).toBeGreaterThanOrEqual(20);
  expect(limited.length).toBeGreaterThan(0);
  for (const response of limited.slice(0, 3)) {
    expect(Number(response.headers()["retry-after"])).toBeGreaterThanOrEqual(1);
    await expectProblem(response, 429, "too_many_requests");
  }
});
