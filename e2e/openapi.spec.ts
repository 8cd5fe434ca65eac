/**
 * The document at /openapi.json against the console that serves it: every read that it names is called with ids of the
 * demo, and every answer, good or bad, fits its schema with nothing left over.
 */
import type { APIRequestContext, APIResponse } from "@playwright/test";
import { z } from "zod";
import { toPublicId } from "#domain/ids.ts";
import { clientOf, createPerson, newClient } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const LONG_MS = 180_000;
const REASON = "asked for by a browser test";

type Schema = Record<string, unknown>;
interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  schema: { enum?: string[] };
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: object;
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Call {
  method: string;
  path: string;
  operation: Operation;
}

let document: Document;
let calls: Call[];
/** An id of the demo for each resource with one. */
let ids: Record<string, string>;

test.beforeAll(async ({ world }) => {
  test.setTimeout(LONG_MS);
  const client = await newClient(world.consoleUrl);
  document = (await (await client.get("/openapi.json")).json()) as Document;
  await client.dispose();
  calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  ids = await demoIds(world);
});

/** A tenant with a dead letter and a draft of a replay batch with it, so that no schema is held to an empty list alone. */
async function demoIds(world: World): Promise<Record<string, string>> {
  const bank = await addCustomer(world, "us", "Open Bank", `/reject/422/open-${Date.now()}`);
  const { id } = await enqueue(world, "us", bank, { key: `open-${Date.now()}` });
  const admin = await clientOf(world, world.accounts.admin);
  const read = async (path: string) => (await (await admin.get(path)).json()) as never;
  await expect
    .poll(
      async () =>
        ((await read(`/api/v1/deliveries/${id}`)) as { delivery: { state: string } }).delivery.state,
      {
        timeout: 60_000,
      },
    )
    .toBe("dead");
  const groups: { data: { rows: { id: string }[] } } = await read(
    `/api/v1/dead-letter-groups?region=us&tenant=${bank.slug}`,
  );
  const batch = await admin.post("/api/v1/replays?region=us", { data: draftOf(id) });
  expect(batch.status(), await batch.text()).toBe(201);
  const { id: replay } = (await batch.json()) as { id: string };
  await admin.dispose();
  return {
    tenants: toPublicId("ten", bank.tenantId),
    destinations: toPublicId("dst", bank.destinationId),
    deliveries: id,
    "dead-letter-groups": groups.data.rows[0]?.id ?? "",
    replays: replay,
    regions: "us",
  };
}

const draftOf = (deliveryId: string) => ({
  name: "Open batch",
  selection: { ids: [deliveryId] },
  reason: REASON,
});

