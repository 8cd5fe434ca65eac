/** A tenant of two regions, paused and resumed from one dialog: a command and a result for each, nothing taken back. */
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { bar, customerWith, fillReason, LONG_MS, tenantPage } from "./controls-parts.ts";
import { expect, test } from "./support/world.ts";

test("CTL-1 pause in two regions at once: what one refuses takes nothing back in the other, and is sent again alone", async ({
  page,
  world,
}) => {
  const customer = await customerWith(world, "eu", "Twin Bank", "/ok/twin-bank");
  const usId = uuidV7(Date.now(), (count) => crypto.getRandomValues(new Uint8Array(count)));
  await world.regions.us.prisma.tenant.create({
    data: { id: usId, region: "us", slug: customer.slug, name: "Twin Bank" },
  });
  const ids: Readonly<Record<Region, string>> = { us: usId, eu: customer.tenantId };
  const paused = async () =>
    Promise.all(
      REGIONS.map(async (region) => {
        const where = { id: ids[region] };
        const row = await world.regions[region].prisma.tenant.findUniqueOrThrow({ where });
        return row.pauseUntil !== null;
      }),
    );

  await page.goto(tenantPage(customer, "eu"));
  const controls = bar(page, "Twin Bank, EU");
  await controls.getByRole("button", { name: "Pause" }).click();
  const dialog = page.getByRole("dialog", { name: /^Pause deliveries for Twin Bank/ });
  await dialog.getByRole("checkbox", { name: "Twin Bank, US" }).check();
  await expect(dialog).toHaveAccessibleName("Pause deliveries for Twin Bank, US and EU");
  await fillReason(dialog);
  // Somebody is faster in US.
  await world.regions.us.prisma.tenant.update({ where: { id: usId }, data: { version: { increment: 1 } } });
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(dialog.getByRole("status").filter({ hasText: "Done in EU. Not done in US." })).toBeVisible();
  expect(await paused()).toEqual(REGIONS.map((region) => region === "eu"));
  await dialog.getByRole("button", { name: "Reload values" }).click();
  await expect(dialog).toContainText("Done in EU.");
  // While the other region is still being read, a press sends nothing.
  await expect(async () => {
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
    await expect(dialog).toBeHidden({ timeout: 2_000 });
  }).toPass({ timeout: LONG_MS });
  expect(await paused()).toEqual([true, true]);
  const audit = await readAudit(world.regions.eu, toPublicId("ten", customer.tenantId));
  expect(audit.filter(({ action }) => action === "tenant.pause")).toHaveLength(1);

  await controls.getByRole("button", { name: "Resume" }).click();
  const resume = page.getByRole("dialog", { name: /^Resume deliveries for Twin Bank/ });
  await resume.getByRole("checkbox", { name: "Twin Bank, US" }).check();
  await fillReason(resume);
  await resume.getByRole("button", { name: "Resume" }).click();
  await expect(resume).toBeHidden();
  expect(await paused()).toEqual([false, false]);
});
