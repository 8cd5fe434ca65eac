/** What a browser of another zone, theme or width makes of the pages. */
import type { Page } from "@playwright/test";
import { expect, test } from "./support/world.ts";

const PAGES = ["/deliveries?region=us", "/dead-letters?region=us", "/"];

/** Everything the browser complained about; hydration errors of a production build are among it. */
function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") found.push(message.text());
  });
  page.on("pageerror", (error) => found.push(error.message));
  return found;
}

test.describe("in Asia/Kolkata, in the dark", () => {
  test.use({ timezoneId: "Asia/Kolkata", colorScheme: "dark" });

  test("there is no hydration error, no request leaves the console's own origin, no page is framed or sniffed; UTC is shown first, the local time on focus and on demand", async ({
    page,
    world,
  }) => {
    const found = complaints(page);
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(world.consoleUrl) && !request.url().startsWith("data:"))
        foreign.push(request.url());
    });
    for (const path of PAGES) {
      const response = await page.goto(path);
      await expect(page.getByRole("main").locator("time").first()).toBeVisible();
      const headers = response?.headers() ?? {};
      expect(headers["content-security-policy"], path).toContain("frame-ancestors 'none'");
      expect(headers["x-content-type-options"], path).toBe("nosniff");
      expect(headers["x-powered-by"], path).toBeUndefined();
    }
    await expect(page.getByTestId("ages-us").getByRole("application")).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    const asOf = page.getByRole("region", { name: "Region US" }).locator("time").first();
    await expect(asOf).toContainText("UTC");
    await asOf.locator("..").focus();
    await expect(page.getByRole("tooltip")).toContainText("GMT+5:30");
    await page.getByRole("button", { name: /Times are in UTC/ }).click();
    await expect(asOf).toContainText("GMT+5:30");
    expect(found).toEqual([]);
    expect(foreign).toEqual([]);
  });
});

test("the theme goes from the system's to light to dark and stays", async ({ page }) => {
  await page.goto("/about");
  await page.getByRole("button", { name: /Theme: system/ }).click();
  await page.getByRole("button", { name: /Theme: light/ }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test.describe("at 320 px", () => {
  test.use({ viewport: { width: 320, height: 720 }, hasTouch: true });

  test("no page scrolls sideways, and the navigation opens from a button", async ({ page }) => {
    for (const path of PAGES.toReversed()) {
      await page.goto(path);
      await expect(page.getByRole("main").locator("time").first()).toBeVisible();
      // What stands in the place of a wide table comes a moment after the first paint.
      const over = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await expect.poll(over, { message: path }).toBe(0);
    }
    await page.getByRole("button", { name: "Open navigation" }).tap();
    await page.getByRole("dialog", { name: "Navigation" }).getByRole("link", { name: "Overview" }).tap();
    await expect(page).toHaveURL(/\/(\?region=us)?$/);
    await expect(page.getByTestId("verdict-us")).toBeVisible();
  });
});

test("the keyboard reaches the content first and every table's scroll region", async ({ page }) => {
  await page.goto("/deliveries?region=us");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  const region = page.getByRole("region", { name: "Deliveries, newest first" });
  // A page that has just been opened may draw the table once more.
  await expect(async () => {
    await region.focus();
    await expect(region).toBeFocused({ timeout: 1_000 });
  }).toPass();
});

test("a page that does not exist says so", async ({ page }) => {
  const response = await page.goto("/no-such-page");
  expect(response?.status()).toBe(404);
  await expect(page.getByText("There is no such page")).toBeVisible();
});