/** The document's schema as one that refuses what it does not name: answers are open for programs, not for this test. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "$ref" ? String(value).replace("#/components/schemas/", "#/$defs/") : closed(value),
    ]),
  );
  const isShape = copy.type === "object" && copy.properties !== undefined;
  return isShape && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

function validator(name: string): z.ZodType {
  const { Problem: _open, ...schemas } = document.components.schemas;
  const $defs = closed(schemas) as Record<string, Schema>;
  return z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs } as never);
}

const nameOf = (schema: Schema | undefined) =>
  String(schema?.$ref ?? "")
    .split("/")
    .at(-1) ?? "";

function pathOf({ path, operation }: Call, given: Record<string, string> = {}): string {
  const parts = path.split("/");
  const filled = parts.map((part, index) =>
    part.startsWith("{") ? (ids[parts[index - 1] ?? ""] ?? "") : part,
  );
  const query = new URLSearchParams();
  for (const { name, in: place, required, schema } of operation.parameters ?? []) {
    if (place !== "query" || !(required || name === "region")) continue;
    query.set(name, name === "q" ? "open" : (schema.enum?.[0] ?? "us"));
  }
  for (const [name, value] of Object.entries(given)) query.set(name, value);
  return `${filled.join("/")}?${query}`;
}

async function fits(response: APIResponse, { operation, path, method }: Call): Promise<void> {
  const where = `${method} ${path} ${response.status()}`;
  const declared = operation.responses[String(response.status())];
  const text = await response.text();
  expect(declared, `${where}: ${text}`).toBeDefined();
  const type = response.headers()["content-type"]?.split(";")[0] ?? "";
  expect(Object.keys(declared?.content ?? {}), where).toContain(type);
  if (!/^application\/(?:problem\+)?json$/.test(type)) return;
  const schema = declared?.content[type]?.schema;
  if (type === "application/json") {
    const result = validator(nameOf(schema)).safeParse(JSON.parse(text));
    expect(result.error?.issues ?? [], `${where}: ${text.slice(0, 2_000)}`).toEqual([]);
    return;
  }
  const [shape, narrowed] = (schema as { allOf: [Schema, { properties: { code: { enum: string[] } } }] })
    .allOf;
  const problem = JSON.parse(text) as { code: string };
  expect(
    z.fromJSONSchema(document.components.schemas[nameOf(shape)] as never).safeParse(problem).success,
  ).toBe(true);
  expect(narrowed.properties.code.enum, `${where}: ${text}`).toContain(problem.code);
}

const gets = () => calls.filter(({ method }) => method === "get");

test("the document is there without a sign-in, names nobody, and is not a page", async ({
  request,
  world,
}) => {
  const nobody = await newClient(world.consoleUrl);
  const open = await nobody.get("/openapi.json");
  expect(open.status()).toBe(200);
  expect(open.headers()["content-type"]).toContain("application/json");
  expect(open.headers()["content-security-policy"]).toBeUndefined();
  const text = await open.text();
  expect(await (await request.get("/openapi.json")).text()).toBe(text);
  const { rows } = await world.regions.us.pool.query<{ slug: string }>(
    "SELECT slug FROM sluice.tenant LIMIT 500",
  );
  expect(rows.length).toBeGreaterThan(3);
  for (const { slug } of rows) expect(text).not.toContain(`"${slug}"`);
  for (const secret of [world.accounts.admin.email, world.config.urls.us, "127.0.0.1"]) {
    expect(text).not.toContain(secret);
  }
  await nobody.dispose();
});

test("the about page leads to it", async ({ page }) => {
  await page.goto("/about");
  await expect(page.getByRole("link", { name: "OpenAPI" })).toHaveAttribute("href", "/openapi.json");
});

test("every read answers what the document says, and nothing that it does not say", async ({ world }) => {
  test.setTimeout(LONG_MS);
  const admin = await clientOf(world, world.accounts.admin);
  expect(gets().length).toBeGreaterThan(25);
  for (const call of gets()) {
    await test.step(call.path, async () => {
      const response = await admin.get(pathOf(call));
      expect(response.status(), `${call.path}: ${await response.text()}`).toBe(200);
      await fits(response, call);
    });
  }
  for (const call of gets().filter(({ path }) => path.endsWith("/export"))) {
    const other = call.operation.parameters?.find(({ name }) => name === "format")?.schema.enum?.at(-1);
    const response = await admin.get(pathOf(call, { format: other ?? "" }));
    expect(response.headers()["content-type"], call.path).toContain(
      other === "json" ? "application/json" : "application/x-ndjson",
    );
    await fits(response, call);
  }
  await admin.dispose();
});

test("the lists of every state and the other region fit as well", async ({ world }) => {
  test.setTimeout(LONG_MS);
  const admin = await clientOf(world, world.accounts.admin);
  for (const call of gets().filter(({ path }) => !path.includes("{") && !path.endsWith("/export"))) {
    for (const { name, in: place, schema } of call.operation.parameters ?? []) {
      if (place !== "query" || schema.enum === undefined) continue;
      for (const value of schema.enum) {
        const response = await admin.get(pathOf(call, { [name]: value }));
        expect(response.status(), `${call.path} ${name}=${value}: ${await response.text()}`).toBe(200);
        await fits(response, call);
      }
    }
  }
  await admin.dispose();
});

test("an answer with a field more, a field less or another kind of value would not fit", async ({
  request,
}) => {
  const profile = (await (await request.get("/api/v1/me")).json()) as Record<string, unknown>;
  const { name: _name, ...less } = profile;
  const shape = validator("ProfileAnswer");
  expect(shape.safeParse(profile).success).toBe(true);
  for (const wrong of [{ ...profile, surprise: 1 }, less, { ...profile, regions: "us" }, null]) {
    expect(shape.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test("an unknown parameter is refused everywhere, and so is everything without a sign-in", async ({
  world,
}) => {
  test.setTimeout(LONG_MS);
  const admin = await clientOf(world, world.accounts.admin);
  const nobody = await newClient(world.consoleUrl);
  for (const call of gets()) {
    await test.step(call.path, async () => {
      const unknown = await admin.get(pathOf(call, { colour: "blue" }));
      expect(unknown.status(), call.path).toBe(422);
      expect(await unknown.json()).toMatchObject({ code: "invalid_query" });
      await fits(unknown, call);
      const outside = await nobody.get(pathOf(call));
      expect(outside.status(), call.path).toBe(401);
      await fits(outside, call);
    });
  }
  await admin.dispose();
  await nobody.dispose();
});

/** `{}` at a row that does not exist: whatever is said first must be among what the document says. */
test("a change that is refused says so with a code that the document names", async ({ world }) => {
  test.setTimeout(LONG_MS);
  const admin = await clientOf(world, world.accounts.admin);
  const person = await createPerson(world.regions, "open-viewer", {
    role: "viewer",
    regions: ["us"],
    tenantIds: null,
  });
  const viewer = await clientOf(world, person);
  for (const call of calls.filter(({ method }) => method !== "get")) {
    await test.step(`${call.method} ${call.path}`, async () => {
      for (const client of [admin, viewer]) {
        const response = await change(client, call);
        expect(response.status(), await response.text()).toBeGreaterThanOrEqual(400);
        expect(response.status()).toBeLessThan(500);
        await fits(response, call);
      }
    });
  }
  await admin.dispose();
  await viewer.dispose();
});

