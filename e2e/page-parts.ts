/**
 * What browser tests of any page share: whose page it is, when a delivery has come as far as the test needs, and a page that
 * reads again at once instead of at its next poll. Waiting for a row before its page is opened saves a poll; it must never
 * stand in for a look at what the page says.
 */
import { expect, type Page } from "@playwright/test";
import type { Region } from "#domain/region.ts";
import { readState } from "#tests/support/delivery-rows/sql.ts";
import { type Person, sessionOf } from "./support/accounts.ts";
import type { World } from "./support/world.ts";

const LONG_MS = 45_000;

/** Signs a page in as somebody else. */
export async function becomes(page: Page, world: World, person: Person): Promise<void> {
  await page.context().clearCookies();
  await page.context().addCookies((await sessionOf(world, person)).cookies);
}

/** Waits until a delivery is in a state. `uuid`: as `enqueue` gives it. */
export async function reaches(
  world: World,
  region: Region,
  uuid: string,
  state: "delayed" | "delivered" | "dead",
): Promise<void> {
  const { pool } = world.regions[region];
  await expect
    .poll(async () => (await readState(pool, uuid))?.state, { timeout: LONG_MS, intervals: [50, 100, 200] })
    .toBe(state);
}

/**
 * Lets a live page read everything again now, by its own keys: paused and resumed. The focus must not be in a field, and no
 * dialog may be open. What comes of it is for the test to wait for.
 */
export async function readAgain(page: Page): Promise<void> {
  await page.keyboard.press("p");
  await expect(page.getByRole("button", { name: /Resume live updates/ })).toBeVisible();
  await page.keyboard.press("p");
}
