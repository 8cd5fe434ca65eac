/**
 * The commands of the API, called directly as a program or a page of ours would: who may, on which version, once and only
 * once, and what the region's audit keeps. What they do to deliveries is measured elsewhere (worker/, db/console/commands).
 */
import { randomUUID } from "node:crypto";
import type { APIRequestContext, APIResponse } from "@playwright/test";
import type { DestinationControlView, RegionControlView } from "#db/console/control-views.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { clientOf, createPerson, newClient, sessionOf } from "./support/accounts.ts";
import { addCustomer, type Customer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const REASON = "asked for by a browser test";
const HOUR_MS = 3_600_000;

interface Sent {
  version?: number;
  key?: string;
  body?: object;
}

function post(client: APIRequestContext, path: string, { version, key, body = {} }: Sent = {}) {
  return client.post(`/api/v1/${path}`, {
    data: { reason: REASON, ...body },
    headers: {
      ...(version === undefined ? {} : { "if-match": `"${version}"` }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
  });
}

async function problem(
  response: APIResponse,
  status: number,
  code: string,
): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect(response.status(), text).toBe(status);
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(body).toMatchObject({ code, status, correlationId: expect.any(String) });
  return body;
}

const ten = ({ tenantId }: Customer) => toPublicId("ten", tenantId);
const dst = ({ destinationId }: Customer) => toPublicId("dst", destinationId);
const pause = (lengthMs: number) => ({ end: { forMs: lengthMs } });

async function as(
  world: World,
  name: keyof World["accounts"],
  work: (client: APIRequestContext) => Promise<void>,
): Promise<void> {
  const client = await clientOf(world, world.accounts[name]);
  try {
    await work(client);
  } finally {
    await client.dispose();
  }
}

test("a role that may not is refused in words for every command, and the region's audit says so", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Refusing Bank", "/ok/refusing");
  const { id: delivery } = await enqueue(world, "us", customer, { key: `refusing-${Date.now()}` });
  const { payload } = await readAsOperator<{ payload: { id: string } }>(
    world,
    `deliveries/${delivery}/control?region=us`,
  );
  const tenant = `tenants/${ten(customer)}`;
  const destination = `destinations/${dst(customer)}`;
  const needs: Readonly<Record<"viewer" | "support" | "operator", readonly (readonly [string, object])[]>> = {
    viewer: [
      [`${tenant}/pause`, pause(HOUR_MS)],
      [`${tenant}/resume`, {}],
      [`${tenant}/limits`, { concurrencyLimit: 1 }],
      [`${destination}/pause`, pause(HOUR_MS)],
      [`${destination}/test-event`, {}],
      [`deliveries/${delivery}/retry-now`, {}],
      [`deliveries/${delivery}/will-not-replay`, {}],
    ],
    support: [
      [`${destination}/disable`, {}],
      [`${destination}/enable`, {}],
      [`${destination}/open-gate`, { gateUntil: new Date().toISOString() }],
      [`${destination}/rotate-secret`, {}],
      [`${destination}/end-previous-secret`, {}],
      [`deliveries/${delivery}/cancel`, {}],
      [`payloads/${payload.id}/erase`, {}],
      [`payloads/${payload.id}/restrict`, {}],
      ["regions/us/stop-claims", { typed: "us" }],
    ],
    operator: [["regions/us/defaults", { tenantConcurrency: 90 }]],
  };
  for (const name of ["viewer", "support", "operator"] as const) {
    await as(world, name, async (client) => {
      for (const [path, body] of needs[name]) {
        const response = await post(client, `${path}?region=us`, { version: 1, body });
        expect((await problem(response, 403, "forbidden")).roles, path).toContain("admin");
        const [, target = ""] = path.split("/");
        expect((await readAudit(world.regions.us, target)).at(-1), path).toMatchObject({
          result: "denied",
          actor: `user:${world.accounts[name].email}`,
        });
      }
    });
  }
  // Nobody may do what nobody is signed in for, and nothing has changed.
  const nobody = await newClient(world.consoleUrl);
  await problem(
    await post(nobody, `${tenant}/pause?region=us`, { version: 1, body: pause(HOUR_MS) }),
    401,
    "unauthenticated",
  );
  await nobody.dispose();
  expect(await control(world, customer)).toMatchObject({
    version: 1,
    disabled: null,
    pause: { until: null },
  });
});

test("the conditions of a role hold: support pauses at most 4 h and only lowers limits", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Narrow Bank", "/ok/narrow");
  await as(world, "support", async (client) => {
    const tenant = `tenants/${ten(customer)}`;
    const long = await post(client, `${tenant}/pause?region=us`, { version: 1, body: pause(5 * HOUR_MS) });
    expect((await problem(long, 403, "forbidden")).detail).toContain("at most 4 hours");
    expect(
      (await post(client, `${tenant}/pause?region=us`, { version: 1, body: pause(HOUR_MS) })).status(),
    ).toBe(200);
    const limits = `destinations/${dst(customer)}/limits?region=us`;
    await problem(
      await post(client, limits, { version: 1, body: { concurrencyLimit: 11 } }),
      403,
      "forbidden",
    );
    const lower = await post(client, limits, { version: 1, body: { concurrencyLimit: 5 } });
    expect(await lower.json()).toMatchObject({ version: 2, after: { concurrencyLimit: 5 }, applied: true });
  });
  const audit = await readAudit(world.regions.us, ten(customer));
  expect(audit.map(({ result, tenant_id }) => [result, tenant_id])).toEqual([
    ["denied", customer.tenantId],
    ["done", customer.tenantId],
  ]);
  await as(world, "operator", async (client) => {
    const limits = `destinations/${dst(customer)}/limits?region=us`;
    // 10 was in force a moment ago: back at once. Beyond it the step rule counts.
    expect((await post(client, limits, { version: 2, body: { concurrencyLimit: 10 } })).status()).toBe(200);
    const far = await post(client, limits, { version: 3, body: { concurrencyLimit: 21 } });
    expect(await problem(far, 422, "bad_step")).toMatchObject({ why: "factor", most: 20 });
    await problem(
      await post(client, limits, { version: 3, body: { concurrencyLimit: 0 } }),
      422,
      "bad_limit",
    );
    const beyond = await post(client, limits, { version: 3, body: { concurrencyLimit: 5_000 } });
    await problem(beyond, 403, "forbidden");
  });
});

