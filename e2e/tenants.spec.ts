/** From the tenants to one destination and its evidence; and tenants and destinations made and changed over the API. */
import { randomUUID } from "node:crypto";
import { bar } from "./controls-parts.ts";
import { clientOf } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

const REASON = "asked for by the customer";

test("a gated destination is found from the list of tenants, and its page shows the evidence", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "us", "Limited Bank", "/429/seconds/120/limited-bank");
  await enqueue(world, "us", customer, { key: `limited-${Date.now()}` });
  await expect(async () => {
    const { rows } = await world.regions.us.pool.query(
      "SELECT 1 FROM sluice.destination_state WHERE destination_id = $1 AND hold_until > clock_timestamp()",
      [customer.destinationId],
    );
    expect(rows).toHaveLength(1);
  }).toPass();

  const missing: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 404 && response.url().includes("/api/")) missing.push(response.url());
  });
  await page.goto("/tenants");
  await page.getByRole("searchbox", { name: "Name or slug" }).fill(customer.slug);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`q=${customer.slug}`));
  const row = page.getByRole("row", { name: /Limited Bank/ });
  await expect(row).toContainText("Rate-limited");
  await row.getByRole("link", { name: "Limited Bank" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "Limited Bank" })).toBeVisible();
  await expect(page.getByText("Due behind gates or breakers")).toBeVisible();
  const why = page.getByRole("region", { name: "Why its deliveries wait" });
  await expect(why.getByRole("link", { name: "Ledger" })).toHaveAttribute("href", /^\/destinations\/dst_/);
  await expect(why).toContainText("answered 429: its gate is shut since");
  await expect(why).toContainText(/until .* UTC \(in .*\); then one probe goes first\./);
  await expect(why).toContainText(/Last answer: 429 rate-limited, .* ago, Retry-After 120\./);
  await expect(page.getByRole("button", { name: "Draft replay" })).toBeDisabled();
  await expect(page.getByText("It has no dead letters.")).toBeVisible();
  // It has no twin in the other region, and asking for one is no error in the browser's console.
  const twinAsked = page.waitForResponse((response) =>
    response.url().includes("/api/v1/tenants?region=eu&q="),
  );
  await bar(page, "Limited Bank, US").getByRole("button", { name: "Pause" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: /^Pause/ })).toBeVisible();
  await twinAsked;
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.getByRole("tab", { name: /^Destinations/ }).click();
  await expect(page).toHaveURL(/tab=destinations/);
  await page
    .getByRole("row", { name: /Ledger/ })
    .getByRole("link", { name: "Ledger" })
    .click();

  const evidence = page.getByRole("region", { name: "What holds it back" });
  await expect(evidence).toContainText("Gate shut");
  await expect(evidence).toContainText("by an answer of 429");
  await expect(evidence.getByText("120", { exact: true })).toBeVisible();
  await expect(evidence).toContainText("Adaptive limit");
  await page.getByRole("tab", { name: "Attempts" }).click();
  await expect(page.getByRole("row", { name: /429 Rate-limited/ })).toContainText("120");
  expect(missing).toEqual([]);
});

