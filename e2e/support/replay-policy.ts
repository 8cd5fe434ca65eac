/**
 * The replay policy that a browser journey runs under, as a version of it that an administrator writes: holds of a second in
 * place of minutes, and readings that a busy machine may take late. What the holds and the thresholds do has tests of its own;
 * here they only must not cost minutes.
 */
import { expect } from "@playwright/test";
import type { Region } from "#domain/region.ts";
import type { ReplayPolicyInput } from "#domain/replay-plan.ts";
import { clientOf } from "./accounts.ts";
import type { World } from "./world.ts";

const MINUTES_MS = 600_000;

const QUICK: ReplayPolicyInput = {
  canaryHoldMs: 1_000,
  rampHoldMs: 0,
  metricsMaxAgeMs: MINUTES_MS,
  dueLagMs: MINUTES_MS,
  urgentFirstP95Ms: MINUTES_MS,
  routineFirstP95Ms: MINUTES_MS,
};

/** Writes the next version. Batches that were frozen before keep their thresholds. */
export async function quickReplays(world: World, region: Region): Promise<void> {
  const admin = await clientOf(world, world.accounts.admin);
  const path = `/api/v1/replays/policy?region=${region}`;
  const read = (await (await admin.get(path)).json()) as { data: { version: number } };
  const answer = await admin.post(path, {
    data: { policy: QUICK, reason: "A browser test has no minutes" },
    headers: { "if-match": `"${read.data.version}"` },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  await admin.dispose();
}