test("REG-4 another region's row, another tenant's row and no row at all are the same 404", async ({
  world,
}) => {
  const eu = await addCustomer(world, "eu", "Far Bank", "/ok/far");
  const us = await addCustomer(world, "us", "Near Bank", "/ok/near");
  const body = pause(HOUR_MS);
  const absent = toPublicId("ten", randomUUID());
  await as(world, "us-operator", async (client) => {
    for (const path of [
      `tenants/${ten(eu)}/pause?region=eu`,
      `tenants/${ten(eu)}/pause?region=us`,
      `tenants/${absent}/pause?region=us`,
      `destinations/${dst(eu)}/pause?region=eu`,
      "regions/eu/stop-claims",
      "regions/mars/stop-claims",
    ]) {
      const found = await problem(await post(client, path, { version: 1, body }), 404, "not_found");
      expect(JSON.stringify(found), path).not.toContain("Far Bank");
    }
    await problem(await client.get(`/api/v1/tenants/${ten(eu)}/control?region=eu`), 404, "not_found");
    await problem(await client.get("/api/v1/regions/eu/control"), 404, "not_found");
    await problem(await client.get("/api/v1/regions/eu/drain"), 404, "not_found");
  });
  const person = await createPerson(world.regions, "one-of-us", {
    role: "operator",
    regions: ["us"],
    tenantIds: [us.tenantId],
  });
  const other = await addCustomer(world, "us", "Third Bank", "/ok/third");
  const client = await clientOf(world, person);
  await problem(
    await post(client, `tenants/${ten(other)}/pause?region=us`, { version: 1, body }),
    404,
    "not_found",
  );
  await problem(
    await post(client, "regions/us/stop-claims", { version: 1, body: { typed: "us" } }),
    404,
    "not_found",
  );
  expect((await post(client, `tenants/${ten(us)}/pause?region=us`, { version: 1, body })).status()).toBe(200);
  await client.dispose();
});

