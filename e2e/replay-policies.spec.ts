/** The replay policy under Settings: who may write it, what is said before and after, and that nobody overwrites another. */
import { formatAge } from "#domain/queue-age.ts";
import type { ReplayPolicy } from "#domain/replay-plan.ts";
import { becomes } from "./page-parts.ts";
import { clientOf } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

const API = "/api/v1/replays/policy?region=eu";
const REASON = "Receivers of this region answer slowly";

test("a viewer reads the replay policy and is not offered to change it", async ({ page, world }) => {
  await becomes(page, world, world.accounts.viewer);
  await page.goto("/settings?tab=policies");
  const panel = page.getByRole("region", { name: "Replay policy in EU", exact: true });
  await expect(panel.getByRole("row", { name: /^Longest wait for a review/ })).toBeVisible();
  await expect(panel.getByText("an administrator of the whole region writes them")).toBeVisible();
  await expect(page.getByRole("button", { name: "Change policy" })).toHaveCount(0);
});

test("an administrator writes the next version, with a reason, over what they have seen", async ({
  page,
  world,
}) => {
  const admin = await clientOf(world, world.accounts.admin);
  const read = async () =>
    (
      (await (await admin.get(API)).json()) as {
        data: { version: number; policy: ReplayPolicy };
      }
    ).data;
  await becomes(page, world, world.accounts.admin);
  await page.goto("/settings?tab=policies");
  const panel = page.getByRole("region", { name: "Replay policy in EU", exact: true });
  await panel.getByRole("button", { name: "Change policy" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the replay policy of EU" });
  const before = await read();
  const reviewMs = before.policy.reviewMs - 60_000;

  await dialog.getByRole("button", { name: `Write version ${before.version + 1}` }).click();
  await expect(dialog.getByText("Nothing is changed yet.")).toBeVisible();
  await dialog
    .getByRole("textbox", { name: "Oldest metrics" })
    .fill(String(before.policy.metricsMaxAgeMs / 1_000 + 60));
  await expect(dialog.getByText("Looser for every new batch in EU: Oldest metrics.")).toBeVisible();
  await dialog.getByRole("textbox", { name: "Longest wait for a review" }).fill(String(reviewMs / 1_000));
  await dialog.getByRole("textbox", { name: "Reason" }).fill(REASON);

  // Somebody else is faster.
  const other = await admin.post(API, {
    data: { policy: { maxRunMs: before.policy.maxRunMs - 1_000 }, reason: "the other administrator" },
    headers: { "if-match": `"${before.version}"` },
  });
  expect(other.status(), await other.text()).toBe(200);
  await dialog.getByRole("button", { name: `Write version ${before.version + 1}` }).click();
  await expect(dialog.getByRole("alert").filter({ hasText: "Nothing was changed by you" })).toBeVisible();
  await dialog.getByRole("button", { name: "Reload values" }).click();
  await dialog.getByRole("button", { name: `Write version ${before.version + 2}` }).click();
  await expect(
    page.getByText(`Version ${before.version + 2} of the replay policy of EU is in force.`).first(),
  ).toBeVisible();
  await expect(dialog).toHaveCount(0);

  expect(await read()).toMatchObject({
    version: before.version + 2,
    policy: {
      ...before.policy,
      reviewMs,
      metricsMaxAgeMs: before.policy.metricsMaxAgeMs + 60_000,
      maxRunMs: before.policy.maxRunMs - 1_000,
    },
  });
  await expect(panel.getByRole("row", { name: /^Longest wait for a review/ })).toContainText(
    formatAge(reviewMs),
  );
  const newest = panel
    .getByRole("list", { name: "Versions of the replay policy in EU" })
    .getByRole("listitem")
    .first();
  await expect(newest).toContainText(REASON);
  await expect(newest).toContainText(/Longest wait for a review .+ → /);
  await expect(newest).not.toContainText("Longest run");
  await admin.dispose();
});
