/** Signing in as people do it: the right way, the wrong way, too often, and back to the page that a session ended on. */
import type { Page } from "@playwright/test";
import { disableAccount, endSessions } from "#tests/support/access-rows/sql.ts";
import { createPerson, type Person, signInAs } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

test.use({ storageState: { cookies: [], origins: [] } });

async function fillIn(page: Page, { email, password }: Pick<Person, "email" | "password">): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("whoever is not signed in sees no page, signs in, and is where they wanted to be", async ({
  page,
  world,
}) => {
  await page.goto("/deliveries?region=eu&state=delivered");
  await expect(page).toHaveURL(/\/login\?next=/);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByRole("navigation")).toHaveCount(0);
  await fillIn(page, world.accounts.viewer);
  await expect(page).toHaveURL(/\/deliveries\?region=eu&state=delivered$/);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  // Who is signed in already has no business at the sign-in.
  await page.goto("/login?next=%2Fdead-letters");
  await expect(page).toHaveURL(/\/dead-letters/);
});

test("the account menu says who one is and as what, works by keyboard, and leads out", async ({
  page,
  world,
}) => {
  await page.context().addCookies((await signInAs(world.consoleUrl, world.accounts["us-operator"])).cookies);
  await page.goto("/about");
  const button = page.getByRole("button", { name: /Signed in as Person us-operator/ });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Operator in US", { exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("Operator in US", { exact: true })).toBeHidden();
  await expect(button).toBeFocused();
  await button.click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText("You are signed out.")).toBeVisible();
  await page.goto("/");
  await expect(page).toHaveURL(/\/login/);
  expect((await page.request.get("/api/v1/overview")).status()).toBe(401);
});

test("a wrong password and an unknown address are refused in the same words", async ({ page, world }) => {
  await page.goto("/login");
  const password = "not-the-password";
  await fillIn(page, { email: world.accounts.viewer.email, password });
  const alert = page.getByRole("main").getByRole("alert");
  await expect(alert).toHaveText("E-mail or password is wrong. Check both and try again.");
  await expect(page.getByLabel("Password")).toHaveAttribute("aria-invalid", "true");
  await fillIn(page, { email: "somebody-else@example.test", password });
  await expect(alert).toHaveText("E-mail or password is wrong. Check both and try again.");
  await expect(page).toHaveURL(/\/login$/);
});

test("after five wrong passwords the sixth try waits, even with the right one, and other people do not", async ({
  page,
  world,
}) => {
  const person = await createPerson(world.regions, "throttled", null);
  const attempt = (password: string) =>
    page.request.post("/api/auth/sign-in/email", {
      data: { email: person.email.toUpperCase(), password },
      headers: { origin: world.consoleUrl },
    });
  for (let index = 0; index < 5; index += 1) expect((await attempt("wrong-password")).status()).toBe(401);
  const refused = await attempt(person.password);
  expect(refused.status()).toBe(429);
  expect(Number(refused.headers()["retry-after"])).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ code: "too_many_requests" });
  await page.goto("/login?next=%2Fabout");
  await fillIn(page, person);
  await expect(page.getByRole("main").getByRole("alert")).toContainText(/Try again in \d+ minutes?\./);
  await fillIn(page, world.accounts.support);
  await expect(page).toHaveURL(/\/about$/);
});

test("a session that ends leads to the sign-in, and from there back to the very page", async ({
  page,
  world,
}) => {
  const person = await createPerson(world.regions, "ending", {
    role: "viewer",
    regions: ["us"],
    tenantIds: null,
  });
  await page.context().addCookies((await signInAs(world.consoleUrl, person)).cookies);
  await page.goto("/deliveries?region=us&state=delivered");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await endSessions(world.regions.us.pool, person.email);
  // Paused and resumed, the page reads at once; at its next poll it would hear of it too.
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await expect(page.getByText("Your session has ended.")).toBeVisible();
  await fillIn(page, person);
  await expect(page).toHaveURL(/\/deliveries\?region=us&state=delivered$/);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  // The same when a page is opened with a session that no longer counts. The page before must be gone by then: it would
  // hear of the end by itself and leave for the sign-in in the middle of the navigation.
  await page.goto("about:blank");
  await endSessions(world.regions.us.pool, person.email);
  await page.goto("/dead-letters?region=us");
  await expect(page.getByText("Your session has ended.")).toBeVisible();
});

test("without a role there is nothing to see, and it says so", async ({ page, world }) => {
  await page.goto("/login");
  await fillIn(page, world.accounts.nobody);
  await expect(page.getByRole("heading", { name: "No role yet" })).toBeVisible();
  await expect(page.getByRole("main").getByRole("alert")).toContainText("Ask an administrator");
  expect(await (await page.request.get("/api/v1/overview")).json()).toMatchObject({
    code: "no_role",
    status: 403,
  });
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText("You are signed out.")).toBeVisible();
});

test("a disabled account is not let in, and its session ends at once", async ({ page, world }) => {
  const person = await createPerson(world.regions, "leaving", {
    role: "admin",
    regions: ["us"],
    tenantIds: null,
  });
  await page.context().addCookies((await signInAs(world.consoleUrl, person)).cookies);
  expect((await page.request.get("/api/v1/me")).status()).toBe(200);
  await disableAccount(world.regions.us.pool, person.email);
  expect((await page.request.get("/api/v1/me")).status()).toBe(401);
  await page.goto("/login");
  await fillIn(page, person);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("This account was disabled.");
});

test("a link to the sign-in never leads to another site", async ({ page, world }) => {
  await page.goto("/login?next=https%3A%2F%2Fevil.example%2F");
  await fillIn(page, world.accounts.viewer);
  await expect(page).toHaveURL(`${world.consoleUrl}/`);
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`at 320 px, ${colorScheme}`, () => {
    test.use({ viewport: { width: 320, height: 640 }, colorScheme });

    test("the sign-in fits and runs only its own scripts", async ({ page }) => {
      const found: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") found.push(message.text());
      });
      const response = await page.goto("/login?reason=expired");
      await expect(page.getByRole("button", { name: "Sign in", exact: true })).toBeEnabled();
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over).toBe(0);
      const policy = response?.headers()["content-security-policy"] ?? "";
      expect(policy).toMatch(/script-src 'self' 'nonce-[A-Za-z0-9+/=]{20,}' 'strict-dynamic'/);
      expect(policy).not.toContain("script-src 'self' 'unsafe-inline'");
      expect(found).toEqual([]);
    });
  });
}
