/** What the about page shows of the settings holds no secret, whatever they are set to. */
import { expect, it, vi } from "vitest";

vi.mock("server-only", () => ({}));
const { readShownSettings } = await import("./config.ts");

it("shows open settings, says of the others only whether they are set, and shows no credential of a URL", () => {
  const shown = readShownSettings({
    NODE_ENV: "test",
    SLUICE_SESSION_HOURS: "8",
    SLUICE_OIDC_ISSUER: "https://ann:hunter2@idp.example.com",
    DATABASE_URL_US: "postgres://sluice:hunter2@db.internal:5432/us",
    SLUICE_AUTH_SECRET: "hunter2-hunter2-hunter2-hunter2-hunter2",
    SLUICE_SECRET_KEYS: "k1:aHVudGVyMg==",
    SOMETHING_ELSE: "hunter2",
  });
  const shownOf = (name: string) => shown.find((setting) => setting.name === name)?.value;
  expect(shownOf("SLUICE_SESSION_HOURS")).toBe("8");
  expect(shownOf("DATABASE_URL_US")).toBe("set");
  expect(shownOf("SLUICE_OIDC_CLIENT_SECRET")).toBeNull();
  expect(JSON.stringify(shown)).not.toMatch(/hunter2|db\.internal|aHVudGVy/);
  expect(shown.map(({ name }) => name)).not.toContain("SOMETHING_ELSE");
});
