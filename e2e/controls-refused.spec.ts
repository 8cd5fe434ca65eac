/**
 * The controls when something stands in the way: an answer that is lost, a proof that could not be had, a role, the state of
 * a delivery.
 */
import { toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import {
  bar,
  customerWith,
  destinationPage,
  fillReason,
  LONG_MS,
  REASON,
  tenantPage,
} from "./controls-parts.ts";
import { sessionOf } from "./support/accounts.ts";
import { enqueue } from "./support/enqueue.ts";
import { expect, patient, test } from "./support/world.ts";

test("an answer that is lost on its way is asked for again under the same key, and nothing is done twice", async ({
  page,
  world,
}) => {
  const region = "eu";
  const customer = await customerWith(world, region, "Lost Bank", "/ok/lost-bank");
  const keys: string[] = [];
  let lost = 0;
  await page.route("**/api/v1/tenants/*/pause?*", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    if (keys.length > 1) return route.continue();
    await route.fetch({ maxRetries: 2 });
    lost += 1;
    return route.abort();
  });
  await page.goto(tenantPage(customer, region));
  await bar(page, "Lost Bank, EU").getByRole("button", { name: "Pause" }).click();
  const dialog = page.getByRole("dialog", { name: "Pause deliveries for Lost Bank, EU" });
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(dialog.getByRole("alert")).toContainText("No answer came");
  await expect(dialog.getByLabel(/^Reason/)).toHaveValue(REASON);
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(dialog).toBeHidden();
  expect(lost).toBe(1);
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  const audit = await readAudit(world.regions[region], toPublicId("ten", customer.tenantId));
  expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual(["tenant.pause done"]);
});

test("a change whose proof could not be had is called stored, not applied", async ({ page, world }) => {
  const customer = await customerWith(world, "eu", "Proof Bank", "/ok/proof-bank");
  await page.route("**/api/v1/tenants/*/pause?*", async (route) => {
    const response = await route.fetch({ maxRetries: 2 });
    await route.fulfill({ response, json: { ...(await response.json()), applied: false } });
  });
  await page.goto(tenantPage(customer, "eu"));
  await bar(page, "Proof Bank, EU").getByRole("button", { name: "Pause" }).click();
  const dialog = page.getByRole("dialog", { name: "Pause deliveries for Proof Bank, EU" });
  await fillReason(dialog);
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(page.getByText(/Stored at .+ the proof could not be had yet/)).toBeVisible();
  await expect(page.getByText(/Applied at/)).toBeHidden();
});

test("a viewer sees every control, shut, with the role that it needs; support pauses for 4 h at most", async ({
  browser,
  world,
}) => {
  const region = "eu";
  const customer = await customerWith(world, region, "Role Bank", "/ok/role-bank");
  const pageOf = async (person: "viewer" | "support") => {
    const storageState = await sessionOf(world, world.accounts[person]);
    const context = patient(await browser.newContext({ storageState, baseURL: world.consoleUrl }));
    return context.newPage();
  };
  const viewer = await pageOf("viewer");
  await viewer.goto(destinationPage(customer, region));
  const controls = bar(viewer, "Ledger, EU");
  for (const name of ["Pause", "Limits", "Send test event"]) {
    const button = controls.getByRole("button", { name });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAccessibleDescription(/needs the role support or operator or admin/);
    // It can still be reached and pressed; nothing opens.
    await button.focus();
    await viewer.keyboard.press("Enter");
  }
  await expect(viewer.getByRole("dialog")).toHaveCount(0);
  await expect(viewer.getByText(/Pause, Limits, Send test event: needs the role/)).toBeVisible();
  await controls.getByRole("button", { name: "More controls" }).click();
  const rotate = viewer.getByRole("menuitem", { name: /Rotate secret/ });
  await expect(rotate).toBeDisabled();
  await expect(rotate).toContainText(/role operator or admin/);
  await viewer.context().close();

  const support = await pageOf("support");
  await support.goto(tenantPage(customer, region));
  await bar(support, "Role Bank, EU").getByRole("button", { name: "Pause" }).click();
  const dialog = support.getByRole("dialog", { name: "Pause deliveries for Role Bank, EU" });
  await expect(dialog.getByRole("radio", { name: /^24 h/ })).toBeDisabled();
  await expect(dialog).toContainText("Your role may pause for at most 4 h");
  await support.context().close();
});

test("DLQ-1 retry now is offered for a delayed delivery only, and a dead letter is refused with its reason", async ({
  page,
  world,
}) => {
  const region = "us";
  const late = await customerWith(world, region, "Late Bank", "/always/503/late-bank");
  const { id, uuid } = await enqueue(world, region, late, { key: `${late.slug}-one` });
  const { pool } = world.regions[region];
  const rowOf = async () => {
    const { rows } = await pool.query<{ state: string; ahead: boolean }>(
      "SELECT state, due_at > clock_timestamp() + interval '5 minutes' AS ahead FROM sluice.delivery WHERE id = $1",
      [uuid],
    );
    return rows[0];
  };
  await expect(async () => expect((await rowOf())?.state).toBe("delayed")).toPass({ timeout: LONG_MS });
  await pool.query(
    "UPDATE sluice.delivery SET due_at = clock_timestamp() + interval '2 hours' WHERE id = $1",
    [uuid],
  );
  await page.goto(`/deliveries/${id}`);
  await bar(page, `delivery ${id}`).getByRole("button", { name: "Retry now" }).click();
  const dialog = page.getByRole("dialog", { name: `Retry delivery ${id} now` });
  await expect(dialog).toContainText("with the same id and key");
  await fillReason(dialog);
  const requests = (await world.receiver.client.stats("late-bank")).requests;
  await dialog.getByRole("button", { name: "Retry 1 now" }).click();
  await expect(dialog).toBeHidden();
  await world.receiver.client.waitFor("late-bank", (stats) => stats.requests > requests, LONG_MS);

  const dead = await customerWith(world, region, "Dead Bank", "/reject/400/dead-bank");
  const letter = await enqueue(world, region, dead, { key: `${dead.slug}-one` });
  await expect(async () => {
    const { rowCount } = await pool.query("SELECT 1 FROM sluice.dead_letter WHERE id = $1", [letter.uuid]);
    expect(rowCount).toBe(1);
  }).toPass({ timeout: LONG_MS });
  await page.goto(`/deliveries/${letter.id}`);
  const refused = bar(page, `delivery ${letter.id}`).getByRole("button", { name: "Retry now" });
  await expect(refused).toBeDisabled();
  await expect(refused).toHaveAccessibleDescription(/needs a reviewed batch/);
});
