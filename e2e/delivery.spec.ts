/** From the list to one delivery's whole story, as support follows a customer's question. */
import { reaches } from "./page-parts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

const BODY_MARKER = "body-marker-4d1e";

test("SIG-6 a key leads from the list to the timeline: 429 with Retry-After 1, then delivered", async ({
  page,
  world,
}) => {
  const name = `trace-${Date.now()}`;
  const customer = await addCustomer(world, "us", "Tracing Bank", `/script/429:1,200/${name}`);
  const key = `trace-key-${Date.now()}`;
  const { id, uuid } = await enqueue(world, "us", customer, {
    key,
    body: JSON.stringify({ note: BODY_MARKER }),
  });
  await reaches(world, "us", uuid, "delivered");

  await page.goto("/deliveries?region=us");
  await page.getByRole("searchbox", { name: /idempotency key/ }).fill(key);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`q=${key}`));
  await page.getByRole("row").getByRole("link", { name: id }).click();

  await expect(page.getByRole("heading", { level: 1 })).toContainText(id);
  const timeline = page.getByRole("region", { name: "Timeline" });
  await expect(timeline.getByRole("heading", { name: /Attempt 1.*429 Rate-limited/ })).toBeVisible();
  await expect(timeline.getByText("read as seconds, asks for 1.000 s")).toBeVisible();
  await expect(timeline.getByRole("heading", { name: /Attempt 2.*200 Delivered/ })).toBeVisible();
  await expect(timeline).toContainText("2 attempts, 0 failures, 1 throttle");
  await expect(page.getByRole("list", { name: "States" }).locator("[aria-current=step]")).toContainText(
    "Delivered",
  );
  await expect(page.getByRole("region", { name: "Envelope" }).getByText(key)).toBeVisible();
  expect(await page.content()).not.toContain(BODY_MARKER);
});

test("SIG-9 a delivery behind a shut gate names it and the earliest time", async ({ page, world }) => {
  const customer = await addCustomer(world, "us", "Gated Bank", "/429/seconds/120/gated-bank");
  const { id, uuid } = await enqueue(world, "us", customer, { key: `gated-${Date.now()}` });
  await reaches(world, "us", uuid, "delayed");
  await page.goto(`/deliveries/${id}`);
  const why = page.getByRole("region", { name: "Why it has not been sent" });
  await expect(why).toContainText("The destination's gate is shut until");
  await expect(why).toContainText(/Earliest next attempt .* UTC, in [12] m/);
  await page.getByRole("link", { name: "its deliveries" }).click();
  await expect(page.getByRole("row", { name: new RegExp(id) })).toContainText(/429 rate-limited/);
});

test("a rejected delivery is a dead letter with its reason, and no button removes it", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "eu", "Strict Bank", "/reject/422/strict-bank");
  const { id, uuid } = await enqueue(world, "eu", customer, { key: `strict-${Date.now()}` });
  await reaches(world, "eu", uuid, "dead");
  await page.goto(`/dead-letters?region=eu&view=entries&tenant=${customer.slug}`);
  const row = page.getByRole("row", { name: new RegExp(id) });
  await expect(row).toContainText("Rejected by the receiver");
  await expect(row).toContainText("422");
  await expect(page.getByRole("button", { name: /purge|delete|remove|retry/i })).toHaveCount(0);
  await row.getByRole("link", { name: id }).click();
  await expect(page.getByText("It waits for a person. Nothing retries it by itself.")).toBeVisible();
  // It was never delayed, and it says so by leaving that out.
  await expect(page.getByRole("list", { name: "States" }).getByRole("listitem")).toHaveText([
    /^Ready/,
    /^Leased/,
    /^Dead/,
  ]);
});

test("an id that is none, and one that no region knows, are told apart", async ({ page }) => {
  await page.goto("/deliveries/dlv_nonsense");
  await expect(page.getByText("This is not a delivery id")).toBeVisible();
  await page.goto(`/deliveries/dlv_${"0".repeat(32)}`);
  await expect(page.getByText("No such delivery")).toBeVisible();
});
