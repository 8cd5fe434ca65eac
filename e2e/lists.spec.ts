/** Filters live in the address, pages follow a cursor, and what means nothing is shown as dropped. */
import { expect, test } from "./support/world.ts";

test("filters go into the address, come back with it, and step back with the browser", async ({ page }) => {
  await page.goto("/deliveries?region=us");
  await page.getByRole("combobox", { name: "State" }).selectOption("delivered");
  await expect(page).toHaveURL(/state=delivered/);
  await expect(page.getByRole("row").nth(1)).toContainText("Delivered");
  await page.getByRole("combobox", { name: "Class" }).selectOption("urgent");
  await expect(page).toHaveURL(/class=urgent/);
  await page.goBack();
  await expect(page.getByRole("combobox", { name: "Class" })).toHaveValue("");
  await expect(page.getByRole("combobox", { name: "State" })).toHaveValue("delivered");
  await page.reload();
  await expect(page.getByRole("combobox", { name: "State" })).toHaveValue("delivered");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).not.toHaveURL(/state=/);
});

test("REG-3 the list of one region never shows the other's tenants", async ({ page, world }) => {
  const { rows } = await world.regions.eu.pool.query<{ name: string }>(
    "SELECT name FROM sluice.tenant ORDER BY slug LIMIT 50",
  );
  await page.goto("/deliveries?region=us");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  const options = page.getByRole("combobox", { name: "Tenant" }).locator("option");
  await expect(options.nth(5)).toBeAttached();
  const offered = await options.allTextContents();
  for (const { name } of rows) expect(offered).not.toContain(name);
});

test("the next page goes on where the first ended, and the way back leads to the first", async ({
  page,
  world,
}) => {
  await expect(async () => {
    const { rows } = await world.regions.us.pool.query<{ n: number }>(
      "SELECT count(*)::integer AS n FROM sluice.delivery_archive",
    );
    expect(rows[0]?.n).toBeGreaterThan(60);
  }).toPass();
  await page.goto("/deliveries?region=us&state=delivered");
  await expect(page.getByRole("row").nth(50)).toBeVisible();
  await page.getByRole("button", { name: "Next page" }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(page.getByRole("button", { name: "First page" })).toBeVisible();
  await expect(page.getByRole("row").nth(1)).toContainText("Delivered");
  await page.getByRole("button", { name: "First page" }).click();
  await expect(page).not.toHaveURL(/cursor=/);
});

test("a parameter that means nothing is a visible chip, and pressing it removes it", async ({ page }) => {
  await page.goto("/deliveries?region=us&state=sleeping&colour=blue");
  await expect(page.getByText("Ignored, because it means nothing here")).toBeVisible();
  await page.getByRole("button", { name: /^state=sleeping/ }).click();
  await expect(page).not.toHaveURL(/sleeping/);
  await page.getByRole("button", { name: /^colour=blue/ }).click();
  await expect(page.getByText("Ignored, because it means nothing here")).toHaveCount(0);
});

test("no match says so and offers the way out", async ({ page }) => {
  await page.goto("/deliveries?region=eu&q=no-such-key-anywhere");
  await expect(page.getByText("No delivery matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).last().click();
  await expect(page.getByRole("row").nth(1)).toBeVisible();
});

test("rule 4: rows do not move under the pointer, new ones are announced and shown when asked for", async ({
  page,
}) => {
  // The pointer is on the table before the first answer: it must not keep the table empty.
  const answered = Promise.withResolvers<void>();
  await page.route("**/api/v1/deliveries?**", async (route) => {
    await answered.promise;
    await route.continue();
  });
  await page.goto("/deliveries?region=us");
  const first = page.getByRole("row").nth(1);
  await first.hover();
  answered.resolve();
  const link = first.getByRole("link");
  await expect(link).toBeVisible();
  const before = (await link.textContent()) ?? "";
  const announcement = page.getByRole("button", { name: /^Show \d+ new$/ });
  await expect(announcement).toBeVisible();
  await expect(link).toHaveText(before);
  await announcement.click();
  await expect(announcement).toHaveCount(0);
  await expect(link).not.toHaveText(before);
});
