/**
 * Who may see and do what, asked of the API directly: no credential, a narrow grant, a low role, another site's page,
 * a service token. What lies outside a scope does not exist, in rows and in counts.
 */
import { readdirSync } from "node:fs";
import type { APIRequestContext } from "@playwright/test";
import type { DeadLetterPage } from "#db/console/list-dead-letters.ts";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";
import type { Scope } from "#db/console/list-scope.ts";
import type { Overview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { readAuditOf } from "#tests/support/access-rows/sql.ts";
import { becomes } from "./page-parts.ts";
import { clientOf, createPerson, newClient, sessionOf } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const NO_DELIVERY = `dlv_${"0".repeat(32)}`;
const DATA_ROUTES = [
  "/api/v1/overview",
  "/api/v1/series?region=us",
  "/api/v1/deliveries?region=us",
  `/api/v1/deliveries/${NO_DELIVERY}`,
  "/api/v1/dead-letters?region=us",
  "/api/v1/scope?region=us",
  "/api/v1/me",
  "/api/v1/tokens",
  "/api/v1/nothing-here",
] as const;

const TOKEN_BODY = {
  name: "should-not-exist",
  role: "viewer",
  scopes: ["read"],
  regions: ["us"],
  days: 1,
  reason: "tried by a browser test",
} as const;

async function okData<T>(client: APIRequestContext, path: string): Promise<T> {
  const response = await client.get(path);
  expect(response.status(), path).toBe(200);
  const answer = (await response.json()) as RegionAnswer<T>;
  if (answer.status !== "ok") throw new Error(`${path}: ${answer.detail}`);
  return answer.data;
}

/** Every route.ts under app/api/v1 as a path, so that a new one cannot be forgotten here. */
function apiPaths(): string[] {
  return readdirSync("app/api/v1", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("route.ts"))
    .map((file) => `/api/v1/${file.replace(/\/?route\.ts$/, "").replaceAll(/\[[^\]]+\]/g, NO_DELIVERY)}`);
}

test("fault 97: without a credential every route answers 401 by itself, also past the proxy", async ({
  world,
}) => {
  const tricks: Record<string, string>[] = [
    {},
    { "x-middleware-subrequest": "proxy:proxy:proxy:proxy:proxy" },
    {
      "x-middleware-subrequest": "src/middleware:src/middleware:src/middleware:src/middleware:src/middleware",
    },
    { authorization: `Bearer sluice_${"A".repeat(43)}` },
    { cookie: "sluice.session_token=made-up.c2lnbmF0dXJl" },
  ];
  for (const headers of tricks) {
    const client = await newClient(world.consoleUrl, undefined, { origin: world.consoleUrl, ...headers });
    const refused = [...DATA_ROUTES, ...apiPaths()].map(async (path) => {
      const response = await client.get(path, { headers: { "x-request-id": "fault-97" } });
      expect([401, 405], `${path} ${JSON.stringify(headers)}`).toContain(response.status());
      if (response.status() === 405) return;
      expect(response.headers()["content-type"]).toContain("application/problem+json");
      expect(response.headers()["www-authenticate"]).toContain("Bearer");
      expect(await response.json()).toMatchObject({ code: "unauthenticated", correlationId: "fault-97" });
    });
    await Promise.all(refused);
    for (const method of ["post", "put", "patch", "delete"] as const) {
      for (const path of ["/api/v1/tokens", `/api/v1/tokens/tok_${"0".repeat(32)}`, "/api/v1/nothing-here"]) {
        const response = await client[method](path, { data: TOKEN_BODY });
        expect([401, 405], `${method} ${path}`).toContain(response.status());
      }
    }
    const page = await client.get("/", { maxRedirects: 0 });
    expect(page.status()).toBe(307);
    await client.dispose();
  }
});

test("a grant for us sees no eu row and no eu count, on pages and by direct calls", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "eu", "Hidden Bank", "/ok/hidden");
  const { id } = await enqueue(world, "eu", customer, { key: `hidden-${Date.now()}` });
  const client = await clientOf(world, world.accounts["us-operator"]);

  const overview = (await (await client.get("/api/v1/overview")).json()) as Overview;
  expect(overview.regions.map(({ region }) => region)).toEqual(["us"]);
  for (const path of [
    "/api/v1/overview?region=eu",
    "/api/v1/overview?region=us,eu",
    "/api/v1/series?region=eu",
    "/api/v1/deliveries?region=eu",
    `/api/v1/deliveries?region=eu&tenant=${customer.slug}`,
    "/api/v1/dead-letters?region=eu",
    "/api/v1/scope?region=eu",
    `/api/v1/deliveries/${id}`,
  ]) {
    const response = await client.get(path);
    expect(response.status(), path).toBe(404);
    expect(await response.text(), path).not.toContain("Hidden Bank");
  }
  // Neither from a delivery that does not exist at all.
  const absent = (await (await client.get(`/api/v1/deliveries/${NO_DELIVERY}`)).json()) as { detail: string };
  const hidden = (await (await client.get(`/api/v1/deliveries/${id}`)).json()) as { detail: string };
  expect(hidden.detail.replace(id, "")).toBe(absent.detail.replace(NO_DELIVERY, ""));
  expect(await (await client.get("/api/v1/me")).json()).toMatchObject({ regions: ["us"] });
  await client.dispose();

  await becomes(page, world, world.accounts["us-operator"]);
  await page.goto("/");
  await expect(page.getByTestId("verdict-us")).toBeVisible();
  await expect(page.getByTestId("verdict-eu")).toHaveCount(0);
  await expect(page.getByTestId("region-eu")).toHaveCount(0);
  await expect(page.getByRole("radio", { name: "EU" })).toHaveCount(0);
  await expect(page.getByRole("radio", { name: "All regions" })).toHaveCount(0);
  await page.goto(`/deliveries/${id}`);
  await expect(page.getByText("No such delivery")).toBeVisible();
  await page.goto("/deliveries?region=eu");
  await expect(page.getByRole("alert").filter({ hasText: "Not found" })).toBeVisible();
  await expect(page.getByText("Hidden Bank")).toHaveCount(0);
});

