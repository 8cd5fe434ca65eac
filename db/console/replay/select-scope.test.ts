/**
 * DLQ-9, REG-4: a selection is made of what lies in the caller's scope and of nothing else: neither the entries of another tenant
 * nor their number, and not even that there is such an id.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { makeDead } from "#tests/support/replay-rows/sql.ts";
import { pointConsoleAt, releaseConsole } from "../test-console.ts";
import { draftReplay } from "./draft.ts";
import { previewReplay } from "./preview.ts";

const NOBODYS = `dlv_${"0".repeat(32)}`;
const REASON = "a reason that says why";

let regions: TestRegions;
let mine: Place;
let theirs: Place;
let ids: { mine: string[]; theirs: string[] };

beforeAll(async () => {
  regions = await createTestRegions();
  const { us } = regions;
  await pointConsoleAt({ us: us.connectionString, eu: regions.eu.connectionString });
  [mine, theirs] = [await makePlace(us.pool), await makePlace(us.pool)];
  const dead = async (place: Place, n: number) =>
    (await makeDead(us.pool, place, n)).map((id) => toPublicId("dlv", id));
  // Theirs died first: the oldest of the region are none of ours.
  ids = { theirs: await dead(theirs, 6), mine: await dead(mine, 3) };
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

const scope = () => ({ us: [mine.tenantId] });
const previewOf = async (selection: unknown, limit = 500) => {
  const answer = await previewReplay(scope(), "us", { selection, limit });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
};

it("an id of another tenant is told from one that does not exist by nothing", async () => {
  const [known] = ids.theirs;
  const foreign = await previewOf({ ids: [known, ids.mine[0]] });
  expect(foreign).toEqual(await previewOf({ ids: [NOBODYS, ids.mine[0]] }));
  expect(foreign).toMatchObject({ matching: 1, items: 1, excluded: { not_dead: 1 } });
});

it("the oldest so many are the oldest of the scope, and only they are counted", async () => {
  const found = await previewOf({ filter: { reason: "attempts_exhausted" } }, 2);
  expect(found).toMatchObject({ matching: 3, items: 2, tenants: [toPublicId("ten", mine.tenantId)] });
});

it("a draft takes and tells the same", async () => {
  const context = contextOf(regions.us, { actor: "user:ann", role: "support" });
  const selection = { ids: [...ids.theirs, ...ids.mine] };
  const { after } = await draftReplay(context, scope(), {
    name: "mine",
    selection,
    limit: 4,
    reason: REASON,
  });
  expect(after).toMatchObject({ items: 3, matching: 3, excluded_not_dead: 6 });
});

it("a cause that only others have is not there", async () => {
  const { rows } = await regions.us.pool.query<{ id: string }>(
    `SELECT g.id FROM sluice.dead_letter_group g
      WHERE NOT EXISTS (SELECT 1 FROM sluice.dead_letter d WHERE d.fingerprint = g.fingerprint AND d.tenant_id = $1)`,
    [mine.tenantId],
  );
  const foreign = rows.map(({ id }) => toPublicId("dlg", id));
  expect(foreign.length).toBeGreaterThan(0);
  for (const groupId of foreign) {
    await expect(previewOf({ groupId })).rejects.toMatchObject({ code: "not_found" });
  }
});
