/** Filters live in the address, pages follow a cursor, and what means nothing is shown as dropped. */
import type { Locator } from "@playwright/test";
import { toPublicId } from "#domain/ids.ts";
import { shutGate } from "#tests/support/gate-rows/sql.ts";
import { customerWith, enqueueMany } from "./controls-parts.ts";
import { expect, test, type World } from "./support/world.ts";

/** What a select offers, without "any". Names may be the same in both regions; values are not. */
async function offered(select: Locator): Promise<string[]> {
  const options = select.locator("option");
  await expect(options.nth(5)).toBeAttached();
  const values = await options.evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value));
  return values.filter((value) => value !== "");
}

/** The public ids of a region's destinations. */
async function destinationsOf(world: World, region: "us" | "eu"): Promise<Set<string>> {
  const rows = await world.regions[region].prisma.destination.findMany({ select: { id: true } });
  return new Set(rows.map(({ id }) => toPublicId("dst", id)));
}

test("filters go into the address, come back with it, and step back with the browser; REG-3 the list of one region offers nothing of the other", async ({
  page,
  world,
}) => {
  await page.goto("/deliveries?region=us");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await test.step("REG-3", async () => {
    const destinations = await offered(page.getByRole("combobox", { name: "Destination" }));
    const tenants = await offered(page.getByRole("combobox", { name: "Tenant" }));
    const [ours, theirs] = [await destinationsOf(world, "us"), await destinationsOf(world, "eu")];
    for (const id of destinations) {
      expect(ours).toContain(id);
      expect(theirs).not.toContain(id);
    }
    const known = await world.regions.us.prisma.tenant.findMany({ select: { slug: true } });
    expect(known.map(({ slug }) => slug)).toEqual(expect.arrayContaining(tenants));
  });
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

test("the next page goes on where the first ended, the previous one is the page before, and a link that was opened alone leads to the first", async ({
  page,
  context,
  world,
}) => {
  // Rows that nobody touches: what is compared below must not move.
  const customer = await customerWith(world, "us", "Paged Bank", "/ok/paged-bank");
  await shutGate(world.regions.us.pool, customer.destinationId);
  await enqueueMany(world, "us", customer, 25);
  await page.goto(`/deliveries?region=us&tenant=${customer.slug}&limit=10`);
  const rows = page.getByRole("row");
  const first = rows.nth(1).getByRole("link").first();
  const idOf = async () => (await first.getAttribute("href")) ?? "";
  const pages = page.getByRole("navigation", { name: "Pages" });
  await expect(rows).toHaveCount(11);
  await expect(pages.getByRole("button", { name: "Previous page" })).toHaveCount(0);
  const seen: string[] = [];
  const addresses: string[] = [];
  const goes = async (how: () => Promise<void>) => {
    const before = await idOf();
    await how();
    await expect(first).not.toHaveAttribute("href", before);
  };

  await goes(() => pages.getByRole("button", { name: "Next page" }).click());
  await expect(page).toHaveURL(/cursor=/);
  seen.push(await idOf());
  addresses.push(page.url());
  await goes(() => page.keyboard.press("]"));
  await expect(rows).toHaveCount(6);
  seen.push(await idOf());
  addresses.push(page.url());
  expect(new Set(addresses).size).toBe(2);

  await goes(() => pages.getByRole("button", { name: "Previous page" }).click());
  expect([page.url(), await idOf()]).toEqual([addresses[0], seen[0]]);
  await page.reload();
  await expect(first).toHaveAttribute("href", seen[0] ?? "");
  await page.keyboard.press("[");
  await expect(page).not.toHaveURL(/cursor=/);
  await expect(pages.getByRole("button", { name: "First page" })).toHaveCount(0);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox").first()).toBeFocused();

  const alone = await context.newPage();
  await alone.goto(addresses[1] ?? "");
  await expect(alone.getByRole("row").nth(1).getByRole("link").first()).toHaveAttribute(
    "href",
    seen[1] ?? "",
  );
  await expect(alone.getByRole("button", { name: "First page" })).toBeVisible();
  await expect(alone.getByRole("button", { name: "Previous page" })).toHaveCount(0);
  await alone.keyboard.press("[");
  await expect(alone).not.toHaveURL(/cursor=/);
});

test("a parameter that means nothing is a visible chip, and pressing it removes it; no match says so and offers the way out", async ({
  page,
}) => {
  await page.goto("/deliveries?region=eu&state=sleeping&colour=blue&q=no-such-key-anywhere");
  await expect(page.getByText("Ignored, because it means nothing here")).toBeVisible();
  await page.getByRole("button", { name: /^state=sleeping/ }).click();
  await expect(page).not.toHaveURL(/sleeping/);
  await page.getByRole("button", { name: /^colour=blue/ }).click();
  await expect(page.getByText("Ignored, because it means nothing here")).toHaveCount(0);
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
  // Read by hand, without the pointer leaving the row: the same answers as those of a poll.
  await page.keyboard.press("p");
  await expect(async () => {
    await page.getByRole("button", { name: "Read once now" }).dispatchEvent("click");
    await expect(announcement).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(link).toHaveText(before);
  await announcement.click();
  await expect(announcement).toHaveCount(0);
  await expect(link).not.toHaveText(before);
});