test("a grant for eu alone opens its own region without being asked", async ({ page, world }) => {
  await becomes(page, world, world.accounts["eu-viewer"]);
  await page.goto("/deliveries");
  await expect(page.getByRole("radio", { name: "EU" })).toBeChecked();
  await expect(page.getByRole("row").nth(1)).toBeVisible();
});

test("a grant for one tenant sees that tenant in every list and count, and no other", async ({ world }) => {
  const mine = await addCustomer(world, "us", "Own Bank", "/ok/own");
  const other = await addCustomer(world, "us", "Other Bank", "/ok/other");
  const { pool } = world.regions.us;
  for (const { destinationId } of [mine, other]) {
    await pool.query(
      "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
      [destinationId],
    );
  }
  const own = await enqueue(world, "us", mine, { key: `own-${Date.now()}` });
  const foreign = await enqueue(world, "us", other, { key: `other-${Date.now()}` });
  const person = await createPerson(world.regions, "one-tenant", {
    role: "support",
    regions: ["us"],
    tenantIds: [mine.tenantId],
  });
  const client = await clientOf(world, person);

  const overview = (await (await client.get("/api/v1/overview")).json()) as Overview;
  const [answer] = overview.regions;
  if (answer?.status !== "ok") throw new Error("The region did not answer.");
  expect(answer.data.tenants.map(({ slug }) => slug)).toEqual([mine.slug]);
  expect(answer.data).toMatchObject({ gated: 1, ready: 1, tenantsLeftOut: 0, deadLetters: { count: 0 } });
  expect(answer.data.recent).toMatchObject({ deliveredLastHour: 0, requests: 0 });

  const deliveries = await okData<DeliveryPage>(client, "/api/v1/deliveries?region=us&limit=100");
  expect(deliveries.rows.map(({ id }) => id)).toEqual([own.id]);
  const asked = await okData<DeliveryPage>(client, `/api/v1/deliveries?region=us&tenant=${other.slug}`);
  expect(asked.rows).toEqual([]);
  const dead = await okData<DeadLetterPage>(client, "/api/v1/dead-letters?region=us");
  expect(dead).toEqual({ rows: [], next: null, latestDiedAt: null });
  const scope = await okData<Scope>(client, "/api/v1/scope?region=us");
  expect(scope.tenants.map(({ slug }) => slug)).toEqual([mine.slug]);
  expect((await client.get(`/api/v1/deliveries/${own.id}`)).status()).toBe(200);
  expect((await client.get(`/api/v1/deliveries/${foreign.id}`)).status()).toBe(404);
  expect((await client.get("/api/v1/series?region=us")).status()).toBe(200);
  await client.dispose();
});

