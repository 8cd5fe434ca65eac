/** The settings and the about page as people use them: grants, tokens, policies, and what a role may not see. */
import { becomes } from "./page-parts.ts";
import { clientOf, createPerson, newClient } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

const REASON = "asked for in a browser test";

test("an administrator gives a person a role and takes it again; it counts with the next request", async ({
  page,
  world,
}) => {
  const person = await createPerson(world.regions, "joining", null);
  const client = await clientOf(world, person);
  expect((await client.get("/api/v1/me")).status()).toBe(403);
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=access");
  const line = page.getByRole("row", { name: new RegExp(` ${person.email}`) });
  await expect(line).toContainText("No role yet");
  await line.getByRole("button", { name: /Give .* a grant/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /Support/ }).check();
  await dialog.getByRole("button", { name: "Give grant" }).click();
  await expect(dialog.getByText("Choose at least one region.")).toBeVisible();
  await dialog.getByRole("checkbox", { name: "US" }).check();
  await dialog.getByLabel("Ends").selectOption("7");
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Give grant" }).click();
  await expect(line).toContainText("Support in US");
  expect(await (await client.get("/api/v1/me")).json()).toMatchObject({ regions: ["us"] });
  expect((await client.get("/api/v1/people")).status()).toBe(403);

  await line.getByRole("button", { name: /Revoke Support in US/ }).click();
  await dialog.getByRole("button", { name: "Revoke grant" }).click();
  await expect(dialog.getByText("Give a reason of at least 10 characters.")).toBeVisible();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Revoke grant" }).click();
  await expect(line).toContainText("No role yet");
  expect((await client.get("/api/v1/me")).status()).toBe(403);
  await client.dispose();
  const own = page.getByRole("row", { name: new RegExp(` ${world.accounts.admin.email}`) });
  await expect(own.getByRole("button", { name: /must take your own/ })).toBeDisabled();
});

test("a grant never reaches further than the giver's, asked of the API directly", async ({ world }) => {
  const giver = await createPerson(world.regions, "us-only-admin", {
    role: "admin",
    regions: ["us"],
    tenantIds: null,
  });
  const person = await createPerson(world.regions, "receiving", null);
  const client = await clientOf(world, giver);
  const { people } = (await (await client.get("/api/v1/people")).json()) as {
    people: { id: string; email: string; grants: { regions: string[] }[] }[];
  };
  for (const { grants } of people) for (const grant of grants) expect(grant.regions).toEqual(["us"]);
  const id = people.find(({ email }) => email === person.email)?.id;
  const give = (part: object) =>
    client.post(`/api/v1/people/${id}/grants`, {
      data: { role: "viewer", regions: ["us"], reason: REASON, ...part },
    });
  expect((await give({ regions: ["us", "eu"] })).status()).toBe(403);
  expect((await give({ role: "support", canReveal: true })).status()).toBe(403);
  expect((await give({ canReveal: true })).status()).toBe(422);
  expect((await give({ reason: "short" })).status()).toBe(422);
  expect((await give({ colour: "blue" })).status()).toBe(422);
  const made = await give({});
  expect(made.status()).toBe(201);
  const { id: grantId } = (await made.json()) as { id: string };
  const operator = await clientOf(world, world.accounts.operator);
  expect(
    (await operator.delete(`/api/v1/people/${id}/grants/${grantId}`, { data: { reason: REASON } })).status(),
  ).toBe(403);
  await operator.dispose();
  await client.dispose();
});

test("a service token is made, shown once, and revoked", async ({ page, world }) => {
  const name = `page-${Date.now()}`;
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=tokens");
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("checkbox", { name: "EU" }).check();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Make token" }).click();
  const token = (await page.getByTestId("made-token").textContent()) ?? "";
  expect(token).toMatch(/^sluice_/);
  const program = await newClient(world.consoleUrl, undefined, { authorization: `Bearer ${token}` });
  expect((await program.get("/api/v1/deliveries?region=eu")).status()).toBe(200);
  // Views and grants belong to people.
  expect((await program.get("/api/v1/saved-views?page=deliveries")).status()).toBe(403);
  await page.getByRole("button", { name: "I have copied it" }).click();
  const line = page.getByRole("row", { name: new RegExp(name) });
  await expect(line).toContainText("Valid until its end");
  expect(await page.content()).not.toContain(token);
  await line.getByRole("button", { name: `Revoke token ${name}` }).click();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Revoke token" }).click();
  await expect(line).toContainText("Revoked");
  expect((await program.get("/api/v1/deliveries?region=eu")).status()).toBe(401);
  await program.dispose();
});

test("what a viewer may not see says which role may, and policies and the build are for everybody", async ({
  page,
  world,
}) => {
  await becomes(page, world, world.accounts.viewer);
  await page.goto("/settings?tab=access");
  await expect(page.getByText("People and grants need the role admin")).toBeVisible();
  await expect(page.getByRole("tabpanel").getByText("Viewer in US and EU")).toBeVisible();
  await page.getByRole("tab", { name: "Service tokens" }).click();
  await expect(page.getByText("Service tokens need the role admin")).toBeVisible();
  await expect(page).toHaveURL(/tab=tokens/);
  await page.getByRole("tab", { name: "Policies" }).click();
  await expect(page.getByRole("table", { name: "Objectives in EU" })).toContainText("2 m");
  await expect(page.getByRole("table", { name: "Retry policy in EU" })).toContainText(
    "Failures until it is dead",
  );
  await page.goto("/about");
  await expect(page.getByRole("table", { name: "Schema of each region" })).toContainText(/\d{14}_/);
  await expect(page.getByRole("row", { name: /DATABASE_URL_US/ })).toContainText("set");
  expect(await page.content()).not.toContain("postgres://");
});
