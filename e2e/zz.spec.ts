import { test } from "./support/world.ts";
test("zz", async ({ page }) => {
  test.setTimeout(300_000);
  await page.setViewportSize({ width: 1440, height: 900 });
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") console.log(m.text()); });
  await page.goto("/");
  await page.waitForTimeout(120_000);
  await page.screenshot({ path: "/tmp/uiscratch/real-overview.png", fullPage: true });
  for (const [n, p] of [["list", "/deliveries?region=eu"], ["delayed", "/deliveries?region=us&state=delayed"], ["dead", "/dead-letters?region=us"]] as const) {
    await page.goto(p); await page.waitForTimeout(1500);
    await page.screenshot({ path: `/tmp/uiscratch/real-${n}.png`, fullPage: true });
    if (n === "delayed") { await page.locator("tbody a").first().click(); await page.waitForTimeout(1500); await page.screenshot({ path: `/tmp/uiscratch/real-one.png`, fullPage: true }); }
  }
});
