import { expect, test } from "./support/world.ts";

test("smoke", async ({ page, world }) => {
  await page.goto("/");
  await expect(page.getByTestId("verdict-us")).toBeVisible();
  console.log(await page.getByTestId("verdict-us").innerText(), world.consoleUrl);
});
