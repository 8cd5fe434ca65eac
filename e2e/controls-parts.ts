/**
 * What the browser tests of the controls share: customers with work, where their pages are, and the parts of a dialog.
 * It must never change a control by itself: the dialogs do that.
 */
import { randomUUID } from "node:crypto";
import type { Locator, Page } from "@playwright/test";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { addCustomer, type Customer, enqueue } from "./support/enqueue.ts";
import type { World } from "./support/world.ts";

/** The longest wait for something that must come, on a slow machine too. */
export const LONG_MS = 45_000;
export const REASON = "A browser test tries the controls";

interface Limits {
  concurrencyLimit?: number;
  ratePerSecond?: number;
}

/** A customer whose receiver is counted under `name`, with work waiting. */
export async function customerWith(
  world: World,
  region: Region,
  title: string,
  path: string,
  { count = 0, ...limits }: Limits & { count?: number } = {},
): Promise<Customer> {
  const customer = await addCustomer(world, region, title, path);
  await world.regions[region].prisma.destination.update({
    where: { id: customer.destinationId },
    data: limits,
  });
  await enqueueMany(world, region, customer, count);
  return customer;
}

/** Deliveries with keys of their own. */
export async function enqueueMany(
  world: World,
  region: Region,
  customer: Customer,
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await enqueue(world, region, customer, { key: `${customer.slug}-${randomUUID()}` });
  }
}

export const tenantPage = ({ tenantId }: Customer, region: Region) =>
  `/tenants/${toPublicId("ten", tenantId)}?region=${region}`;

export const destinationPage = ({ destinationId }: Customer, region: Region) =>
  `/destinations/${toPublicId("dst", destinationId)}?region=${region}`;

/** The buttons of one target: "Acme, EU". */
export function bar(page: Page, of: string): Locator {
  return page.getByRole("group", { name: `Controls of ${of}` });
}

/** Opens a control out of the menu of a bar, and hands over its dialog. */
export async function openFromMenu(
  page: Page,
  controls: Locator,
  { item, title }: { item: string; title: string | RegExp },
): Promise<Locator> {
  await controls.getByRole("button", { name: "More controls" }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
  return page.getByRole("dialog", { name: title });
}

export async function fillReason(dialog: Locator): Promise<void> {
  await dialog.getByLabel(/^Reason/).fill(REASON);
}
