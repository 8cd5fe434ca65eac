/** The audit and the regions in a real browser: what was done stands there with its difference, and only for whom it concerns. */
import { toPublicId } from "#domain/ids.ts";
import { readAgain } from "./page-parts.ts";
import { clientOf, createPerson } from "./support/accounts.ts";
import { addCustomer, type Customer } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const REASON = "A browser test changes a limit";

/** Changes a tenant's weight as the operator; returns the audit id. */
async function changeWeight(world: World, region: "us" | "eu", customer: Customer): Promise<string> {
  const client = await clientOf(world, world.accounts.admin);
  const id = toPublicId("ten", customer.tenantId);
  const control = await client.get(`/api/v1/tenants/${id}/control?region=${region}`);
  const { version } = ((await control.json()) as { data: { version: number } }).data;
  const answer = await client.post(`/api/v1/tenants/${id}/weight?region=${region}`, {
    data: { weight: 2, reason: REASON, ticket: "OPS-42" },
    headers: { "if-match": `"${version}"` },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return ((await answer.json()) as { auditId: string }).auditId;
}

test("CTL-4 an audited action appears with actor, reason, ticket and result, and opens its difference", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "us", "Audited Bank", "/ok/audited");
  const auditId = await changeWeight(world, "us", customer);
  await page.goto(`/audit?region=us&tenant=${customer.slug}`);
  const row = page.getByRole("row").filter({ hasText: "Audited Bank" });
  await expect(row).toHaveCount(1);
  for (const text of [
    `user:${world.accounts.admin.email}`,
    "admin",
    "tenant: weight",
    REASON,
    "OPS-42",
    "OK",
  ]) {
    await expect(row).toContainText(text);
  }
  await row.getByRole("button").click();
  await expect(page).toHaveURL(new RegExp(`panel=${auditId}`));
  const panel = page.getByRole("dialog", { name: "Audit: tenant: weight" });
  await expect(panel).toContainText(auditId);
  const change = panel.getByRole("row").filter({ hasText: "weight" });
  await expect(change.getByRole("cell").nth(0)).toHaveText("1");
  await expect(change.getByRole("cell").nth(1)).toHaveText("2");
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/panel=/);
});

test("a try that was not allowed stands there as denied", async ({ page, world }) => {
  const customer = await addCustomer(world, "us", "Denied Bank", "/ok/denied");
  const id = toPublicId("ten", customer.tenantId);
  const viewer = await clientOf(world, world.accounts.viewer);
  const refused = await viewer.post(`/api/v1/tenants/${id}/pause?region=us`, {
    data: { reason: REASON, end: { forMs: 60_000 } },
    headers: { "if-match": '"1"' },
  });
  expect(refused.status()).toBe(403);
  await page.goto(`/audit?region=us&result=denied&target=${id}`);
  const row = page.getByRole("row").filter({ hasText: `user:${world.accounts.viewer.email}` });
  await expect(row.first()).toContainText("Denied");
  await expect(row.first()).toContainText("tenant: pause");
});

test("REG-3 a us grant sees no eu row, a tenant's grant only its own, and neither the other region", async ({
  world,
}) => {
  const us = await addCustomer(world, "us", "Near Bank", "/ok/near");
  const eu = await addCustomer(world, "eu", "Far Bank", "/ok/far");
  await changeWeight(world, "us", us);
  const euAudit = await changeWeight(world, "eu", eu);
  const usOnly = await clientOf(world, world.accounts["us-operator"]);
  const near = await usOnly.get("/api/v1/audit?region=us");
  expect(near.status()).toBe(200);
  const nearText = await near.text();
  expect(nearText).toContain(us.slug);
  expect(nearText).not.toContain(euAudit);
  expect(nearText).not.toContain(eu.slug);
  expect((await usOnly.get("/api/v1/audit?region=eu")).status()).toBe(404);
  expect((await usOnly.get("/api/v1/audit/export?region=eu")).status()).toBe(404);
  const narrow = await clientOf(
    world,
    await createPerson(world.regions, "near-support", {
      role: "support",
      regions: ["us"],
      tenantIds: [us.tenantId],
    }),
  );
  const { data } = (await (await narrow.get("/api/v1/audit?region=us")).json()) as {
    data: { rows: { tenant: { slug: string } | null }[] };
  };
  expect(data.rows.map(({ tenant }) => tenant?.slug)).toEqual([us.slug]);
});

test("the audit cannot be changed over the API, and comes as a file", async ({ world }) => {
  const client = await clientOf(world, world.accounts.admin);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    expect((await client.fetch("/api/v1/audit?region=us", { method, data: {} })).status()).toBe(405);
  }
  const file = await client.get("/api/v1/audit/export?region=us&format=ndjson");
  expect(file.headers()["content-disposition"]).toContain("attachment");
  const lines = (await file.text()).trim().split("\n");
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty("correlation_id");
});

test("regions: workers, lanes and lateness of both, and one that is stopped says who and counts its leases", async ({
  page,
  world,
}) => {
  await page.goto("/regions");
  for (const name of ["US", "EU"]) {
    const workers = page.getByRole("table", { name: `Workers of ${name}` });
    await expect(workers.getByRole("row").nth(1)).toContainText("Running");
    await expect(page.getByRole("table", { name: `Slots by lane in ${name}` })).toContainText(
      "First attempts",
    );
  }
  const client = await clientOf(world, world.accounts.operator);
  const version = async () => {
    const answer = await client.get("/api/v1/regions?region=eu");
    return ((await answer.json()) as { regions: { data: { claims: { version: number } } }[] }).regions[0]
      ?.data.claims.version;
  };
  const command = async (verb: string) =>
    client.post(`/api/v1/regions/eu/${verb}`, {
      data: { reason: REASON, typed: "eu" },
      headers: { "if-match": `"${await version()}"` },
    });
  const stopped = await command("stop-claims");
  expect(stopped.status(), await stopped.text()).toBe(200);
  try {
    await readAgain(page);
    const eu = page.getByRole("region", { name: /^EU/ });
    await expect(eu).toContainText("Claims stopped");
    await expect(eu).toContainText(world.accounts.operator.email);
    await expect(eu.getByRole("region", { name: "Drain" })).toContainText(/Leases held: .*0/);
  } finally {
    expect((await command("start-claims")).status()).toBe(200);
  }
  await readAgain(page);
  await expect(page.getByRole("region", { name: /^EU/ })).toContainText("Claims on");
});
