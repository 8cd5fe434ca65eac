/** What people do about a cause: guarded by its version, audited, and never at the cost of an entry. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contextOf, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { addDeaths, groupIdOf } from "#tests/support/dead-letter-rows/sql.ts";
import { countRows, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { findTarget } from "./commands/find-target.ts";
import { markGroup } from "./dead-letter-groups-mark.ts";
import { type GroupVerb, triageGroup } from "./dead-letter-groups-triage.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});
afterAll(() => database.drop());

async function cause(count = 1): Promise<{ fingerprint: string; groupId: string }> {
  const fingerprint = `rejected:422:${randomUUID().slice(0, 16)}`;
  await addDeaths(database.pool, { ...place, fingerprint, count, agoMs: 60_000 });
  return { fingerprint, groupId: await groupIdOf(database.pool, fingerprint) };
}

async function rowOf(fingerprint: string) {
  const { rows } = await database.pool.query(
    "SELECT state, state_by, assignee, note, resolved_at, version FROM sluice.dead_letter_group WHERE fingerprint = $1",
    [fingerprint],
  );
  return rows[0];
}

const triage = (verb: GroupVerb, input: object) => triageGroup(contextOf(database), verb, input);

describe("CTL-4 triage", () => {
  it("acknowledges with who, before and after in the audit, and the tenant that it is about", async () => {
    const { fingerprint, groupId } = await cause();
    const answer = await triage("acknowledge", { groupId, version: 1, reason: REASON, ticket: "OPS-7" });
    expect(answer).toMatchObject({
      version: 2,
      applied: true,
      before: { state: "new" },
      after: { state: "acknowledged" },
    });
    expect(await rowOf(fingerprint)).toMatchObject({
      state: "acknowledged",
      state_by: "user:ann",
      version: 2,
    });
    expect(await readAudit(database, groupId)).toMatchObject([
      {
        actor: "user:ann",
        action: "dead_letter_group.acknowledge",
        tenant_id: place.tenantId,
        reason: REASON,
        ticket: "OPS-7",
        result: "done",
        before: { state: "new" },
        after: { state: "acknowledged" },
      },
    ]);
  });

  it("of two people with the same version one is refused, and that stands in the audit", async () => {
    const { fingerprint, groupId } = await cause();
    const both = await Promise.allSettled([
      triage("assign", { groupId, version: 1, reason: REASON, assignee: "ann@example.com" }),
      triage("assign", { groupId, version: 1, reason: REASON, assignee: "bob@example.com" }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = both.find((one) => one.status === "rejected");
    expect(refused?.reason).toMatchObject({ code: "version_conflict", status: 412 });
    expect((await rowOf(fingerprint)).version).toBe(2);
    expect((await readAudit(database, groupId)).map(({ result }) => result).sort()).toEqual([
      "conflict",
      "done",
    ]);
  });

  it("keeps state, assignee and note apart, and takes each away again", async () => {
    const { fingerprint, groupId } = await cause();
    await triage("acknowledge", { groupId, version: 1, reason: REASON });
    await triage("assign", { groupId, version: 2, reason: REASON, assignee: "ann@example.com" });
    await triage("note", { groupId, version: 3, reason: REASON, note: "the parser is fixed tonight" });
    expect(await rowOf(fingerprint)).toMatchObject({
      state: "acknowledged",
      assignee: "ann@example.com",
      note: "the parser is fixed tonight",
    });
    await triage("note", { groupId, version: 4, reason: REASON, note: null });
    await triage("assign", { groupId, version: 5, reason: REASON, assignee: null });
    await triage("reopen", { groupId, version: 6, reason: REASON });
    expect(await rowOf(fingerprint)).toMatchObject({ state: "new", assignee: null, note: null, version: 7 });
  });

  it("resolved has its moment, which a note leaves alone, a second resolve renews and anything else ends", async () => {
    const { fingerprint, groupId } = await cause();
    await triage("resolve", { groupId, version: 1, reason: REASON });
    const first = (await rowOf(fingerprint)).resolved_at;
    expect(first).toBeInstanceOf(Date);
    await triage("note", { groupId, version: 2, reason: REASON, note: "mended" });
    expect((await rowOf(fingerprint)).resolved_at).toEqual(first);
    await triage("resolve", { groupId, version: 3, reason: REASON });
    expect((await rowOf(fingerprint)).resolved_at.getTime()).toBeGreaterThan(first.getTime());
    await triage("acknowledge", { groupId, version: 4, reason: REASON });
    expect(await rowOf(fingerprint)).toMatchObject({ state: "acknowledged", resolved_at: null });
  });

  it("refuses what it is already, what does not exist and what has no reason; the row stays", async () => {
    const { fingerprint, groupId } = await cause();
    const missing = `dlg_${"0".repeat(32)}`;
    await expect(triage("reopen", { groupId, version: 1, reason: REASON })).rejects.toMatchObject({
      code: "state_conflict",
    });
    await expect(
      triage("acknowledge", { groupId: missing, version: 1, reason: REASON }),
    ).rejects.toMatchObject({ code: "not_found" });
    await expect(triage("acknowledge", { groupId, version: 1, reason: "no" })).rejects.toMatchObject({
      code: "bad_reason",
    });
    expect((await rowOf(fingerprint)).version).toBe(1);
  });

  it("a worker that adds an entry never waits for a person who holds the group", async () => {
    const { fingerprint } = await cause();
    const client = await database.pool.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT 1 FROM sluice.dead_letter_group WHERE fingerprint = $1 FOR NO KEY UPDATE", [
        fingerprint,
      ]);
      const worker = await database.pool.connect();
      try {
        await worker.query("BEGIN; SET LOCAL statement_timeout = '5s'");
        await addDeaths(worker, { ...place, fingerprint });
        await worker.query("COMMIT");
      } finally {
        worker.release();
      }
      expect(await countRows(database.pool, "dead_letter WHERE fingerprint = $1", [fingerprint])).toBe(2);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });
});

describe("DLQ-3 will not replay, for a whole cause", () => {
  it("marks 500 at a time, keeps every row, and touches nothing that died after the count", async () => {
    const { fingerprint, groupId } = await cause(1_203);
    const { rows } = await database.pool.query<{ now: Date }>("SELECT clock_timestamp() AS now");
    const until = rows[0]?.now.toISOString() ?? "";
    await addDeaths(database.pool, { ...place, fingerprint, count: 3, agoMs: -60_000 });
    const mark = () => markGroup(contextOf(database), { groupId, version: 1, reason: REASON, until });
    expect(await mark()).toMatchObject({ version: 1, after: { marked: 500, left: 703 } });
    expect(await mark()).toMatchObject({ after: { marked: 500, left: 203 } });
    expect(await mark()).toMatchObject({ after: { marked: 203, left: 0 } });
    await expect(mark()).rejects.toMatchObject({ code: "state_conflict" });
    expect(await countRows(database.pool, "dead_letter WHERE fingerprint = $1", [fingerprint])).toBe(1_206);
    const marked = "dead_letter WHERE fingerprint = $1 AND will_not_replay_reason = $2 AND version = 2";
    expect(await countRows(database.pool, marked, [fingerprint, REASON])).toBe(1_203);
    expect((await readAudit(database, groupId)).filter(({ result }) => result === "done")).toHaveLength(3);
  });

  it("needs the version that was seen", async () => {
    const { groupId } = await cause();
    const input = { groupId, version: 9, reason: REASON, until: new Date().toISOString() };
    await expect(markGroup(contextOf(database), input)).rejects.toMatchObject({ code: "version_conflict" });
  });
});

describe("whose a cause is", () => {
  it("its entries' tenant; of several tenants it is the region's; without entries there is none", async () => {
    const { fingerprint, groupId } = await cause();
    const find = () => findTarget(database.pool, "dead_letter_group", groupId);
    expect(await find()).toEqual({ tenantId: place.tenantId });
    const other = await makePlace(database.pool);
    await addDeaths(database.pool, { ...other, fingerprint });
    expect(await find()).toEqual({ tenantId: null });
    await database.pool.query("DELETE FROM sluice.dead_letter WHERE fingerprint = $1", [fingerprint]);
    expect(await find()).toBeNull();
  });
});
