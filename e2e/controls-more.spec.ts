/**
 * The controls that controls.spec.ts leaves out, on four pages: a tenant's weight and replay header, a destination's gate, service, adaptive
 * limit and secrets, a delivery that is cancelled or marked, a body that is restricted and erased, and a region's defaults.
 * Each is proved where it counts: at the receiver, in the row, in the audit.
 */
import { toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { countDelivered, readBody, readState } from "#tests/support/delivery-rows/sql.ts";
import { shutGate } from "#tests/support/gate-rows/sql.ts";
import { readTrouble } from "#tests/support/late-rows/sql.ts";
import {
  bar,
  customerWith,
  destinationPage,
  enqueueMany,
  fillReason,
  LONG_MS,
  openFromMenu,
  tenantPage,
} from "./controls-parts.ts";
import { becomes, reaches } from "./page-parts.ts";
import { enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

test("CTL-2 a weight is changed and set back by Undo, which opens the dialog filled in", async ({
  page,
  world,
}) => {
  const region = "eu";
  const customer = await customerWith(world, region, "Weight Bank", "/ok/weight-bank");
  await page.goto(tenantPage(customer, region));
  const controls = bar(page, "Weight Bank, EU");
  const title = "Change the weight of Weight Bank, EU";
  const dialog = await openFromMenu(page, controls, { item: "Change weight", title });
  const field = dialog.getByLabel("Weight", { exact: true });
  await expect(field).toHaveValue("1");
  await field.fill("101");
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Set weight" }).click();
  await expect(dialog).toContainText("A whole number from 1 to 100.");
  await field.fill("3");
  await dialog.getByRole("button", { name: "Set weight to 3" }).click();
  await expect(page.getByText("The weight of Weight Bank (EU) is changed")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(field).toHaveValue("1");
  await expect(dialog.getByLabel(/^Reason/)).toHaveValue("");
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Set weight to 1" }).click();
  await expect(dialog).toBeHidden();
  const audit = await readAudit(world.regions[region], toPublicId("ten", customer.tenantId));
  expect(audit.map(({ action, before, after }) => [action, before.weight, after.weight])).toEqual([
    ["tenant.weight", 1, 3],
    ["tenant.weight", 3, 1],
  ]);
});

test("a tenant's replay header is switched on by an administrator, off again by Undo, and closed to an operator", async ({
  page,
  world,
}) => {
  const region = "eu";
  const customer = await customerWith(world, region, "Header Bank", "/ok/header-bank");
  await page.goto(tenantPage(customer, region));
  const controls = bar(page, "Header Bank, EU");
  const item = "Change the replay header";
  await controls.getByRole("button", { name: "More controls" }).click();
  await expect(page.getByRole("menuitem", { name: new RegExp(item) })).toBeDisabled();

  await becomes(page, world, world.accounts.admin);
  await page.goto(tenantPage(customer, region));
  const title = "Change the replay header of Header Bank, EU";
  const dialog = await openFromMenu(page, controls, { item, title });
  const box = dialog.getByRole("checkbox", { name: "Send the header webhook-replay" });
  await expect(box).not.toBeChecked();
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Change the header" }).click();
  await expect(dialog).toContainText("Nothing is changed yet.");
  await box.check();
  await dialog.getByRole("button", { name: "Send the header" }).click();
  await expect(page.getByText("The replay header of Header Bank (EU) is changed")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(box).not.toBeChecked();
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Stop sending the header" }).click();
  await expect(dialog).toBeHidden();
  const audit = await readAudit(world.regions[region], toPublicId("ten", customer.tenantId));
  expect(audit.map(({ action, before, after }) => [action, before.replayHeader, after.replayHeader])).toEqual(
    [
      ["tenant.update", false, true],
      ["tenant.update", true, false],
    ],
  );
});

test("CTL-1 a gate is opened with one probe, service is taken and given back, the adaptive limit pinned, the secret shown once", async ({
  page,
  world,
}) => {
  test.setTimeout(120_000);
  const region = "us";
  const { pool } = world.regions[region];
  const name = `gate-bank-${Date.now()}`;
  const { client } = world.receiver;
  const customer = await customerWith(world, region, "Gate Bank", `/script/429:900,200/${name}`, {
    count: 3,
    concurrencyLimit: 1,
  });
  await expect
    .poll(async () => (await readTrouble(pool, customer.tenantId, customer.destinationId))?.shut, {
      timeout: LONG_MS,
    })
    .toBe(1);
  await page.goto(destinationPage(customer, region));
  const controls = bar(page, "Ledger, US");

  await test.step("open gate now: one probe goes first, its answer lets the others follow", async () => {
    await controls.getByRole("button", { name: "Open gate now" }).click();
    const dialog = page.getByRole("dialog", { name: "Open the gate of Ledger, US" });
    await expect(dialog).toContainText("status 429, Retry-After: 900");
    await expect(dialog).toContainText("One probe goes first");
    await fillReason(dialog);
    await dialog.getByRole("button", { name: /^Open gate now, 2 waiting$/ }).click();
    await expect(page.getByText("The gate of Ledger (US) is open for one probe")).toBeVisible();
    await expect.poll(() => countDelivered(pool, customer.tenantId), { timeout: LONG_MS }).toBe(3);
    const [refused, probe] = await client.requests({ destination: name });
    expect(probe?.key).toBe(refused?.key);
  });

  await test.step("disable holds what comes, enable lets it go", async () => {
    const disable = await openFromMenu(page, controls, { item: "Disable", title: "Disable Ledger, US" });
    await expect(disable).toContainText("Events are held, not dropped");
    await fillReason(disable);
    await disable.getByRole("button", { name: "Disable, holding 0 due" }).click();
    await expect(page.getByText("Ledger (US) is disabled")).toBeVisible();
    const { requests } = await client.stats(name);
    await enqueueMany(world, region, customer, 1);
    const enable = await openFromMenu(page, controls, { item: "Enable", title: "Enable Ledger, US" });
    await fillReason(enable);
    const button = enable.getByRole("button", { name: "Enable, releasing 1 held" });
    await expect(button).toBeVisible();
    expect((await client.stats(name)).requests).toBe(requests);
    await button.click();
    await expect(page.getByText("Ledger (US) is enabled")).toBeVisible();
    await expect.poll(() => countDelivered(pool, customer.tenantId), { timeout: LONG_MS }).toBe(4);
  });

  await test.step("the adaptive limit is pinned and let go again", async () => {
    const pin = await openFromMenu(page, controls, {
      item: "Pin the adaptive limit",
      title: "Pin the adaptive limit of Ledger, US",
    });
    await pin.getByLabel("Adaptive limit", { exact: true }).fill("1");
    await fillReason(pin);
    await pin.getByRole("button", { name: "Pin at 1" }).click();
    await expect(page.getByText("The adaptive limit of Ledger (US) is pinned")).toBeVisible();
    const unpin = await openFromMenu(page, controls, {
      item: "Unpin the adaptive limit",
      title: "Unpin the adaptive limit of Ledger, US",
    });
    await fillReason(unpin);
    await unpin.getByRole("button", { name: "Unpin from 1" }).click();
    await expect(page.getByText("The adaptive limit of Ledger (US) moves again")).toBeVisible();
  });

  await test.step("a new secret is shown once and signs; the previous one ends", async () => {
    const title = "Rotate the secret of Ledger, US";
    const rotate = await openFromMenu(page, controls, { item: "Rotate secret", title });
    await fillReason(rotate);
    await rotate.getByRole("button", { name: "Rotate, keep the old for 24 h" }).click();
    const shown = rotate.getByText(/^whsec_/);
    await expect(shown).toBeVisible();
    await expect(rotate).toContainText("It is shown only now.");
    const secret = (await shown.textContent()) ?? "";
    await rotate.getByRole("button", { name: "Close" }).last().click();
    await expect(rotate).toBeHidden();
    expect(await page.content()).not.toContain(secret);

    const end = await openFromMenu(page, controls, {
      item: "End the previous secret",
      title: "End the previous secret of Ledger, US",
    });
    await expect(end).toContainText("signs until");
    await fillReason(end);
    await end.getByRole("button", { name: "End previous secret" }).click();
    await expect(page.getByText("The previous secret of Ledger (US) has ended")).toBeVisible();
    await client.setSecret(name, { secrets: [secret] });
    await enqueueMany(world, region, customer, 1);
    await expect.poll(() => countDelivered(pool, customer.tenantId), { timeout: LONG_MS }).toBe(5);
    expect((await client.requests({ destination: name })).at(-1)?.signature).toBe("valid");
    const answer = await page.request.get(
      `/api/v1/audit?region=${region}&target=${toPublicId("dst", customer.destinationId)}`,
    );
    expect(await answer.text()).not.toContain(secret);
  });

  const audit = await readAudit(world.regions[region], toPublicId("dst", customer.destinationId));
  expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual([
    "destination.open_gate done",
    "destination.disable done",
    "destination.enable done",
    "destination.pin_adaptive done",
    "destination.unpin_adaptive done",
    "destination.rotate_secret done",
    "destination.end_previous_secret done",
  ]);
});

test("CTL-4 a waiting delivery is cancelled for good, and found under its reason", async ({
  page,
  world,
}) => {
  const region = "us";
  const { pool } = world.regions[region];
  const customer = await customerWith(world, region, "Cancel Bank", "/ok/cancel-bank");
  await shutGate(pool, customer.destinationId);
  const { id, uuid } = await enqueue(world, region, customer, { key: `${customer.slug}-one` });
  await page.goto(`/deliveries/${id}`);
  const controls = bar(page, `delivery ${id}`);
  await controls.getByRole("button", { name: "Cancel" }).click();
  const dialog = page.getByRole("dialog", { name: `Cancel delivery ${id}` });
  await expect(dialog).toContainText("It is never sent. This cannot be undone.");
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Cancel 1 delivery" }).click();
  await expect(page.getByText(`Delivery ${id} is cancelled`)).toBeVisible();
  expect(await readState(pool, uuid)).toEqual({ state: "cancelled", reason: "staff_cancel" });
  const button = controls.getByRole("button", { name: "Cancel" });
  await expect(button).toHaveAccessibleDescription(/The delivery has ended: cancelled/i);
  await expect(page.getByRole("main").getByText("Cancelled by staff").first()).toBeVisible();
  const found = await page.request.get(
    `/api/v1/deliveries?region=${region}&tenant=${customer.slug}&reason=staff_cancel`,
  );
  expect(await found.text()).toContain(id);
  expect(await world.receiver.client.requests({ destination: "cancel-bank" })).toEqual([]);
});

test("ID-9 a dead letter is marked, its body restricted, and erased for good only by its typed name", async ({
  page,
  world,
}) => {
  const region = "us";
  const { pool } = world.regions[region];
  const customer = await customerWith(world, region, "Erase Bank", "/reject/422/erase-bank");
  const { id, uuid } = await enqueue(world, region, customer, { key: `${customer.slug}-one` });
  await reaches(world, region, uuid, "dead");
  await page.goto(`/deliveries/${id}`);
  const controls = bar(page, `delivery ${id}`);
  await controls.getByRole("button", { name: "Will not replay" }).click();
  const mark = page.getByRole("dialog", { name: `Mark delivery ${id} as “will not replay”` });
  await expect(mark).toContainText("The row stays");
  await fillReason(mark);
  await mark.getByRole("button", { name: "Mark 1 dead letter" }).click();
  await expect(page.getByText(`Delivery ${id} is marked as “will not replay”`)).toBeVisible();

  const body = `the body of delivery ${id}`;
  const restrict = await openFromMenu(page, controls, {
    item: "Restrict the body",
    title: `Restrict ${body}`,
  });
  await fillReason(restrict);
  await restrict.getByRole("button", { name: "Restrict 1 body" }).click();
  await expect(page.getByText(`The body of delivery ${id} is restricted`)).toBeVisible();
  expect(await readBody(pool, uuid)).toBe("restricted");
  const envelope = page.getByRole("region", { name: "Envelope" });
  await expect(envelope).toContainText(/restricted .+: kept apart/);

  const erase = await openFromMenu(page, controls, { item: "Erase the body", title: `Erase ${body}` });
  await expect(erase).toContainText("This cannot be undone.");
  await expect(erase).toContainText("Backups and logs of the database keep the body for their own time.");
  await fillReason(erase);
  const button = erase.getByRole("button", { name: "Erase 1 body for good" });
  await button.click();
  const tail = id.slice(-6);
  await expect(erase).toContainText(`Type ${tail}, the end of the delivery's id.`);
  expect(await readBody(pool, uuid)).toBe("restricted");
  await erase.getByLabel(/^Type /).fill(tail);
  await button.click();
  await expect(erase).toContainText(`The body of delivery ${id} is erased.`);
  await expect(erase).toContainText("1 delivery can no longer be sent: 0 waiting, 1 dead.");
  expect(await readBody(pool, uuid)).toBe("gone");
  await expect(envelope).toContainText(/, erased /);
  await erase.getByRole("button", { name: "Close" }).last().click();
  await controls.getByRole("button", { name: "More controls" }).click();
  const again = page.getByRole("menuitem", { name: /^Erase the body/ });
  await expect(again).toBeDisabled();
  await expect(again).toContainText("The body was erased already.");

  const { rows } = await pool.query<{ id: string }>(
    "SELECT payload_id AS id FROM sluice.dead_letter WHERE id = $1",
    [uuid],
  );
  const audit = await readAudit(world.regions[region], toPublicId("pay", rows[0]?.id ?? ""));
  expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual([
    "payload.restrict done",
    "payload.erase done",
  ]);
});

test("CTL-2 a region's default is changed by an administrator and set back by Undo", async ({
  page,
  world,
}) => {
  await becomes(page, world, world.accounts.admin);
  await page.goto("/regions");
  const controls = bar(page, "US");
  await controls.getByRole("button", { name: "Default limits" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the default limits of US" });
  const field = dialog.getByLabel("Highest rate of operators, a second");
  await expect(field).toHaveValue("1000");
  await field.fill("999");
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Change highest rate 1000 → 999" }).click();
  await expect(page.getByText("The default limits of US are changed")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(field).toHaveValue("1000");
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Change highest rate 999 → 1000" }).click();
  await expect(dialog).toBeHidden();
  const audit = await readAudit(world.regions.us, "us");
  const changes = audit.filter(({ action }) => action === "region.defaults");
  expect(
    changes.slice(-2).map(({ before, after }) => [before.maxRatePerSecond, after.maxRatePerSecond]),
  ).toEqual([
    [1_000, 999],
    [999, 1_000],
  ]);
});
