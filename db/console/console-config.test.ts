/** Settings of the sign-in: what is missing or wrong is named, and no message carries a value. */
import { expect, it } from "vitest";
import { readConsoleUrl, readSignInSettings } from "./console-config.ts";

const SECRET = "s".repeat(32);
const OIDC = {
  SLUICE_OIDC_ISSUER: "https://idp.example.com/",
  SLUICE_OIDC_CLIENT_ID: "sluice",
  SLUICE_OIDC_CLIENT_SECRET: "top-secret-value",
};

it("without an identity provider there are local accounts, for twelve hours, on loopback", () => {
  expect(readSignInSettings({ SLUICE_AUTH_SECRET: SECRET })).toEqual({
    consoleUrl: "http://127.0.0.1:3000",
    secret: SECRET,
    localAccounts: true,
    oidc: null,
    sessionSeconds: 43_200,
    addressHeader: null,
  });
});

it("with an identity provider local accounts are off unless they are switched on", () => {
  const env = { SLUICE_AUTH_SECRET: SECRET, ...OIDC, SLUICE_OIDC_DOMAINS: "Example.com, example.org" };
  const settings = readSignInSettings(env);
  expect(settings.localAccounts).toBe(false);
  expect(settings.oidc).toMatchObject({
    issuer: "https://idp.example.com",
    domains: ["example.com", "example.org"],
    scopes: ["openid", "profile", "email"],
  });
  expect(readSignInSettings({ ...env, SLUICE_LOCAL_ACCOUNTS: "on" }).localAccounts).toBe(true);
});

it.each([
  [{}, "SLUICE_AUTH_SECRET"],
  [{ SLUICE_AUTH_SECRET: "short-secret" }, "SLUICE_AUTH_SECRET"],
  [{ SLUICE_AUTH_SECRET_FILE: "/no/such/file" }, "SLUICE_AUTH_SECRET_FILE"],
  [{ SLUICE_AUTH_SECRET: SECRET, SLUICE_CONSOLE_URL: "sluice.example.com" }, "SLUICE_CONSOLE_URL"],
  [{ SLUICE_AUTH_SECRET: SECRET, SLUICE_CONSOLE_URL: "https://a.example/path" }, "SLUICE_CONSOLE_URL"],
  [{ SLUICE_AUTH_SECRET: SECRET, SLUICE_LOCAL_ACCOUNTS: "yes" }, "SLUICE_LOCAL_ACCOUNTS"],
  [{ SLUICE_AUTH_SECRET: SECRET, SLUICE_SESSION_HOURS: "0" }, "SLUICE_SESSION_HOURS"],
  [{ SLUICE_AUTH_SECRET: SECRET, SLUICE_ADDRESS_HEADER: "x y" }, "SLUICE_ADDRESS_HEADER"],
  [{ SLUICE_AUTH_SECRET: SECRET, ...OIDC, SLUICE_OIDC_CLIENT_ID: "" }, "SLUICE_OIDC_CLIENT_ID"],
  [{ SLUICE_AUTH_SECRET: SECRET, ...OIDC, SLUICE_OIDC_ISSUER: "idp" }, "SLUICE_OIDC_ISSUER"],
])("%j is refused by the name of the setting, without its value", (env, setting) => {
  const attempt = () => readSignInSettings(env);
  expect(attempt).toThrow(expect.objectContaining({ code: "bad_config" }));
  expect(attempt).toThrow(setting);
  for (const secret of ["short-secret", "top-secret-value"]) expect(attempt).not.toThrow(secret);
});

it("accounts are in the first region's database unless the console has one of its own", () => {
  const us = "postgres://u:p@127.0.0.1/us";
  expect(readConsoleUrl({ DATABASE_URL_US: us })).toBe(us);
  const own = "postgres://u:p@127.0.0.1/console";
  expect(readConsoleUrl({ DATABASE_URL_US: us, CONSOLE_DATABASE_URL: own })).toBe(own);
  expect(() => readConsoleUrl({ CONSOLE_DATABASE_URL: "mysql://x/y" })).toThrow("CONSOLE_DATABASE_URL");
});
