/** Pause and resume as commands: guard, audit, barrier, end of a pause. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { returnExpiredLeases } from "#db/queue/reconcile.ts";
import { MAX_PAUSE_MS } from "#domain/commands-pause.ts";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  makePlace,
  openTransaction,
  type Place,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { pauseDestination } from "./pause-destination.ts";
import { pauseTenant } from "./pause-tenant.ts";
import { readDestinationControl, readTenantControl } from "./read-control.ts";
import { resumeDestination } from "./resume-destination.ts";
import { resumeTenant } from "./resume-tenant.ts";
import { runCommand } from "./run-command.ts";

const HOUR_MS = 3_600_000;
const FOR_AN_HOUR = { forMs: HOUR_MS };

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function busyPlace(): Promise<Place> {
  const place = await makePlace(database.pool);
  await makeDeliveries(database.pool, { ...place, count: 5 });
  return place;
}

const KINDS = [
  {
    kind: "tenant",
    id: (place: Place) => tenantId(place.tenantId),
    read: (id: string) => readTenantControl(database.pool, id),
    pause: (
      id: string,
      version: number,
      end: { forMs: number } | { until: string },
      context = contextOf(database),
    ) => pauseTenant(context, { tenantId: id, version, reason: REASON, end }),
    resume: (id: string, version: number, share?: number) =>
      resumeTenant(contextOf(database), { tenantId: id, version, reason: REASON, share }),
  },
  {
    kind: "destination",
    id: (place: Place) => destinationId(place.destinationId),
    read: (id: string) => readDestinationControl(database.pool, id),
    pause: (
      id: string,
      version: number,
      end: { forMs: number } | { until: string },
      context = contextOf(database),
    ) => pauseDestination(context, { destinationId: id, version, reason: REASON, end }),
    resume: (id: string, version: number, share?: number) =>
      resumeDestination(contextOf(database), { destinationId: id, version, reason: REASON, share }),
  },
] as const;

describe.each(KINDS)("CTL-1 CTL-4 a $kind", ({ kind, id: idOf, read, pause, resume }) => {
  it("is paused until an end, and the audit says who, why, before and after", async () => {
    const place = await busyPlace();
    const id = idOf(place);
    const context = contextOf(database);
    const answer = await pause(id, 1, FOR_AN_HOUR, context);
    expect(answer).toMatchObject({
      version: 2,
      applied: true,
      before: { paused: false },
      after: { paused: true },
    });
    const control = await read(id);
    expect(control).toMatchObject({ version: 2, pauseReason: REASON, pausedBy: "user:ann" });
    const leftMs = Date.parse(String(control.pausedUntil)) - (await databaseNowMs(database.pool));
    expect(leftMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).entries[0]).toMatchObject({
      taken: 0,
      blocker: `${kind}_paused`,
    });
    expect(await readAudit(database, id)).toEqual([
      expect.objectContaining({
        actor: "user:ann",
        actor_role: "operator",
        action: `${kind}.pause`,
        tenant_id: place.tenantId,
        reason: REASON,
        before: { paused: false },
        after: expect.objectContaining({ paused: true, pauseUntil: control.pausedUntil }),
        result: "done",
        correlation_id: context.correlationId,
      }),
    ]);
  });

  it("is extended with a new reason and keeps the beginning of its pause", async () => {
    const id = idOf(await busyPlace());
    const first = await pause(id, 1, FOR_AN_HOUR);
    const second = await pause(id, 2, { forMs: 2 * HOUR_MS });
    expect(second.after.pausedAt).toBe(first.after.pausedAt);
    expect(Date.parse(String(second.after.pauseUntil))).toBeGreaterThan(
      Date.parse(String(first.after.pauseUntil)),
    );
    expect(second.before).toMatchObject({ paused: true, pauseUntil: first.after.pauseUntil });
  });

  it("is resumed with a share, which stands on the row for the ramp", async () => {
    const place = await busyPlace();
    const id = idOf(place);
    await pause(id, 1, FOR_AN_HOUR);
    const answer = await resume(id, 2);
    expect(answer).toMatchObject({ version: 3, applied: true, after: { paused: false, resumeShare: 0.2 } });
    expect(await read(id)).toMatchObject({
      pausedUntil: null,
      resumeShare: 0.2,
      resumedAt: answer.after.resumedAt,
    });
    await pause(id, 3, FOR_AN_HOUR);
    expect(await resume(id, 4, 1)).toMatchObject({ after: { resumeShare: 1 } });
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).ids).toHaveLength(3);
  });

  it("is not resumed when it is not paused; that it was tried is recorded", async () => {
    const id = idOf(await busyPlace());
    await expect(resume(id, 1)).rejects.toMatchObject({ code: "state_conflict" });
    expect((await read(id)).version).toBe(1);
    expect(await readAudit(database, id)).toEqual([
      expect.objectContaining({ action: `${kind}.resume`, result: "conflict" }),
    ]);
  });

  it("needs an end that lies ahead and within the longest pause allowed", async () => {
    const id = idOf(await busyPlace());
    const nowMs = await databaseNowMs(database.pool);
    const at = (ms: number) => ({ until: new Date(ms).toISOString() });
    for (const end of [
      at(nowMs - 1_000),
      at(nowMs + MAX_PAUSE_MS + HOUR_MS),
      { forMs: 0 },
      { forMs: -1 },
      {},
    ]) {
      await expect(pause(id, 1, end as { forMs: number }), JSON.stringify(end)).rejects.toMatchObject({
        code: "bad_pause",
      });
    }
    await expect(pause(id, 1, undefined as unknown as { forMs: number })).rejects.toMatchObject({
      code: "bad_pause",
    });
    const support = contextOf(database, { role: "support" });
    await expect(pause(id, 1, { forMs: 5 * HOUR_MS }, support)).rejects.toMatchObject({ code: "forbidden" });
    expect(await read(id)).toMatchObject({ version: 1, pausedUntil: null });
    expect(await readAudit(database, id)).toEqual([
      expect.objectContaining({ result: "denied", actor_role: "support" }),
    ]);
    expect(await pause(id, 1, at(nowMs + HOUR_MS))).toMatchObject({ version: 2 });
  });

  it("of two changes based on the same version one wins; the other changes nothing and is recorded", async () => {
    const id = idOf(await busyPlace());
    const results = await Promise.allSettled([
      pause(id, 1, FOR_AN_HOUR),
      pause(id, 1, { forMs: 2 * HOUR_MS }),
    ]);
    const lost = results.find((result) => result.status === "rejected");
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(lost?.reason).toMatchObject({ code: "version_conflict", data: { seen: 1, current: 2 } });
    expect((await read(id)).version).toBe(2);
    expect((await readAudit(database, id)).map(({ result }) => result).sort()).toEqual(["conflict", "done"]);
  });

  it("is not found under a foreign id, and the reason is no formality", async () => {
    const id = idOf({ tenantId: randomUUID(), destinationId: randomUUID() } as Place);
    await expect(pause(id, 1, FOR_AN_HOUR)).rejects.toMatchObject({ code: "not_found" });
    await expect(pause("ten_x", 1, FOR_AN_HOUR)).rejects.toMatchObject({ code: "invalid_body" });
  });
});

describe("the barrier", () => {
  it("fault 43: after the answer no claim that was begun before the pause can commit", async () => {
    const place = await busyPlace();
    const open = await openTransaction(database.pool);
    const early = await claim(
      open.client as unknown as Parameters<typeof claim>[0],
      request([{ ...place, wanted: 2 }]),
    );
    expect(early.ids).toHaveLength(2);

    let answered = false;
    const answering = pauseTenant(contextOf(database), {
      tenantId: tenantId(place.tenantId),
      version: 1,
      reason: REASON,
      end: FOR_AN_HOUR,
    }).finally(() => {
      answered = true;
    });
    // The change is committed and seen by everybody; only the answer waits, for the claim that is still open.
    await waitFor(
      async () => (await readTenantControl(database.pool, tenantId(place.tenantId))).pausedUntil !== null,
    );
    await waitUntilBlocked(database.pool, "sluice.barrier");
    expect(answered).toBe(false);
    await open.commit();
    expect(await answering).toMatchObject({ applied: true });
    expect(
      await countRows(database.pool, "delivery WHERE state = 'leased' AND tenant_id = $1", [place.tenantId]),
    ).toBe(2);
    const late = await claim(database.pool, request([{ ...place, wanted: 3 }]));
    expect(late.entries[0]).toMatchObject({ taken: 0, blocker: "tenant_paused" });
  });

  it("a claim that waits for the lock while the pause commits takes nothing", async () => {
    const place = await busyPlace();
    const other = await busyPlace();
    const open = await openTransaction(database.pool);
    await claim(open.client as unknown as Parameters<typeof claim>[0], request([{ ...other, wanted: 1 }]));
    const waiting = claim(database.pool, request([{ ...place, wanted: 3 }]));
    await waitUntilBlocked(database.pool, "sluice.claim");
    const answering = pauseTenant(contextOf(database), {
      tenantId: tenantId(place.tenantId),
      version: 1,
      reason: REASON,
      end: FOR_AN_HOUR,
    });
    await waitFor(
      async () => (await readTenantControl(database.pool, tenantId(place.tenantId))).pausedUntil !== null,
    );
    await open.commit();
    // It may have given up waiting for the lock on a slow machine; taken something it has not.
    const result = await waiting.catch(() => null);
    expect(result?.ids ?? []).toEqual([]);
    expect(await answering).toMatchObject({ applied: true });
  });

  it("that cannot be passed is said: stored, but not proven", async () => {
    const place = await busyPlace();
    const open = await openTransaction(database.pool);
    await claim(open.client as unknown as Parameters<typeof claim>[0], request([{ ...place, wanted: 1 }]));
    const answering = pauseTenant(contextOf(database), {
      tenantId: tenantId(place.tenantId),
      version: 1,
      reason: REASON,
      end: FOR_AN_HOUR,
    });
    await waitUntilBlocked(database.pool, "sluice.barrier");
    await database.pool.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%sluice.barrier%' AND pid <> pg_backend_pid()`,
    );
    expect(await answering).toMatchObject({ applied: false, version: 2 });
    expect((await readTenantControl(database.pool, tenantId(place.tenantId))).pausedUntil).not.toBeNull();
    await open.rollback();
  });
});

describe("fault 42: recovery", () => {
  it("brings a lost lease back, and the pause holds it like everything else, in every lane", async () => {
    const place = await busyPlace();
    const claimed = await claim(database.pool, request([{ ...place, wanted: 2 }]));
    await makeDeliveries(database.pool, { ...place, lane: "retry", count: 2 });
    await pauseTenant(contextOf(database), {
      tenantId: tenantId(place.tenantId),
      version: 1,
      reason: REASON,
      end: FOR_AN_HOUR,
    });
    await database.pool.query(
      "UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ANY($1::uuid[])",
      [claimed.ids],
    );
    expect((await returnExpiredLeases(database.pool)).returned).toBe(2);
    for (const lane of ["first", "retry"] as const) {
      const { entries } = await claim(database.pool, request([{ ...place, lane, wanted: 5 }]));
      expect(entries[0], lane).toMatchObject({ taken: 0, blocker: "tenant_paused" });
    }
  });
});

describe("the audit", () => {
  it("stands or falls with its change: when the row of the audit cannot be written, nothing is changed", async () => {
    const place = await busyPlace();
    const taken = await pauseTenant(contextOf(database), {
      tenantId: tenantId((await busyPlace()).tenantId),
      version: 1,
      reason: REASON,
      end: FOR_AN_HOUR,
    });
    const sameId = contextOf(database, {
      newId: () => {
        const hex = taken.auditId.slice(4);
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
      },
    });
    const command = { tenantId: tenantId(place.tenantId), version: 1, reason: REASON, end: FOR_AN_HOUR };
    await expect(pauseTenant(sameId, command)).rejects.toMatchObject({ code: "23505" });
    expect(await readTenantControl(database.pool, command.tenantId)).toMatchObject({
      version: 1,
      pausedUntil: null,
    });
    expect(await readAudit(database, command.tenantId)).toEqual([]);
  });

  it("can be neither changed, nor deleted, nor emptied", async () => {
    for (const text of [
      "UPDATE sluice.operator_action SET reason = 'another reason'",
      "DELETE FROM sluice.operator_action",
      "TRUNCATE sluice.operator_action",
    ]) {
      await expect(database.pool.query(text), text).rejects.toMatchObject({ code: "23001" });
    }
  });
});

describe("a change that meets another one", () => {
  it("waits for it shortly, then says that nothing was changed", async () => {
    const place = await busyPlace();
    const held = await openTransaction(database.pool);
    await held.client.query("SELECT 1 FROM sluice.tenant WHERE id = $1 FOR UPDATE", [place.tenantId]);
    const command = { tenantId: tenantId(place.tenantId), version: 1, reason: REASON, end: FOR_AN_HOUR };
    await expect(pauseTenant(contextOf(database), command)).rejects.toMatchObject({ code: "overloaded" });
    // No claim waits for a person's lock on a tenant's row.
    expect((await claim(database.pool, request([{ ...place, wanted: 2 }]))).ids).toHaveLength(2);
    await held.rollback();
    expect(await pauseTenant(contextOf(database), command)).toMatchObject({ version: 2 });
  });

  it("by a caller that is stopped in the middle is given up by the server within seconds", async () => {
    const place = await busyPlace();
    const id = tenantId(place.tenantId);
    let entered = () => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    // As a process that was stopped: its transaction is open, and nothing more comes from it.
    const stopped = runCommand(
      contextOf(database),
      { action: "tenant.test", targetKind: "tenant", targetId: id, reason: REASON },
      async (client) => {
        await client.query("SELECT 1 FROM sluice.tenant WHERE id = $1 FOR UPDATE", [place.tenantId]);
        entered();
        await waitFor(
          async () => {
            const { rowCount } = await database.pool.query(
              "SELECT 1 FROM sluice.tenant WHERE id = $1 FOR UPDATE SKIP LOCKED",
              [place.tenantId],
            );
            return rowCount === 1;
          },
          { what: "the row to be free again" },
        );
        await client.query("SELECT 1");
        return { tenantId: null, version: null, before: {}, after: {} };
      },
    );
    await inside;
    await expect(stopped).rejects.toThrow();
    expect(await readAudit(database, id)).toEqual([]);
  });
});
