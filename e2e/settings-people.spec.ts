/** People in the settings: added with a password that is shown once, disabled with their sessions, enabled again. */
import { becomes } from "./page-parts.ts";
import { clientOf, createPerson } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

const REASON = "asked for in a browser test";

test("an administrator adds a person, whose password is shown once; disabling ends the sessions at once", async ({
  page,
  world,
}) => {
  const email = `added-${Date.now()}@example.test`;
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=access");
  await page.getByRole("button", { name: "Add person" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Add person" }).click();
  await expect(dialog.getByText(/Give an e-mail address/)).toBeVisible();
  await dialog.getByLabel("E-mail address").fill(email);
  await dialog.getByLabel("Name").fill("Added Person");
  await dialog.getByRole("radio", { name: /With a password/ }).check();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Add person" }).click();
  const password = (await page.getByTestId("made-password").textContent()) ?? "";
  expect(password).toMatch(/^\w{20}$/);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await expect(page.getByText(password)).toHaveCount(0);
  const line = page.getByRole("row", { name: new RegExp(` ${email}`) });
  await expect(line).toContainText("No role yet");

  const client = await clientOf(world, { email, name: "Added Person", password });
  expect((await client.get("/api/v1/me")).status()).toBe(403);
  await line.getByRole("button", { name: "Disable Added Person" }).click();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Disable person" }).click();
  await expect(line).toContainText("Disabled");
  expect((await client.get("/api/v1/me")).status()).toBe(401);
  const signIn = { data: { email, password } };
  expect((await client.post("/api/auth/sign-in/email", signIn)).ok()).toBe(false);
  await line.getByRole("button", { name: "Enable Added Person" }).click();
  await dialog.getByLabel("Reason").fill(REASON);
  await dialog.getByRole("button", { name: "Enable person" }).click();
  await expect(line).not.toContainText("Disabled");
  expect((await client.post("/api/auth/sign-in/email", signIn)).ok()).toBe(true);
  await client.dispose();
  const own = page.getByRole("row", { name: new RegExp(` ${world.accounts.admin.email}`) });
  await expect(own.getByRole("button", { name: /must do this to you/ })).toBeDisabled();
});

test("adding and disabling are for administrators, asked of the API directly", async ({ world }) => {
  const person = await createPerson(world.regions, "disabled-directly", {
    role: "viewer",
    regions: ["us", "eu"],
    tenantIds: null,
  });
  const usAdmin = await createPerson(world.regions, "us-admin-of-people", {
    role: "admin",
    regions: ["us"],
    tenantIds: null,
  });
  const [admin, operator, limited] = [
    await clientOf(world, world.accounts.admin),
    await clientOf(world, world.accounts.operator),
    await clientOf(world, usAdmin),
  ];
  const body = { email: `api-${Date.now()}@example.test`, name: "Api", way: "local", reason: REASON };
  expect((await operator.post("/api/v1/people", { data: body })).status()).toBe(403);
  for (const wrong of [{ reason: "short" }, { email: "nobody" }, { way: "post" }, { colour: "blue" }]) {
    expect((await admin.post("/api/v1/people", { data: { ...body, ...wrong } })).status()).toBe(422);
  }
  const made = await admin.post("/api/v1/people", { data: body });
  expect(made.status()).toBe(201);
  expect(await made.json()).toMatchObject({ email: body.email, password: expect.stringMatching(/^\w{20}$/) });
  expect((await admin.post("/api/v1/people", { data: body })).status()).toBe(409);

  const { people } = (await (await admin.get("/api/v1/people")).json()) as {
    people: { id: string; email: string }[];
  };
  const id = people.find(({ email }) => email === person.email)?.id;
  const disable = (client: typeof admin) =>
    client.post(`/api/v1/people/${id}/disable`, { data: { reason: REASON } });
  expect((await disable(operator)).status()).toBe(403);
  // Their one grant reaches beyond the caller's region: as in the list, there is no such person.
  expect((await disable(limited)).status()).toBe(404);
  expect((await disable(admin)).status()).toBe(200);
  expect((await disable(admin)).status()).toBe(409);
  for (const client of [admin, operator, limited]) await client.dispose();
});