test("a role that may not is refused by the API, in words, and the attempt is recorded", async ({
  world,
}) => {
  for (const name of ["viewer", "support", "operator"] as const) {
    const person = world.accounts[name];
    const client = await clientOf(world, person);
    const response = await client.post("/api/v1/tokens", { data: TOKEN_BODY });
    expect(response.status(), name).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "forbidden",
      action: "service_tokens",
      roles: ["admin"],
    });
    expect((await client.get("/api/v1/tokens")).status(), name).toBe(403);
    const audit = await readAuditOf(world.regions.us.pool, `user:${person.email}`);
    expect(audit).toEqual([{ action: "service_tokens", result: "denied", target_id: "POST /api/v1/tokens" }]);
    await client.dispose();
  }
});

test("a request that another site's page makes a browser send is refused, and changes nothing", async ({
  world,
}) => {
  const { admin } = world.accounts;
  const state = await sessionOf(world, admin);
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: world.consoleUrl, "sec-fetch-site": "same-site" },
    // A browser always says from where; what does not, and carries a cookie, is no browser of ours.
    {},
  ];
  for (const headers of foreign) {
    const client = await newClient(world.consoleUrl, state, headers);
    for (const [path, data] of [
      ["/api/v1/tokens", TOKEN_BODY],
      ["/api/auth/sign-out", {}],
      ["/api/auth/sign-in/email", { email: admin.email, password: admin.password }],
    ] as const) {
      const response = await client.post(path, { data });
      expect(response.status(), `${path} ${JSON.stringify(headers)}`).toBe(403);
      expect(await response.json()).toMatchObject({ code: "cross_site" });
    }
    await client.dispose();
  }
  const reading = await newClient(world.consoleUrl, state, { "sec-fetch-site": "cross-site" });
  expect((await reading.get("/api/v1/overview")).status()).toBe(403);
  await reading.dispose();
  const own = await newClient(world.consoleUrl, state);
  const { tokens } = (await (await own.get("/api/v1/tokens")).json()) as { tokens: { name: string }[] };
  expect(tokens.map(({ name }) => name)).not.toContain(TOKEN_BODY.name);
  await own.dispose();
});

