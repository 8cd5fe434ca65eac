/**
 * Databases that are gone, one after the other, for one console: first a region's, which leaves the other untouched, then the
 * console's own. The tests stand in that order.
 */
import { toPublicId } from "#domain/ids.ts";
import { readAgain } from "./page-parts.ts";
import { newClient, signInAs } from "./support/accounts.ts";
import { addCustomer } from "./support/enqueue.ts";
import { openTcpGate, type TcpGate } from "./support/tcp-gate.ts";
import { expect, test } from "./support/world.ts";

test.describe.configure({ mode: "serial" });

let us: TcpGate;
let eu: TcpGate;
let web: { url: string; stop(): Promise<void> };

test.beforeAll(async ({ world }) => {
  us = await openTcpGate(world.config.urls.us);
  eu = await openTcpGate(world.config.urls.eu);
  web = await world.startConsole({ us: us.url, eu: eu.url });
});

test.afterAll(async () => {
  await web.stop();
  await Promise.allSettled([us.shut(), eu.shut()]);
});

test("REG-3 a stopped eu database is said not to answer while us works, and is never a zero", async ({
  page,
}) => {
  await page.goto(web.url);
  await expect(page.getByTestId("region-eu")).toBeVisible();
  await eu.shut();
  await readAgain(page);
  await expect(page.getByTestId("verdict-eu")).toContainText("EU: does not answer.");
  await expect(page.getByTestId("verdict-eu")).toContainText("unknown, not zero");
  await expect(page.getByTestId("region-eu")).toHaveCount(0);
  await expect(page.getByTestId("region-us").getByTestId("completed")).toBeVisible();
  // A tenant's endpoint may not answer there: that is said too, later in the sentence.
  await expect(page.getByTestId("verdict-us")).not.toContainText("US: does not answer");
  await expect(page.getByText("EU did not answer and is not in this table")).toBeVisible();

  await page.goto(`${web.url}/deliveries?region=eu`);
  await expect(page.getByRole("alert").filter({ hasText: "Region EU does not answer" })).toBeVisible();
  await page.getByRole("radio", { name: "US" }).check({ force: true });
  await expect(page.getByRole("row").nth(1)).toBeVisible();

  await page.goto(`${web.url}/deliveries/dlv_${"0".repeat(32)}`);
  await expect(page.getByText(/It may be in eu, which does not answer/)).toBeVisible();
  const ready = await page.request.get(`${web.url}/readyz`);
  expect(ready.status()).toBe(200);
});

test("a command to a region that does not answer is 503, and says that nothing was changed", async ({
  world,
}) => {
  const customer = await addCustomer(world, "us", "Lonely Bank", "/ok/lonely");
  const state = await signInAs(web.url, world.accounts.operator);
  const client = await newClient(web.url, state, { origin: web.url });
  const pause = (region: string) =>
    client.post(`/api/v1/tenants/${toPublicId("ten", customer.tenantId)}/pause?region=${region}`, {
      data: { reason: "asked for by a browser test", end: { forMs: 3_600_000 } },
      headers: { "if-match": '"1"' },
    });
  const silent = await pause("eu");
  expect(silent.status(), await silent.text()).toBe(503);
  const problem = (await silent.json()) as { code: string; detail: string };
  expect(problem).toMatchObject({ code: "region_unavailable", correlationId: expect.any(String) });
  expect(problem.detail).toContain("Nothing was changed.");
  expect(await silent.text()).not.toMatch(/postgres|127\.0\.0\.1/);
  expect(Number(silent.headers()["retry-after"])).toBeGreaterThan(0);
  expect((await pause("us")).status()).toBe(200);
  await client.dispose();
});

test("without the console's own database nobody is taken for somebody, and it is said what does not answer", async ({
  page,
}) => {
  await page.goto(`${web.url}/deliveries?region=us`);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await us.shut();
  const response = await page.request.get(`${web.url}/api/v1/deliveries?region=us`);
  expect(response.status()).toBe(503);
  expect(await response.json()).toMatchObject({ code: "sign_in_unavailable" });
  await page.goto(`${web.url}/deliveries?region=us`);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("own database does not answer");
  expect((await page.request.get(`${web.url}/healthz`)).status()).toBe(200);
});
