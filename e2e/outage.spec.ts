/** One region's database is gone: the page says that it does not answer, and the other region is untouched. */
import { openTcpGate } from "./support/tcp-gate.ts";
import { expect, test } from "./support/world.ts";

test("without the console's own database nobody is taken for somebody, and it is said what does not answer", async ({
  page,
  world,
}) => {
  const gate = await openTcpGate(world.config.urls.us);
  const web = await world.startConsole({ us: gate.url, eu: world.config.urls.eu });
  try {
    await page.goto(`${web.url}/deliveries?region=eu`);
    await expect(page.getByRole("row").nth(1)).toBeVisible();
    await gate.shut();
    const response = await page.request.get(`${web.url}/api/v1/deliveries?region=eu`);
    expect(response.status()).toBe(503);
    expect(await response.json()).toMatchObject({ code: "sign_in_unavailable" });
    await page.goto(`${web.url}/deliveries?region=eu`);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("own database does not answer");
    expect((await page.request.get(`${web.url}/healthz`)).status()).toBe(200);
  } finally {
    await web.stop();
    await gate.shut();
  }
});

test("REG-3 a stopped eu database is said not to answer while us works, and is never a zero", async ({
  page,
  world,
}) => {
  const gate = await openTcpGate(world.config.urls.eu);
  const web = await world.startConsole({ us: world.config.urls.us, eu: gate.url });
  try {
    await page.goto(web.url);
    await expect(page.getByTestId("region-eu")).toBeVisible();
    await gate.shut();
    await expect(page.getByTestId("verdict-eu")).toContainText("EU: does not answer.");
    await expect(page.getByTestId("verdict-eu")).toContainText("unknown, not zero");
    await expect(page.getByTestId("region-eu")).toHaveCount(0);
    await expect(page.getByTestId("region-us").getByTestId("completed")).toBeVisible();
    await expect(page.getByTestId("verdict-us")).not.toContainText("does not answer");
    await expect(page.getByText("EU did not answer and is not in this table")).toBeVisible();

    await page.goto(`${web.url}/deliveries?region=eu`);
    await expect(page.getByRole("alert").filter({ hasText: "Region EU does not answer" })).toBeVisible();
    await page.getByRole("radio", { name: "US" }).check({ force: true });
    await expect(page.getByRole("row").nth(1)).toBeVisible();

    await page.goto(`${web.url}/deliveries/dlv_${"0".repeat(32)}`);
    await expect(page.getByText(/It may be in eu, which does not answer/)).toBeVisible();
    const ready = await page.request.get(`${web.url}/readyz`);
    expect(ready.status()).toBe(200);
  } finally {
    await web.stop();
    await gate.shut();
  }
});
