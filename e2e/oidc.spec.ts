/** The sign-in with an identity provider: a real round trip through discovery, code, PKCE and a signed id token. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { addGrant, createAccount } from "#db/console/access/grants.ts";
import { BY } from "./support/accounts.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type IdentityProvider,
  startIdentityProvider,
} from "./support/identity-provider.ts";
import { expect, test } from "./support/world.ts";

test.use({ storageState: { cookies: [], origins: [] } });

/** One console for all tests of this file, and the provider that it asks. */
let site: { url: string; provider: IdentityProvider };
let end: () => Promise<void> = async () => {};

test.beforeAll(async ({ world }) => {
  let url = "";
  const provider = await startIdentityProvider(() => `${url}/api/auth/callback/oidc`);
  const web = await world.startConsole(world.config.urls, {
    SLUICE_OIDC_ISSUER: provider.issuer,
    SLUICE_OIDC_CLIENT_ID: CLIENT_ID,
    SLUICE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    SLUICE_OIDC_NAME: "Example SSO",
    SLUICE_OIDC_DOMAINS: "example.test",
  });
  url = web.url;
  site = { url, provider };
  end = async () => {
    await web.stop();
    await provider.stop();
  };
});
test.afterAll(() => end());

function newPerson(domain = "example.test") {
  const id = randomUUID().slice(0, 8);
  return { sub: `sub-${id}`, email: `oidc-${id}@${domain}`, email_verified: true, name: `Person ${id}` };
}

async function signIn(page: Page, path: string): Promise<void> {
  await page.goto(`${site.url}${path}`);
  await page.getByRole("button", { name: "Continue with Example SSO" }).click();
}

test("an invited person comes in by the identity provider, to the page that they wanted", async ({
  page,
  world,
}) => {
  const { pool } = world.regions.us;
  const person = newPerson();
  await createAccount(pool, { email: person.email, name: "Invited", passwordHash: null }, BY);
  await addGrant(
    pool,
    person.email,
    { role: "viewer", regions: ["us"], tenantIds: null, canReveal: false },
    BY,
  );
  site.provider.person = person;
  await page.goto(`${site.url}/deliveries?region=us&state=delivered`);
  const button = page.getByRole("button", { name: "Continue with Example SSO" });
  await expect(button).toBeEnabled();
  await expect(page.getByLabel("Password")).toHaveCount(0);
  await button.click();
  await expect(page).toHaveURL(`${site.url}/deliveries?region=us&state=delivered`);
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  const accounts = await pool.query<{
    provider_id: string;
    id_token: string | null;
    access_token: string | null;
  }>(
    `SELECT provider_id, id_token, access_token FROM sluice.console_account
      WHERE user_id = (SELECT id FROM sluice.console_user WHERE email = $1)`,
    [person.email],
  );
  expect(accounts.rows.map(({ provider_id }) => provider_id)).toEqual(["oidc"]);
  // Tokens of the provider serve nobody here, and are not kept.
  expect(accounts.rows[0]).toMatchObject({ id_token: null, access_token: null });
});

test("a person of an allowed domain whom nobody has invited has no role", async ({ page }) => {
  site.provider.person = newPerson();
  await signIn(page, "/");
  await expect(page.getByRole("heading", { name: "No role yet" })).toBeVisible();
});

test("another domain, an unverified address and a person who declines are not let in, each in words", async ({
  page,
}) => {
  const alert = page.getByRole("main").getByRole("alert");
  site.provider.person = newPerson("elsewhere.test");
  await signIn(page, "/deliveries?region=us");
  await expect(alert).toContainText("This identity may not use this console");
  site.provider.person = { ...newPerson(), email_verified: false };
  await page.getByRole("button", { name: "Continue with Example SSO" }).click();
  await expect(alert).toContainText("This identity may not use this console");
  site.provider.person = null;
  await page.getByRole("button", { name: "Continue with Example SSO" }).click();
  await expect(alert).toContainText("did not complete the sign-in");
  await expect(page).toHaveURL(/next=%2Fdeliveries/);
});

test("with an identity provider alone the password door is not there", async ({ world, request }) => {
  const { email, password } = world.accounts.viewer;
  const response = await request.post(`${site.url}/api/auth/sign-in/email`, {
    data: { email, password },
    headers: { origin: site.url },
  });
  expect(response.status()).toBe(404);
});