test("a change names the version that it is based on, and an old one is told who was faster", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Stale Bank", "/ok/stale");
  const path = `destinations/${dst(customer)}/limits?region=us`;
  await as(world, "operator", async (client) => {
    const body = { concurrencyLimit: 5 };
    await problem(await post(client, path, { body }), 428, "precondition_required");
    const weak = await client.post(`/api/v1/${path}`, {
      data: { reason: REASON, ...body },
      headers: { "if-match": "*" },
    });
    await problem(weak, 428, "precondition_required");
    const done = await post(client, path, { version: 1, body });
    expect(done.headers().etag).toBe('"2"');
  });
  await as(world, "admin", async (client) => {
    const stale = await post(client, path, { version: 1, body: { concurrencyLimit: 3 } });
    expect(await problem(stale, 412, "version_conflict")).toMatchObject({
      seen: 1,
      current: {
        version: 2,
        changedBy: `user:${world.accounts.operator.email}`,
        changedAt: expect.stringMatching(/Z$/),
        action: "destination.limits",
        before: { concurrencyLimit: null },
        after: { concurrencyLimit: 5 },
      },
    });
  });
});

test("an Idempotency-Key makes one change of two requests, one after the other and at once", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Double Bank", "/ok/double");
  const path = `tenants/${ten(customer)}/limits?region=us`;
  await as(world, "operator", async (client) => {
    const key = randomUUID();
    const first = await post(client, path, { version: 1, key, body: { concurrencyLimit: 50 } });
    const again = await post(client, path, { version: 1, key, body: { concurrencyLimit: 50 } });
    expect(first.status()).toBe(200);
    expect(first.headers()["idempotency-replayed"]).toBeUndefined();
    expect(again.headers()["idempotency-replayed"]).toBe("true");
    expect(await again.json()).toEqual(await first.json());
    const other = await post(client, path, { version: 2, key, body: { concurrencyLimit: 40 } });
    await problem(other, 422, "idempotency_mismatch");
    await problem(await post(client, path, { version: 2, key: "a b" }), 422, "bad_key");

    const twice = randomUUID();
    const both = await Promise.all(
      [1, 2].map(() => post(client, path, { version: 2, key: twice, body: { concurrencyLimit: 30 } })),
    );
    expect(both.map((response) => response.status())).toEqual([200, 200]);
    const answers = (await Promise.all(both.map((response) => response.json()))) as { auditId: string }[];
    expect(new Set(answers.map(({ auditId }) => auditId)).size).toBe(1);
  });
  expect(await readAudit(world.regions.us, ten(customer))).toHaveLength(2);
});

test("another site's page, and a body that does not fit, change nothing", async ({ world }) => {
  const customer = await addCustomer(world, "us", "Quiet Bank", "/ok/quiet");
  const path = `tenants/${ten(customer)}/pause?region=us`;
  const state = await sessionOf(world, world.accounts.operator);
  for (const headers of [
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "null" },
    {} as Record<string, string>,
  ]) {
    const client = await newClient(world.consoleUrl, state, headers);
    await problem(await post(client, path, { version: 1, body: pause(HOUR_MS) }), 403, "cross_site");
    await client.dispose();
  }
  await as(world, "operator", async (client) => {
    const send = (body: object) => post(client, path, { version: 1, body });
    await problem(await send({}), 422, "bad_pause");
    await problem(await send({ ...pause(HOUR_MS), reason: "short" }), 422, "bad_reason");
    await problem(await send({ ...pause(HOUR_MS), version: 1 }), 422, "invalid_body");
    await problem(await send({ ...pause(HOUR_MS), tenantId: ten(customer) }), 422, "invalid_body");
    await problem(await send({ ...pause(HOUR_MS), colour: "blue" }), 422, "invalid_body");
    await problem(await post(client, `tenants/${ten(customer)}/pause`, { version: 1 }), 422, "invalid_query");
    await problem(await post(client, "tenants/ten_x/pause?region=us", { version: 1 }), 400, "bad_id");
  });
  expect(await readAudit(world.regions.us, ten(customer))).toEqual([]);
});

