/** The API that the pages read: fresh, strict, and silent about bodies and secrets. */
import type { APIResponse } from "@playwright/test";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

interface ProblemBody {
  code: string;
  correlationId: string;
  errors?: { pointer: string }[];
}

async function problemOf(response: APIResponse): Promise<ProblemBody> {
  expect(response.headers()["content-type"]).toContain("application/problem+json");
  return (await response.json()) as ProblemBody;
}

test("two reads differ in their time, and nobody may store them", async ({ request }) => {
  const read = async () => {
    const response = await request.get("/api/v1/overview");
    expect(response.headers()["cache-control"]).toBe("no-store");
    return ((await response.json()) as { regions: { asOf: string }[] }).regions.map((region) => region.asOf);
  };
  const [first, second] = [await read(), await read()];
  expect(first).toHaveLength(2);
  for (const [index, asOf] of first.entries())
    expect(Date.parse(second[index] ?? "")).toBeGreaterThan(Date.parse(asOf));
});

for (const [query, pointer] of [
  ["region=us&state=sleeping", "state"],
  ["region=us&colour=blue", "colour"],
  ["region=mars", "region"],
  ["", "region"],
  ["region=us&region=eu", "region"],
  ["region=us&limit=101", "limit"],
  ["region=us&limit=0", "limit"],
]) {
  test(`a query that is not understood is refused, not widened: ?${query}`, async ({ request }) => {
    const response = await request.get(`/api/v1/deliveries?${query}`, {
      headers: { "x-request-id": "test-7" },
    });
    expect(response.status()).toBe(422);
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ code: "invalid_query", correlationId: "test-7" });
    expect(problem.errors?.map((issue) => issue.pointer)).toContain(pointer);
  });
}

test("unknown resources and ids are problems, not pages", async ({ request }) => {
  expect(await problemOf(await request.get("/api/v1/nothing-here"))).toMatchObject({ code: "not_found" });
  expect(await problemOf(await request.get("/api/v1/deliveries/dlv_x"))).toMatchObject({ code: "bad_id" });
  expect(await problemOf(await request.get("/api/v1/deliveries?region=us&cursor=zzz"))).toMatchObject({
    code: "bad_cursor",
  });
});

for (const [method, path, allow] of [
  ["DELETE", "/api/v1/deliveries", "GET, HEAD, OPTIONS, POST"],
  ["GET", "/api/v1/tenants/ten_x/pause", "OPTIONS, POST"],
  ["PUT", "/api/v1/destinations/dst_x", "DELETE, GET, HEAD, OPTIONS, PATCH"],
] as const) {
  test(`a method that a resource does not have is a problem with Allow: ${method} ${path}`, async ({
    request,
  }) => {
    const response = await request.fetch(path, { method, headers: { "x-request-id": "test-8" } });
    expect([response.status(), response.headers().allow]).toEqual([405, allow]);
    expect(await problemOf(response)).toMatchObject({ code: "method_not_allowed", correlationId: "test-8" });
    const options = await request.fetch(path, { method: "OPTIONS" });
    expect([options.status(), options.headers().allow]).toEqual([204, allow]);
  });
}

for (const path of ["/api/v1/deliveries/%", "/api/v1/deliveries/%ff/cancel", "/api/v1/nothing%zz"]) {
  test(`a path whose percent sign stands for nothing is a problem, not a page: ${path}`, async ({
    request,
  }) => {
    for (const method of ["GET", "POST"]) {
      const response = await request.fetch(path, { method, headers: { "x-request-id": "test-9" } });
      expect(response.status()).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: "bad_path", correlationId: "test-9" });
    }
  });
}

test("ID-8 a marker in a body and in the path of a destination is in no answer of the API", async ({
  request,
  world,
}) => {
  const marker = `marker-${Date.now()}`;
  const customer = await addCustomer(world, "us", "Marker Bank", `/ok/${marker}`);
  const { id } = await enqueue(world, "us", customer, {
    key: `key-of-${customer.slug}`,
    body: JSON.stringify({ marker }),
  });
  const paths = [
    `/api/v1/deliveries?region=us&tenant=${customer.slug}`,
    `/api/v1/deliveries/${id}`,
    "/api/v1/scope?region=us",
    "/api/v1/overview",
    "/api/v1/dead-letters?region=us",
  ];
  for (const path of paths) {
    const text = await (await request.get(path)).text();
    expect(text, path).not.toContain(marker);
  }
  await expect(async () => {
    const text = await (await request.get(`/api/v1/deliveries/${id}`)).text();
    expect(text).toContain('"state":"delivered"');
  }).toPass();
});

test("the console is alive and ready", async ({ request }) => {
  expect((await request.get("/healthz")).status()).toBe(200);
  expect((await request.get("/readyz")).status()).toBe(200);
});
