/** GET /metrics: for whom it is, what of the regions it says, and that a region outside of the scope is in no line. */
import { clientOf, newClient } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

test("metrics are for a caller who may read, and only of the regions in scope", async ({ world }) => {
  const nobody = await newClient(world.consoleUrl);
  const refused = await nobody.get("/metrics");
  expect(refused.status()).toBe(401);
  expect(refused.headers()["content-type"]).toContain("application/problem+json");
  expect(refused.headers()["content-security-policy"]).toBeUndefined();
  await nobody.dispose();
  const roleless = await clientOf(world, world.accounts.nobody);
  expect((await roleless.get("/metrics")).status()).toBe(403);

  const both = await (await clientOf(world, world.accounts.viewer)).get("/metrics");
  expect(both.status()).toBe(200);
  expect(both.headers()["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(both.headers()["cache-control"]).toBe("no-store");
  const text = await both.text();
  for (const region of ["us", "eu"]) {
    expect(text).toContain(`sluice_region_up{region="${region}"} 1\n`);
    expect(text).toMatch(
      new RegExp(`^sluice_first_attempt_oldest_seconds\\{region="${region}",class="urgent"\\} [\\d.]+$`, "m"),
    );
  }
  const narrow = await (await clientOf(world, world.accounts["eu-viewer"])).get("/metrics");
  const ofEu = await narrow.text();
  expect(ofEu).toContain('sluice_region_up{region="eu"} 1\n');
  expect(ofEu).not.toContain('region="us"');
});

test("a service token reads them with the action read, and not with another", async ({ world }) => {
  const admin = await clientOf(world, world.accounts.admin);
  const statusWith = async (scope: "read" | "pause") => {
    const made = await admin.post("/api/v1/tokens", {
      data: {
        name: `scrape-${scope}-${Date.now()}`,
        role: "operator",
        scopes: [scope],
        regions: ["us"],
        days: 1,
        reason: "made by a browser test",
      },
    });
    expect(made.status()).toBe(201);
    const { token } = (await made.json()) as { token: string };
    const program = await newClient(world.consoleUrl, undefined, { authorization: `Bearer ${token}` });
    const response = await program.get("/metrics");
    const answer = { status: response.status(), text: await response.text() };
    await program.dispose();
    return answer;
  };
  const scraped = await statusWith("read");
  expect(scraped.status).toBe(200);
  expect(scraped.text).toContain('sluice_due{region="us"} ');
  expect(scraped.text).not.toContain('region="eu"');
  expect((await statusWith("pause")).status).toBe(403);
});

test("the about page leads to them", async ({ page }) => {
  await page.goto("/about");
  await expect(page.getByRole("link", { name: "Metrics" })).toHaveAttribute("href", "/metrics");
});