test("CTL-1 a region's claims stop only for who types its name, drain to zero, and start again", async ({
  world,
}) => {
  await as(world, "operator", async (client) => {
    const view = async () => okOf<RegionControlView>(await client.get("/api/v1/regions/eu/control"));
    const { version, permit } = await view();
    expect(permit.region_claims).toMatchObject({ allowed: true, typed: true });
    const stop = (typed?: string) =>
      post(client, "regions/eu/stop-claims", { version, body: typed === undefined ? {} : { typed } });
    for (const typed of [undefined, "us", "europe"]) {
      expect(await problem(await stop(typed), 422, "invalid_body")).toMatchObject({
        errors: [{ pointer: "typed" }],
      });
    }
    expect(await (await stop("EU")).json()).toMatchObject({ applied: true, after: { claims: "stopped" } });
    try {
      await expect(async () => {
        expect(await (await client.get("/api/v1/regions/eu/drain")).json()).toMatchObject({
          claims: "stopped",
          leases: 0,
          drained: true,
        });
      }).toPass({ timeout: 40_000 });
      expect(await view()).toMatchObject({ claims: "stopped", stopped: { reason: REASON } });
    } finally {
      const now = await view();
      const started = await post(client, "regions/eu/start-claims", {
        version: now.version,
        body: { typed: "eu" },
      });
      expect(started.status()).toBe(200);
    }
  });
});

test("a signed test event is delivered like any other, and a new secret is shown once", async ({ world }) => {
  const customer = await addCustomer(world, "us", "Tested Bank", "/ok/tested");
  const path = `destinations/${dst(customer)}`;
  await as(world, "operator", async (client) => {
    const sent = await post(client, `${path}/test-event?region=us`, { version: 1, key: randomUUID() });
    const { after } = (await sent.json()) as { after: { deliveryId: string } };
    await expect(async () => {
      const found = await client.get(`/api/v1/deliveries/${after.deliveryId}`);
      expect(await found.text()).toContain('"state":"delivered"');
    }).toPass();
    const soon = await post(client, `${path}/test-event?region=us`, { version: 1 });
    await problem(soon, 429, "too_many_requests");
    expect(Number(soon.headers()["retry-after"])).toBeGreaterThan(0);

    const key = randomUUID();
    const rotated = await post(client, `${path}/rotate-secret?region=us`, { version: 1, key });
    const { secret } = (await rotated.json()) as { secret: string };
    expect(secret).toMatch(/^whsec_/);
    const again = await post(client, `${path}/rotate-secret?region=us`, { version: 1, key });
    expect(await again.json()).toMatchObject({ secret: null, version: 2 });
    expect(JSON.stringify(await readAudit(world.regions.us, dst(customer)))).not.toContain(secret);
    expect(await control(world, customer)).toMatchObject({ secret: { previousUntil: expect.any(String) } });
  });
});

/** The destination as an operator's dialog sees it. */
async function control(world: World, customer: Customer): Promise<DestinationControlView> {
  return readAsOperator(world, `destinations/${dst(customer)}/control?region=us`);
}

async function readAsOperator<T>(world: World, path: string): Promise<T> {
  const client = await clientOf(world, world.accounts.operator);
  try {
    return await okOf<T>(await client.get(`/api/v1/${path}`));
  } finally {
    await client.dispose();
  }
}

async function okOf<T>(response: APIResponse): Promise<T> {
  expect(response.status(), await response.text()).toBe(200);
  const answer = (await response.json()) as RegionAnswer<T>;
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}