const NO_ROW = "0".repeat(32);
const PREFIXES: Readonly<Record<string, string>> = {
  tenants: "ten",
  destinations: "dst",
  deliveries: "dlv",
  payloads: "pay",
  "dead-letter-groups": "dlg",
  replays: "rpl",
  "saved-views": "viw",
  tokens: "tok",
  people: "usr",
  grants: "grt",
};

function change(client: APIRequestContext, { method, path, operation }: Call): Promise<APIResponse> {
  const parts = path.split("/");
  const at = parts.map((part, index) => {
    const resource = parts[index - 1] ?? "";
    if (!part.startsWith("{")) return part;
    return resource === "regions" ? "us" : `${PREFIXES[resource]}_${NO_ROW}`;
  });
  const hasRegion = operation.parameters?.some(({ name }) => name === "region");
  return client.fetch(`${at.join("/")}${hasRegion ? "?region=us" : ""}`, {
    method,
    ...(operation.requestBody === undefined ? {} : { data: {} }),
  });
}

test("a command and a creation answer what the document says, with their headers", async ({ world }) => {
  const admin = await clientOf(world, world.accounts.admin);
  const callOf = (id: string) => calls.find(({ operation }) => operation.operationId === id) as Call;
  const slug = `open-${Date.now()}`;
  const tenant = await admin.post("/api/v1/tenants?region=us", {
    data: { slug, name: slug, reason: REASON },
  });
  expect(tenant.status(), await tenant.text()).toBe(201);
  await fits(tenant, callOf("createTenant"));
  const { id } = (await tenant.json()) as { id: string };
  const pause = callOf("tenantPause");
  const paused = await admin.post(pause.path.replace("{id}", id).concat("?region=us"), {
    data: { reason: REASON, end: { forMs: 60_000 } },
    headers: { "if-match": '"1"' },
  });
  expect(paused.status(), await paused.text()).toBe(200);
  await fits(paused, pause);
  expect(paused.headers().etag).toBe('"2"');
  const stale = await admin.post(pause.path.replace("{id}", id).concat("?region=us"), {
    data: { reason: REASON, end: { forMs: 60_000 } },
    headers: { "if-match": '"1"' },
  });
  expect(stale.status()).toBe(412);
  await fits(stale, pause);
  await admin.dispose();
});

test("a replay batch is looked up before, drafted and cancelled as the document says", async ({ world }) => {
  const admin = await clientOf(world, world.accounts.admin);
  const callOf = (id: string) => calls.find(({ operation }) => operation.operationId === id) as Call;
  const { name: _name, reason: _reason, ...selected } = draftOf(ids.deliveries ?? "");
  const preview = await admin.post("/api/v1/replays/preview?region=us", { data: selected });
  expect(preview.status(), await preview.text()).toBe(200);
  await fits(preview, callOf("previewReplay"));
  const drafted = await admin.post("/api/v1/replays?region=us", { data: draftOf(ids.deliveries ?? "") });
  expect(drafted.status(), await drafted.text()).toBe(201);
  await fits(drafted, callOf("draftReplay"));
  const { id } = (await drafted.json()) as { id: string };
  expect(drafted.headers().location).toContain(`/api/v1/replays/${id}`);
  const submit = callOf("replaySubmit");
  const early = await admin.post(submit.path.replace("{id}", id).concat("?region=us"), {
    data: { reason: REASON },
    headers: { "if-match": '"1"' },
  });
  expect(await early.json()).toMatchObject({ code: "replay_not_ready" });
  await fits(early, submit);
  const cancel = callOf("replayCancel");
  const cancelled = await admin.post(cancel.path.replace("{id}", id).concat("?region=us"), {
    data: { reason: REASON },
    headers: { "if-match": '"1"' },
  });
  expect(cancelled.status(), await cancelled.text()).toBe(200);
  await fits(cancelled, cancel);
  await admin.dispose();
});
