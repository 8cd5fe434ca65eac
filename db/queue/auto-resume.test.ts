/** CTL-1: a pause ends at its end, once, with an audit row that names no person. On a real server. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pauseDestination } from "#db/console/commands/pause-destination.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { uuidV7 } from "#domain/ids.ts";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makePlace, openTransaction, type Place } from "#tests/support/queue-rows/sql.ts";
import { endPauses, MAX_ENDED_PAUSES } from "./auto-resume.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  place = await makePlace(database.pool);
});
afterAll(() => database.drop());

const end = () => endPauses(database.pool, randomUUID(), () => uuidV7(Date.now(), randomBytes));

/** Both kinds paused for an hour; returns the correlation id of the tenant's pause. */
async function pauseBoth(): Promise<string> {
  const context = contextOf(database);
  const shared = { version: 1, reason: REASON, end: { forMs: 3_600_000 } };
  await pauseTenant(context, { tenantId: tenantId(place.tenantId), ...shared });
  await pauseDestination(context, { destinationId: destinationId(place.destinationId), ...shared });
  return context.correlationId;
}

/** As if an hour and three minutes had gone by. */
async function letThemEnd(): Promise<void> {
  for (const table of ["tenant", "destination"]) {
    await database.pool.query(
      `UPDATE sluice.${table} SET pause_until = pause_until - interval '63 minutes', paused_at = paused_at - interval '63 minutes' WHERE paused_at IS NOT NULL`,
    );
  }
}

interface Row {
  paused_at: Date | null;
  resumed_ago_ms: number;
  share: number;
  version: number;
}

async function row(table: "tenant" | "destination", id: string): Promise<Row | undefined> {
  const { rows } = await database.pool.query<Row>(
    `SELECT paused_at, (extract(epoch FROM clock_timestamp() - resumed_at) * 1000)::float8 AS resumed_ago_ms, resume_share::float8 AS share, version
       FROM sluice.${table} WHERE id = $1`,
    [id],
  );
  return rows[0];
}

describe("CTL-1 the end of a pause", () => {
  it("is left alone before its time", async () => {
    await pauseBoth();
    expect(await end()).toEqual([]);
    expect((await row("tenant", place.tenantId))?.paused_at).not.toBeNull();
    await letThemEnd();
    await end();
  });

  it("ends tenant and destination, ramps from the end itself, and is audited as nobody's deed", async () => {
    const correlationId = await pauseBoth();
    await letThemEnd();
    expect(await end()).toEqual([
      { kind: "tenant", id: tenantId(place.tenantId) },
      { kind: "destination", id: destinationId(place.destinationId) },
    ]);
    for (const [table, id] of [
      ["tenant", place.tenantId],
      ["destination", place.destinationId],
    ] as const) {
      const ended = await row(table, id);
      expect(ended).toMatchObject({ paused_at: null, share: 0.2, version: 3 });
      expect(ended?.resumed_ago_ms).toBeGreaterThan(2 * 60_000);
    }
    const [paused, resumed] = await readAudit(database, tenantId(place.tenantId));
    expect(paused?.action).toBe("tenant.pause");
    expect(resumed).toMatchObject({
      actor: "worker",
      actor_role: "system",
      action: "tenant.resume",
      tenant_id: place.tenantId,
      before: { paused: true, pauseReason: REASON, pausedBy: "user:ann" },
      after: { paused: false, resumeShare: 0.2 },
      result: "done",
      correlation_id: correlationId,
    });
    expect(await readAudit(database, destinationId(place.destinationId))).toHaveLength(2);
  });

  it("by five processes at the same time is still ended once", async () => {
    await pauseBoth();
    await letThemEnd();
    const ended = (await Promise.all(Array.from({ length: 5 }, end))).flat();
    expect(ended).toHaveLength(2);
    for (const id of [tenantId(place.tenantId), destinationId(place.destinationId)]) {
      expect((await readAudit(database, id)).filter(({ actor }) => actor === "worker")).toHaveLength(1);
    }
    expect((await row("tenant", place.tenantId))?.version).toBe(3);
  });

  it("never waits for a person who has the row in hand, and never undoes what they did", async () => {
    await pauseBoth();
    await letThemEnd();
    const held = await openTransaction(database.pool);
    await held.client.query(
      "UPDATE sluice.tenant SET pause_until = clock_timestamp() + interval '1 hour', version = version + 1 WHERE id = $1",
      [place.tenantId],
    );
    expect(await end()).toEqual([{ kind: "destination", id: destinationId(place.destinationId) }]);
    await held.commit();
    expect(await end()).toEqual([]);
    expect((await row("tenant", place.tenantId))?.paused_at).not.toBeNull();
    await letThemEnd();
    await end();
  });

  it("a morning when very many end takes several passes, each bounded", async () => {
    await database.pool.query(
      `INSERT INTO sluice.tenant (id, region, slug, name, paused_at, pause_until, pause_reason)
       SELECT gen_random_uuid(), 'us', 'many-' || n, 'many', now() - interval '2 hours', now() - interval '1 hour', 'a test'
         FROM generate_series(1, $1::integer) n`,
      [MAX_ENDED_PAUSES + 5],
    );
    expect(await end()).toHaveLength(MAX_ENDED_PAUSES);
    expect(await end()).toHaveLength(5);
    expect(await end()).toEqual([]);
  });
});
