/**
 * The browser tests. They start what they need themselves (e2e/support/world.ts) and read where from the environment
 * (e2e/config.ts); `npm test` gives them two migrated databases and a built console.
 */
import { defineConfig } from "@playwright/test";
import { findBrowser } from "./scripts/lib/browser.ts";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  outputDir: ".sluice/e2e-results",
  // One world of real processes serves all files, one after the other.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    locale: "en-GB",
    timezoneId: "UTC",
    launchOptions: findBrowser(),
    screenshot: "only-on-failure",
  },
});
