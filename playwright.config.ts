/**
 * The browser tests. They start what they need themselves (e2e/support/world.ts) and read where from the environment
 * (e2e/config.ts); `npm test` gives them two migrated databases and a built console.
 */
import { defineConfig } from "@playwright/test";
import { countWorlds } from "./e2e/config.ts";
import { findBrowser } from "./scripts/lib/browser.ts";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  outputDir: ".sluice/e2e-results",
  // Each world of real processes serves one file after the other.
  workers: countWorlds(),
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
    // A dot that pulses keeps a browser without a graphics card busy in every test; what moves has a test of its own.
    contextOptions: { reducedMotion: "reduce" },
  },
});