test("SIG-6 filters of tenants and destinations live in the address and come back with it", async ({
  page,
}) => {
  await page.goto("/tenants");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.getByRole("combobox", { name: "Order" }).selectOption("name");
  await expect(page).toHaveURL(/sort=name/);
  await page.getByRole("combobox", { name: "State" }).selectOption("active");
  await expect(page).toHaveURL(/state=active/);
  await page.reload();
  await expect(page.getByRole("combobox", { name: "State" })).toHaveValue("active");
  await expect(page.getByRole("row").nth(1)).toContainText("Active");
  await page.goBack();
  await expect(page.getByRole("combobox", { name: "State" })).toHaveValue("");

  await page.goto("/destinations?region=us&state=sleeping&q=no-such-host-anywhere");
  await expect(page.getByText("Ignored, because it means nothing here")).toBeVisible();
  await expect(page.getByText("No destination matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).last().click();
  await expect(page.getByRole("row").nth(1)).toBeVisible();
});

test("ID-8 REG-3 no path of a URL is on a page or in an answer, and a grant for us sees nothing of eu", async ({
  page,
  world,
}) => {
  const marker = `marker-${Date.now()}`;
  const customer = await addCustomer(world, "us", "Masked Bank", `/ok/${marker}?key=${marker}`);
  const inEu = await addCustomer(world, "eu", "Elsewhere Bank", "/ok/elsewhere");
  const id = `dst_${customer.destinationId.replaceAll("-", "")}`;
  await page.goto(`/destinations/${id}?region=us`);
  await expect(page.getByText("/•••/•••?•••")).toBeVisible();
  expect(await page.content()).not.toContain(marker);

  const client = await clientOf(world, world.accounts["us-operator"]);
  for (const path of [
    `/api/v1/destinations?region=us&tenant=${customer.slug}`,
    `/api/v1/destinations/${id}?region=us`,
    `/api/v1/tenants?q=${customer.slug}`,
  ]) {
    const text = await (await client.get(path)).text();
    expect(text, path).toContain(customer.slug);
    expect(text, path).not.toContain(marker);
  }
  expect(await (await client.get(`/api/v1/tenants?q=${inEu.slug}`)).json()).toMatchObject({ rows: [] });
  for (const path of [
    `/api/v1/tenants?region=us,eu`,
    `/api/v1/tenants/${inEu.slug}?region=eu`,
    "/api/v1/destinations?region=eu",
  ]) {
    expect((await client.get(path)).status(), path).toBe(404);
  }
  await client.dispose();
});

test("fault 97 a tenant and a destination are created over the API, once, and stand in the lists", async ({
  page,
  world,
}) => {
  const admin = await clientOf(world, world.accounts.admin);
  const slug = `made-${randomUUID().slice(0, 8)}`;
  const tenant = await admin.post("/api/v1/tenants?region=us", {
    data: { slug, name: "Made Over API", reason: REASON },
  });
  expect(tenant.status()).toBe(201);
  const { id: tenantId } = (await tenant.json()) as { id: string };

  const data = { tenantId, name: "Invoices", url: "https://hooks.example.com/secret-path", reason: REASON };
  const headers = { "idempotency-key": `make-${slug}` };
  const first = await admin.post("/api/v1/destinations?region=us", { data, headers });
  expect(first.status()).toBe(201);
  const made = (await first.json()) as { id: string; secret: string };
  expect(made.secret).toMatch(/^whsec_/);
  expect(first.headers().location).toBe(`/api/v1/destinations/${made.id}?region=us`);
  const repeat = await admin.post("/api/v1/destinations?region=us", { data, headers });
  expect(repeat.headers()["idempotency-replayed"]).toBe("true");
  expect(await repeat.json()).toMatchObject({ id: made.id, secret: null });
  const plain = await admin.post("/api/v1/destinations?region=us", {
    data: { ...data, name: "Inside", url: "https://169.254.169.254/latest" },
  });
  expect(await plain.json()).toMatchObject({ code: "bad_destination_url" });

  await page.goto(`/tenants?q=${slug}`);
  await page.getByRole("link", { name: "Made Over API" }).click();
  await expect(page.getByRole("region", { name: "Why its deliveries wait" })).toContainText(
    "Nothing holds it",
  );
  await page.getByRole("tab", { name: /^Destinations/ }).click();
  await page.getByRole("link", { name: "Invoices" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Invoices" })).toBeVisible();
  await expect(page.getByText("https://hooks.example.com/•••")).toBeVisible();
  await page.getByRole("tab", { name: "Controls" }).click();
  await expect(page.getByRole("row", { name: /destination: create/ })).toContainText(REASON);
  expect(await page.content()).not.toContain(made.secret);
  await admin.dispose();
});

test("CTL-4 changing and deleting ask for the version, the name and the role", async ({ page, world }) => {
  const customer = await addCustomer(world, "us", "Changing Bank", "/ok/changing");
  const path = `/api/v1/destinations/dst_${customer.destinationId.replaceAll("-", "")}?region=us`;
  const operator = await clientOf(world, world.accounts.operator);
  const refused = await operator.patch(path, {
    data: { name: "Other", reason: REASON },
    headers: { "if-match": '"1"' },
  });
  expect(refused.status()).toBe(403);
  const admin = await clientOf(world, world.accounts.admin);
  expect((await admin.patch(path, { data: { name: "Other", reason: REASON } })).status()).toBe(428);
  const renamed = await admin.patch(path, {
    data: { name: "Renamed", reason: REASON },
    headers: { "if-match": '"1"' },
  });
  expect(await renamed.json()).toMatchObject({ version: 2, applied: true });
  const stale = await admin.patch(path, {
    data: { name: "Late", reason: REASON },
    headers: { "if-match": '"1"' },
  });
  expect(await stale.json()).toMatchObject({ code: "version_conflict", current: { version: 2 } });
  const mistyped = await admin.delete(path, {
    data: { confirmName: "Ledger", reason: REASON },
    headers: { "if-match": '"2"' },
  });
  expect(mistyped.status()).toBe(409);
  const deleted = await admin.delete(path, {
    data: { confirmName: "Renamed", reason: REASON },
    headers: { "if-match": '"2"' },
  });
  expect(deleted.status()).toBe(200);
  await page.goto(`/destinations/dst_${customer.destinationId.replaceAll("-", "")}?region=us`);
  await expect(page.getByText("Deleted", { exact: true })).toBeVisible();
  await page.goto(`/destinations?region=us&tenant=${customer.slug}`);
  await expect(page.getByText("No destination matches")).toBeVisible();
  await Promise.all([admin.dispose(), operator.dispose()]);
});