test("a service token is shown once, does its scopes in its regions, and ends when it is revoked", async ({
  world,
}) => {
  const admin = await clientOf(world, world.accounts.admin);
  const made = await admin.post("/api/v1/tokens", {
    data: { ...TOKEN_BODY, name: `e2e-${Date.now()}`, role: "operator", scopes: ["read"] },
  });
  expect(made.status()).toBe(201);
  const { id, token } = (await made.json()) as { id: string; token: string };
  expect(token).toMatch(/^sluice_[A-Za-z0-9_-]{43}$/);
  expect(await (await admin.get("/api/v1/tokens")).text()).not.toContain(token);
  const stored = await world.regions.us.pool.query(
    "SELECT count(*)::integer AS n FROM sluice.console_service_token t WHERE t::text LIKE '%' || $1 || '%'",
    [token],
  );
  expect(stored.rows).toEqual([{ n: 0 }]);

  const program = await newClient(world.consoleUrl, undefined, { authorization: `Bearer ${token}` });
  expect((await program.get("/api/v1/deliveries?region=us")).status()).toBe(200);
  expect((await program.get("/api/v1/deliveries?region=eu")).status()).toBe(404);
  expect((await program.post("/api/v1/tokens", { data: TOKEN_BODY })).status()).toBe(403);
  // A page is for people.
  expect((await program.get("/", { maxRedirects: 0 })).status()).toBe(307);

  expect((await admin.delete(`/api/v1/tokens/${id}`, { data: { reason: "short" } })).status()).toBe(422);
  expect(
    (await admin.delete(`/api/v1/tokens/${id}`, { data: { reason: "the test is over now" } })).status(),
  ).toBe(200);
  expect((await program.get("/api/v1/deliveries?region=us")).status()).toBe(401);
  expect(
    (await admin.delete(`/api/v1/tokens/${id}`, { data: { reason: "the test is over now" } })).status(),
  ).toBe(404);
  const audit = await readAuditOf(world.regions.us.pool, `user:${world.accounts.admin.email}`);
  expect(audit.map(({ action, target_id }) => [action, target_id])).toEqual(
    expect.arrayContaining([
      ["token.create", id],
      ["token.revoke", id],
    ]),
  );
  await program.dispose();
  await admin.dispose();
});

test("nobody makes a token that reaches further than they do", async ({ world }) => {
  const person = await createPerson(world.regions, "us-admin", {
    role: "admin",
    regions: ["us"],
    tenantIds: null,
  });
  const client = await clientOf(world, person);
  const refused = await client.post("/api/v1/tokens", { data: { ...TOKEN_BODY, regions: ["us", "eu"] } });
  expect(refused.status()).toBe(403);
  const { tokens } = (await (await client.get("/api/v1/tokens")).json()) as {
    tokens: { regions: string[] }[];
  };
  for (const { regions } of tokens) expect(regions).toEqual(["us"]);
  await client.dispose();
});

test("a body that does not fit is refused before anything is done", async ({ world }) => {
  const client = await clientOf(world, world.accounts.admin);
  const post = (data: string, type = "application/json") =>
    client.post("/api/v1/tokens", { data: Buffer.from(data), headers: { "content-type": type } });
  expect((await post("{")).status()).toBe(400);
  expect((await post("name=x", "application/x-www-form-urlencoded")).status()).toBe(415);
  expect((await post(JSON.stringify({ ...TOKEN_BODY, name: "x".repeat(70_000) }))).status()).toBe(413);
  const unknown = await post(JSON.stringify({ ...TOKEN_BODY, colour: "blue" }));
  expect(unknown.status()).toBe(422);
  expect(await unknown.json()).toMatchObject({ code: "invalid_body", errors: [{ pointer: "colour" }] });
  await client.dispose();
});

test("of better-auth only the doors that are named exist", async ({ world }: { world: World }) => {
  const client = await newClient(world.consoleUrl);
  for (const path of ["/sign-up/email", "/update-user", "/sign-in/oidc", "/sign-in/social", "/delete-user"]) {
    const response = await client.post(`/api/auth${path}`, {
      data: { email: "a@b.example", password: "long-enough-1" },
    });
    expect(response.status(), path).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
  }
  expect((await client.get("/api/auth/get-session")).status()).toBe(404);
  const signedIn = await client.post("/api/auth/sign-in/email", {
    data: { email: world.accounts.viewer.email, password: world.accounts.viewer.password },
  });
  // The session travels in a cookie that no script reads, and nowhere else.
  expect(await signedIn.json()).toEqual({});
  expect(signedIn.headers()["set-cookie"]).toMatch(/sluice\.session_token=.*HttpOnly.*SameSite=Lax/i);
  await client.dispose();
});
