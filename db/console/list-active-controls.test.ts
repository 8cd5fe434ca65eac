/** Fault 83: whatever is held on purpose is listed with who or what, when, why and until when. On a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import { contextOf, destinationId, REASON, tenantId } from "#tests/support/command-rows/sql.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { disableDestination } from "./commands/disable-destination.ts";
import { pauseDestination } from "./commands/pause-destination.ts";
import { pauseTenant } from "./commands/pause-tenant.ts";
import { stopClaims } from "./commands/stop-claims.ts";
import {
  type ActiveControls,
  listActiveControls,
  MAX_ACTIVE_CONTROLS,
  readActiveControls,
} from "./list-active-controls.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";

let regions: TestRegions;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function active(region: "us" | "eu", access: AccessScope = EVERYWHERE): Promise<ActiveControls> {
  const answer = await listActiveControls(access, region);
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

const change = { version: 1, reason: REASON };

describe("fault 83: what is held on purpose", () => {
  it("is nothing at first, and says so", async () => {
    expect(await active("us")).toEqual({
      claimsStopped: null,
      controls: [],
      pausedTenants: 0,
      pausedDestinations: 0,
      disabledDestinations: 0,
      nextEnd: null,
      replays: [],
      replaysRunning: 0,
      replaysPaused: 0,
      replaysAutoPaused: 0,
      breakGlass: [],
      awaitingMe: 0,
    });
  });

  it("is listed with who, when, why and until; the next to end comes first", async () => {
    const { pool } = regions.us;
    const tenant = await makeTenant(pool);
    const [paused, disabled, over] = [
      await makeDestination(pool, tenant),
      await makeDestination(pool, tenant),
      await makeDestination(pool, tenant),
    ];
    const context = contextOf(regions.us);
    await pauseTenant(context, { tenantId: tenantId(tenant), ...change, end: { forMs: 7_200_000 } });
    await pauseDestination(context, {
      destinationId: destinationId(paused),
      ...change,
      end: { forMs: 3_600_000 },
    });
    await disableDestination(context, { destinationId: destinationId(disabled), ...change });
    await pool.query(
      "UPDATE sluice.destination SET paused_at = now() - interval '2 hours', pause_until = now() - interval '1 hour', pause_reason = 'over' WHERE id = $1",
      [over],
    );
    await stopClaims(context, change);
    const now = await active("us");
    expect(now).toMatchObject({
      claimsStopped: { by: "user:ann", reason: REASON, since: expect.stringMatching(/Z$/) },
      pausedTenants: 1,
      pausedDestinations: 1,
      disabledDestinations: 1,
      nextEnd: now.controls[0]?.until,
    });
    expect(now.controls.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      `destination_paused ${destinationId(paused)}`,
      `tenant_paused ${tenantId(tenant)}`,
      `destination_disabled ${destinationId(disabled)}`,
    ]);
    for (const control of now.controls) {
      expect(control).toMatchObject({ by: "user:ann", reason: REASON, tenantId: tenantId(tenant) });
      expect(control.until === null).toBe(control.kind === "destination_disabled");
    }
  });

  it("holds nothing of other tenants under a narrow scope, and of the region only that its claims are stopped", async () => {
    const { pool } = regions.us;
    const mine = await makeTenant(pool);
    const destination = await makeDestination(pool, mine);
    const before = await active("us", { us: [mine] });
    expect(before).toMatchObject({ controls: [], pausedTenants: 0, pausedDestinations: 0, nextEnd: null });
    expect(before.claimsStopped).toEqual({ by: null, reason: null, since: expect.stringMatching(/Z$/) });
    await pauseDestination(contextOf(regions.us), {
      destinationId: destinationId(destination),
      ...change,
      end: { forMs: 60_000 },
    });
    const now = await active("us", { us: [mine] });
    expect(now.controls.map(({ id }) => id)).toEqual([destinationId(destination)]);
    expect(now).toMatchObject({
      pausedDestinations: 1,
      disabledDestinations: 0,
      nextEnd: now.controls[0]?.until,
    });
  });

  it("of regions outside the scope nothing is asked: they do not exist", async () => {
    const { regions: answers } = await readActiveControls({ eu: null });
    expect(answers.map(({ region }) => region)).toEqual(["eu"]);
    await expect(readActiveControls({ eu: null }, ["us"])).rejects.toMatchObject({ code: "not_found" });
  });

  it("is bounded, with exact counts", async () => {
    const { pool } = regions.eu;
    await pool.query(
      `INSERT INTO sluice.tenant (id, region, slug, name, paused_at, pause_until, pause_reason, paused_by)
       SELECT gen_random_uuid(), 'eu', 'many-' || n, 'many', now(), now() + interval '1 hour', 'a test of many', 'worker'
         FROM generate_series(1, $1::integer) n`,
      [MAX_ACTIVE_CONTROLS + 7],
    );
    const now = await active("eu");
    expect(now.controls).toHaveLength(MAX_ACTIVE_CONTROLS);
    expect(now.pausedTenants).toBe(MAX_ACTIVE_CONTROLS + 7);
  });
});
