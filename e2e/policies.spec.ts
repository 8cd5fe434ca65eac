/**
 * Policies of a region under Settings: who may write what counts as late and how deliveries are tried again, that nobody
 * overwrites another, and that pages judge by what was written. Only numbers are changed that no other test looks at.
 */
import type { APIRequestContext } from "@playwright/test";
import type { PoliciesAnswer, RegionPolicies } from "#db/console/list-policies.ts";
import type { Overview } from "#db/console/read-overview.ts";
import { becomes } from "./page-parts.ts";
import { clientOf } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

const REASON = "agreed with the people on call";
const OBJECTIVES = "/api/v1/policies/objectives?region=eu";
const RETRY = "/api/v1/policies/retry?region=eu";

async function read(client: APIRequestContext): Promise<RegionPolicies> {
  const { regions } = (await (await client.get("/api/v1/policies?region=eu")).json()) as PoliciesAnswer;
  const [answer] = regions;
  if (answer?.status !== "ok") throw new Error("eu does not answer");
  return answer.data;
}

test("SIG-4 an administrator writes the next version of the objectives over what they have seen", async ({
  page,
  world,
}) => {
  const admin = await clientOf(world, world.accounts.admin);
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=policies");
  const panel = page.getByRole("region", { name: "Objectives in EU", exact: true });
  await panel.getByRole("button", { name: "Change objectives" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the objectives of EU" });
  const { version, numbers } = (await read(admin)).objectives;
  await dialog.getByRole("button", { name: `Write version ${version + 1}` }).click();
  await expect(dialog.getByText("Nothing is changed yet.")).toBeVisible();
  const seconds = numbers.deadLetterWarnMs / 1_000 + 3_600;
  await dialog.getByRole("textbox", { name: "Oldest dead letter, warns at" }).fill(String(seconds));
  await expect(dialog.getByText("Less strict in EU: Oldest dead letter, warns at.")).toBeVisible();
  await dialog.getByRole("textbox", { name: "Reason" }).fill(REASON);

  // Somebody else is faster.
  const other = await admin.post(OBJECTIVES, {
    data: { objectives: { deadLetterWarnMs: numbers.deadLetterWarnMs + 1_000 }, reason: REASON },
    headers: { "if-match": `"${version}"` },
  });
  expect(other.status(), await other.text()).toBe(200);
  await dialog.getByRole("button", { name: `Write version ${version + 1}` }).click();
  await expect(dialog.getByRole("alert").filter({ hasText: "Nothing was changed by you" })).toBeVisible();
  await dialog.getByRole("button", { name: "Reload values" }).click();
  await dialog.getByRole("button", { name: `Write version ${version + 2}` }).click();
  await expect(
    page.getByText(`Version ${version + 2} of the objectives of EU is in force.`).first(),
  ).toBeVisible();
  const versions = page.getByRole("list", { name: "Versions of the objectives in EU" });
  await expect(versions.getByRole("listitem").first()).toContainText(`Version ${version + 2}`);
  await expect(versions.getByRole("listitem").first()).toContainText(REASON);

  const overview = (await (await admin.get("/api/v1/overview?region=eu")).json()) as Overview;
  expect(overview.regions[0]).toMatchObject({
    status: "ok",
    data: { thresholds: { deadLetterWarnMs: seconds * 1_000 } },
  });
  await admin.dispose();
});

test("RETRY-1 a class's retry policy is changed where it was changed, and its other numbers stay", async ({
  page,
  world,
}) => {
  const admin = await clientOf(world, world.accounts.admin);
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=policies");
  const panel = page.getByRole("region", { name: "Retry policy in EU", exact: true });
  await panel.getByRole("button", { name: "Change urgent" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the urgent retry policy of EU" });
  const [before] = (await read(admin)).policies;
  const next = (before?.version ?? 0) + 1;
  await dialog.getByRole("textbox", { name: "Statuses that also count as rejections" }).fill("429");
  await dialog.getByRole("button", { name: `Write version ${next}` }).click();
  await expect(dialog.getByText(/statuses from 400 to 599 without 429/)).toBeVisible();
  await dialog.getByRole("textbox", { name: "Statuses that also count as rejections" }).fill("505, 510");
  await dialog.getByRole("textbox", { name: "Reason" }).fill(REASON);
  await dialog.getByRole("button", { name: `Write version ${next}` }).click();
  await expect(
    page.getByText(`Version ${next} of the urgent retry policy of EU is in force.`).first(),
  ).toBeVisible();
  await expect(panel.getByRole("row", { name: /^Statuses that also count/ })).toContainText("505, 510");
  const [urgent, routine] = (await read(admin)).policies;
  expect(urgent?.retry).toEqual({ ...before?.retry, permanentStatuses: [505, 510] });
  expect(routine?.retry?.permanentStatuses).not.toEqual([505, 510]);
  await admin.dispose();
});

test("policies asked of the API directly: role, version, numbers, and a repeat", async ({ page, world }) => {
  await becomes(page, world, world.accounts.operator);
  await page.goto("/settings?tab=policies");
  await expect(page.getByRole("region", { name: "Objectives in EU", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Change (objectives|urgent|routine)$/ })).toHaveCount(0);

  const [admin, operator] = await Promise.all([
    clientOf(world, world.accounts.admin),
    clientOf(world, world.accounts.operator),
  ]);
  const { objectives, policies } = await read(admin);
  const send = (client: APIRequestContext, path: string, data: object, headers: Record<string, string>) =>
    client.post(path, { data: { reason: REASON, ...data }, headers });
  const seen = { "if-match": `"${objectives.version}"` };
  const share = { objectives: { rateLimitedActShare: 0.11 } };
  expect((await send(operator, OBJECTIVES, share, seen)).status()).toBe(403);
  expect((await send(admin, OBJECTIVES, share, {})).status()).toBe(428);
  const audit = await admin.get("/api/v1/audit?region=eu&action=policy.objectives&result=denied");
  expect(((await audit.json()) as { data: { rows: unknown[] } }).data.rows.length).toBeGreaterThan(0);
  for (const data of [
    { objectives: { urgentTargetMs: 20_000 } },
    { objectives: { duePageMs: 1_000 } },
    { objectives: {} },
    { ...share, reason: "short" },
    { ...share, version: 1 },
  ]) {
    expect((await send(admin, OBJECTIVES, data, seen)).status(), JSON.stringify(data)).toBe(422);
  }
  const retry = { serviceClass: "routine", retry: { leaseMs: 1_000 } };
  const refused = await send(admin, RETRY, retry, { "if-match": `"${policies[1]?.version}"` });
  expect([refused.status(), ((await refused.json()) as { code: string }).code]).toEqual([422, "bad_policy"]);

  const keyed = { ...seen, "idempotency-key": `policy-${Date.now()}` };
  const [first, again] = [
    await send(admin, OBJECTIVES, share, keyed),
    await send(admin, OBJECTIVES, share, keyed),
  ];
  expect([first.status(), again.status()]).toEqual([200, 200]);
  expect(again.headers()["idempotency-replayed"]).toBe("true");
  const later = { ...keyed, "if-match": `"${objectives.version + 1}"` };
  expect((await send(admin, OBJECTIVES, share, later)).status()).toBe(422);
  expect((await send(admin, OBJECTIVES, share, seen)).status()).toBe(412);
  expect((await read(admin)).objectives.version).toBe(objectives.version + 1);
  await Promise.all([admin.dispose(), operator.dispose()]);
});
