/**
 * What the accessibility tests look at: a tenant that is late, one that is paused, one whose receiver limits it, dead letters of
 * one cause, and a person who may see and do everything. `end` must leave nothing held or shut behind for the tests after it.
 */
import { randomUUID } from "node:crypto";
import { expect, type Page } from "@playwright/test";
import { addGrant } from "#db/console/access/grants.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { toPublicId } from "#domain/ids.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { readVersion } from "#tests/support/access-rows/sql.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { endGates, readTrouble, makeLate as setLate } from "#tests/support/late-rows/sql.ts";
import { BY, clientOf, createPerson, type Person, sessionOf } from "./accounts.ts";
import { addCustomer, type Customer, enqueue } from "./enqueue.ts";
import type { World } from "./world.ts";

const REASON = "an accessibility test looks at it";
const DEAD = 3;
const PAUSE_MS = 3_600_000;
const LATE_BY = "10 minutes";
const LONG_MS = 60_000;

export interface Scene {
  /** An administrator with the grant to reveal bodies. */
  readonly admin: Person;
  /** In eu: late behind a shut gate. */
  readonly late: Customer;
  /** In us: paused, with work that is held. */
  readonly paused: Customer;
  /** In us: its receiver answered 429. */
  readonly limited: Customer;
  /** In us: its receiver refuses every body. */
  readonly refused: Customer;
  /** Public ids: a delivery of the limited tenant, one that died, and the cause of its death. */
  readonly waitingId: string;
  readonly deadId: string;
  readonly groupId: string;
  end(): Promise<void>;
}

export const tenantPath = ({ tenantId }: Customer, region: Region) =>
  `/tenants/${toPublicId("ten", tenantId)}?region=${region}`;

export const destinationPath = ({ destinationId }: Customer, region: Region) =>
  `/destinations/${toPublicId("dst", destinationId)}?region=${region}`;

/** Signs a page in as somebody else. */
export async function becomes(page: Page, world: World, person: Person): Promise<void> {
  await page.context().clearCookies();
  await page.context().addCookies((await sessionOf(world, person)).cookies);
}

export async function setScene(world: World): Promise<Scene> {
  const run = randomUUID().slice(0, 8);
  const admin = await createPerson(world.regions, `accessibility-${run}`, null);
  await addGrant(
    world.regions.us.pool,
    admin.email,
    { role: "admin", regions: REGIONS, tenantIds: null, canReveal: true },
    BY,
  );
  const late = await addCustomer(world, "eu", "Late Bank", `/ok/late-${run}`);
  const paused = await addCustomer(world, "us", "Paused Shop", `/ok/paused-${run}`);
  const limited = await addCustomer(world, "us", "Limited Shop", `/429/seconds/900/limited-${run}`);
  const refused = await addCustomer(
    world,
    "us",
    "Refused Bank",
    `/reject/422/refused-${run}?message=cannot+parse+the+body`,
  );
  await makeLate(world, late);
  const { pool } = world.regions.us;
  await pauseTenant(contextOf({ region: "us", pool }), {
    tenantId: toPublicId("ten", paused.tenantId),
    version: await readVersion(pool, "tenant", paused.tenantId),
    reason: REASON,
    end: { forMs: PAUSE_MS },
  });
  await enqueue(world, "us", paused, { key: `paused-${run}` });
  const waiting = await enqueue(world, "us", limited, { key: `limited-${run}` });
  const dying: { id: string }[] = [];
  for (let at = 0; at < DEAD; at += 1) {
    dying.push(await enqueue(world, "us", refused, { key: `refused-${run}-${at}` }));
  }
  await isReady(world, limited, refused);
  return {
    admin,
    late,
    paused,
    limited,
    refused,
    waitingId: waiting.id,
    deadId: dying[0]?.id ?? "",
    groupId: await groupOf(world, admin, refused),
    end: () => endScene(world, paused, [late, limited]),
  };
}

/** One delivery that should have gone out long ago. */
async function makeLate(world: World, late: Customer): Promise<void> {
  const { pool } = world.regions.eu;
  await pool.query(
    "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
    [late.destinationId],
  );
  const { uuid } = await enqueue(world, "eu", late, { key: `late-${randomUUID()}` });
  await setLate(pool, uuid, LATE_BY);
}

async function isReady(world: World, limited: Customer, refused: Customer): Promise<void> {
  const { pool } = world.regions.us;
  await expect
    .poll(() => readTrouble(pool, refused.tenantId, limited.destinationId), { timeout: LONG_MS })
    .toEqual({ dead: DEAD, shut: 1 });
}

async function groupOf(world: World, person: Person, { slug }: Customer): Promise<string> {
  const client = await clientOf(world, person);
  let id: string | undefined;
  await expect(async () => {
    const answer = await client.get(`/api/v1/dead-letter-groups?region=us&tenant=${slug}`);
    id = ((await answer.json()) as { data: { rows: { id: string }[] } }).data.rows[0]?.id;
    expect(id).toBeDefined();
  }).toPass({ timeout: LONG_MS });
  await client.dispose();
  return id ?? "";
}

async function endScene(world: World, paused: Customer, gated: readonly Customer[]): Promise<void> {
  const { pool } = world.regions.us;
  await resumeTenant(contextOf({ region: "us", pool }), {
    tenantId: toPublicId("ten", paused.tenantId),
    version: await readVersion(pool, "tenant", paused.tenantId),
    reason: REASON,
    share: 1,
  });
  for (const region of REGIONS) {
    await endGates(
      world.regions[region].pool,
      gated.map(({ destinationId }) => destinationId),
    );
  }
}
