/** From the selection to the approval: what a batch may hold, and who may let it go. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { canStep, REPLAY_STATES } from "#domain/replay.ts";
import { contextOf, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { countRows, makeBatch, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import {
  about,
  type Batch,
  CHECKLIST,
  deadRows,
  itemStates,
  makeApproved,
  makeDead,
  makeDraft,
  makeSubmitted,
  publicIds,
  readBatch,
  setMetrics,
} from "#tests/support/replay-rows/sql.ts";
import { willNotReplay } from "../commands/will-not-replay.ts";
import { annotateReplay, draftReplay, planReplay } from "./draft.ts";
import { submitReplay } from "./freeze.ts";
import { approveReplay, breakGlass, cancelReplay, rejectReplay, requestChanges } from "./review.ts";
import { startReplay } from "./run.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  place = await makePlace(database.pool);
  await setMetrics(database.pool);
});
afterAll(() => database.drop());

const ann = () => contextOf(database);
const bob = () => contextOf(database, { actor: "user:bob" });
const eve = () => contextOf(database, { actor: "user:eve" });
const byDestination = () => ({ filter: { destinationId: toPublicId("dst", place.destinationId) } });

describe("select", () => {
  it("takes what can be replayed, says why not the rest, and touches nothing", async () => {
    const ids = await makeDead(database.pool, place, 6);
    await willNotReplay(ann(), { deliveryId: publicIds(ids)[0] ?? "", version: 1, reason: REASON });
    await database.pool.query("UPDATE sluice.payload SET body = NULL, erased_at = now() WHERE id = $1", [
      ids[1],
    ]);
    await makeSubmitted(database, { ids: publicIds(ids.slice(2, 3)) });
    const before = await deadRows(database.pool, ids);
    const answer = await draftReplay(ann(), EVERYWHERE, {
      name: "b",
      selection: byDestination(),
      reason: REASON,
    });
    expect(answer.after).toMatchObject({
      items: 3,
      matching: 6,
      excluded_will_not_replay: 1,
      excluded_payload_gone: 1,
      excluded_in_another_batch: 1,
    });
    expect(await deadRows(database.pool, ids)).toEqual(before);
  });

  it("fault 36: a live id among named ones is told as not dead; fault 42: a paused tenant is left out", async () => {
    const ids = await makeDead(database.pool, place, 2);
    const ghost = toPublicId("dlv", place.tenantId);
    const answer = await draftReplay(ann(), EVERYWHERE, {
      name: "b",
      selection: { ids: [...publicIds(ids), ghost] },
      reason: REASON,
    });
    expect(answer.after).toMatchObject({ items: 2, excluded_not_dead: 1 });
    await database.pool.query(
      "UPDATE sluice.tenant SET paused_at = now(), pause_until = now() + interval '1 hour', pause_reason = 'r' WHERE id = $1",
      [place.tenantId],
    );
    await expect(
      draftReplay(ann(), EVERYWHERE, { name: "b", selection: byDestination(), reason: REASON }),
    ).rejects.toMatchObject({ code: "bad_selection" });
  });

  it("fault 35: an empty filter, no ids and no selection write nothing", async () => {
    const before = await countRows(database.pool, "replay_batch");
    for (const selection of [{ filter: {} }, { ids: [] }, {}]) {
      await expect(
        draftReplay(ann(), EVERYWHERE, { name: "b", selection, reason: REASON } as never),
      ).rejects.toThrow();
    }
    expect(await countRows(database.pool, "replay_batch")).toBe(before);
  });

  it("what the caller's scope does not cover is as if it were not there", async () => {
    await makeDead(database.pool, place, 1);
    const elsewhere = { us: [(await makePlace(database.pool)).tenantId] };
    await expect(
      draftReplay(ann(), elsewhere, { name: "b", selection: byDestination(), reason: REASON }),
    ).rejects.toMatchObject({ code: "bad_selection" });
  });
});

describe("several tenants", () => {
  it("are a matter of the region: who has a grant for some tenants drafts of one at a time", async () => {
    const other = await makePlace(database.pool);
    const ids = [...(await makeDead(database.pool, place, 1)), ...(await makeDead(database.pool, other, 1))];
    const draft = (wanted: readonly string[]) =>
      draftReplay(
        ann(),
        { us: [place.tenantId, other.tenantId] },
        { name: "b", selection: { ids: publicIds(wanted) }, reason: REASON },
      );
    await expect(draft(ids)).rejects.toMatchObject({ code: "bad_selection" });
    await expect(draft(ids.slice(0, 1))).resolves.toMatchObject({ after: { items: 1 } });
  });
});

describe("freeze", () => {
  it("is refused until samples were opened, the cause is named and the checklist is whole", async () => {
    await makeDead(database.pool, place, 3);
    const answer = await draftReplay(ann(), EVERYWHERE, {
      name: "b",
      selection: byDestination(),
      reason: REASON,
    });
    const command = { batchId: String(answer.after.batchId), version: 1, reason: REASON };
    const refused = await submitReplay(ann(), command).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "replay_not_ready" });
    expect(String((refused as Error).message)).toMatch(/0 of 3 sampled.*root cause.*checklist/);
  });

  it("a no on order needs an administrator", async () => {
    await makeDead(database.pool, place, 1);
    const batch = await makeDraft(database, byDestination());
    const checklist = { ...CHECKLIST, order: { yes: false, evidence: "they are sums" } };
    const { version } = await annotateReplay(ann(), { ...about(batch), checklist });
    const command = { ...about(batch), version: version ?? 0 };
    await expect(submitReplay(ann(), command)).rejects.toMatchObject({ code: "replay_not_ready" });
    await expect(submitReplay(contextOf(database, { role: "admin" }), command)).resolves.toMatchObject({
      after: { state: "in_review" },
    });
  });

  it("DLQ-5 an entry that dies after the freeze is not in it, and a frozen plan and item cannot change", async () => {
    await makeDead(database.pool, place, 3);
    const batch = await makeSubmitted(database, byDestination());
    await makeDead(database.pool, place, 5);
    expect(await itemStates(database.pool, batch.id)).toEqual({ frozen: 3 });
    await expect(planReplay(ann(), { ...about(batch), plan: { concurrency: 9 } })).rejects.toMatchObject({
      code: "state_conflict",
    });
    await expect(
      database.pool.query("UPDATE sluice.replay_batch SET plan = '{}' WHERE id = $1", [batch.id]),
    ).rejects.toThrow(/frozen plan/);
    await expect(
      database.pool.query("UPDATE sluice.replay_item SET dead_letter_version = 9 WHERE batch_id = $1", [
        batch.id,
      ]),
    ).rejects.toThrow(/frozen item/);
  });

  it("fault 38: of two drafts of the same entries the second freeze is refused with the ids", async () => {
    const ids = await makeDead(database.pool, place, 2);
    const [one, two] = [
      await makeDraft(database, byDestination()),
      await makeDraft(database, byDestination()),
    ];
    await submitReplay(ann(), about(one));
    const refused = await submitReplay(bob(), about(two)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "replay_overlap", data: { ids: publicIds(ids).sort() } });
  });
});

describe("fault 38: a double submit", () => {
  it("of one request makes one batch, and another request with its key is refused", async () => {
    await makeDead(database.pool, place, 2);
    const keyed = (fill: number) => ({
      ...ann(),
      idempotency: { key: "draft-once", requestSha256: Buffer.alloc(32, fill) },
    });
    const draft = (fill: number) =>
      draftReplay(keyed(fill), EVERYWHERE, { name: "b", selection: byDestination(), reason: REASON });
    const before = await countRows(database.pool, "replay_batch");
    const [one, two] = await Promise.all([draft(1), draft(1)]);
    expect(one.after.batchId).toBe(two.after.batchId);
    expect(await countRows(database.pool, "replay_batch")).toBe(before + 1);
    await expect(draft(2)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });
});

describe("the largest batch", () => {
  it("of 5,000 entries is drafted, frozen and started within the limits of a command", async () => {
    await makeDead(database.pool, place, 5_001);
    const batch = await makeApproved(database, byDestination());
    await startReplay(bob(), about(batch));
    expect(await itemStates(database.pool, batch.id)).toEqual({ frozen: 5_000 });
    const { rows } = await database.pool.query(
      "SELECT count(DISTINCT seq)::integer AS places, count(*) FILTER (WHERE canary)::integer AS canary FROM sluice.replay_item WHERE batch_id = $1",
      [batch.id],
    );
    expect(rows).toEqual([{ places: 5_000, canary: 25 }]);
  });
});

describe("second person", () => {
  let batch: Batch & { sha256: string };
  beforeEach(async () => {
    await makeDead(database.pool, place, 2);
    batch = await makeSubmitted(database, byDestination());
  });
  const approval = () => ({ ...about(batch), sha256: batch.sha256 });

  it("DLQ-4 Postgres refuses the author's own approval, by command and by hand, and the attempt is recorded", async () => {
    await expect(approveReplay(ann(), approval())).rejects.toMatchObject({ code: "forbidden" });
    await expect(
      database.pool.query(
        "UPDATE sluice.replay_batch SET state = 'approved', version = version + 1, approved_by = 'user:ann' WHERE id = $1",
        [batch.id],
      ),
    ).rejects.toMatchObject({ code: "23514" });
    expect((await readBatch(database.pool, batch.id)).state).toBe("in_review");
    const audit = await readAudit(database, batch.publicId);
    expect(audit.at(-1)).toMatchObject({ action: "replay.approve", actor: "user:ann", result: "denied" });
  });

  it("somebody who edited it cannot approve it either", async () => {
    const draft = await requestChanges(bob(), about(batch));
    const planned = await planReplay(eve(), {
      ...about(batch),
      version: draft.version ?? 0,
      plan: { concurrency: 3 },
    });
    const again = await submitReplay(ann(), { ...about(batch), version: planned.version ?? 0 });
    const command = { ...about(batch), version: again.version ?? 0, sha256: String(again.after.sha256) };
    expect(command.sha256).not.toBe(batch.sha256);
    await expect(approveReplay(eve(), command)).rejects.toMatchObject({ code: "forbidden" });
    await expect(approveReplay(bob(), command)).resolves.toMatchObject({ after: { state: "approved" } });
  });

  it("of two approvers at once one approves, and the other is told who was first", async () => {
    const settled = await Promise.allSettled([
      approveReplay(bob(), approval()),
      approveReplay(eve(), approval()),
    ]);
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = settled.find((one) => one.status === "rejected") as PromiseRejectedResult;
    expect(lost.reason).toMatchObject({ code: "version_conflict" });
    expect((await readBatch(database.pool, batch.id)).state).toBe("approved");
  });

  it("an approval is of the set that was read", async () => {
    await expect(approveReplay(bob(), { ...approval(), sha256: "0".repeat(64) })).rejects.toMatchObject({
      code: "version_conflict",
    });
  });

  it("break-glass needs an administrator and the typed name", async () => {
    const admin = contextOf(database, { role: "admin" });
    await expect(breakGlass(ann(), { ...about(batch), typedName: "after the outage" })).rejects.toMatchObject(
      { code: "forbidden" },
    );
    await expect(breakGlass(admin, { ...about(batch), typedName: "after" })).rejects.toMatchObject({
      code: "invalid_body",
    });
    await expect(
      breakGlass(admin, { ...about(batch), typedName: "after the outage" }),
    ).resolves.toMatchObject({ after: { state: "approved" } });
  });

  it("a rejected or cancelled batch gives its entries free, and cannot change any more", async () => {
    await rejectReplay(bob(), about(batch));
    expect(await itemStates(database.pool, batch.id)).toEqual({ not_released: 2 });
    await expect(
      database.pool.query("UPDATE sluice.replay_batch SET name = 'x' WHERE id = $1", [batch.id]),
    ).rejects.toThrow(/has ended/);
    const next = await makeApproved(database, byDestination());
    await expect(cancelReplay(ann(), about(next))).resolves.toMatchObject({
      after: { state: "cancelled", closed: 2 },
    });
  });
});

describe("start", () => {
  it("double start makes one run", async () => {
    await makeDead(database.pool, place, 2);
    const batch = await makeApproved(database, byDestination());
    const settled = await Promise.allSettled([
      startReplay(bob(), about(batch)),
      startReplay(ann(), about(batch)),
    ]);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readBatch(database.pool, batch.id)).toMatchObject({ state: "canary" });
  });

  it("is refused when the destination was changed since the approval, or a condition is red", async () => {
    await makeDead(database.pool, place, 2);
    const batch = await makeApproved(database, byDestination());
    await setMetrics(database.pool, { ageMs: 60_000 });
    await expect(startReplay(bob(), about(batch))).rejects.toMatchObject({ code: "replay_red" });
    await setMetrics(database.pool, { dueLagMs: 61_000 });
    await expect(startReplay(bob(), about(batch))).rejects.toMatchObject({ code: "replay_red" });
    await setMetrics(database.pool);
    await database.pool.query(
      "UPDATE sluice.destination SET url = 'http://127.0.0.1:9/other' WHERE id = $1",
      [place.destinationId],
    );
    await expect(startReplay(bob(), about(batch))).rejects.toMatchObject({ code: "version_conflict" });
  });

  it("support starts its own batch only", async () => {
    await makeDead(database.pool, place, 2);
    const batch = await makeApproved(database, byDestination());
    await expect(
      startReplay(contextOf(database, { actor: "user:sam", role: "support" }), about(batch)),
    ).rejects.toMatchObject({ code: "forbidden" });
    await expect(startReplay(contextOf(database, { role: "support" }), about(batch))).resolves.toMatchObject({
      after: { state: "canary" },
    });
  });
});

describe("the table of steps", () => {
  const pairs = REPLAY_STATES.flatMap((from) => REPLAY_STATES.map((to) => ({ from, to }))).filter(
    ({ from, to }) => from !== to,
  );

  it("Postgres takes exactly the steps of domain/replay.ts", async () => {
    const wrong: string[] = [];
    for (const { from, to } of pairs) {
      for (const left of from === "paused" ? ["canary", "canary_hold", "running"] : [null]) {
        const id = await makeBatch(database.pool, from === "paused" ? "running" : from);
        if (left !== null) {
          const replica = await database.pool.connect();
          await replica.query("BEGIN; SET LOCAL session_replication_role = replica");
          await replica.query(
            "UPDATE sluice.replay_batch SET state = 'paused', paused_from = $2 WHERE id = $1",
            [id, left],
          );
          await replica.query("COMMIT");
          replica.release();
        }
        const set = to === "paused" ? ", paused_from = state" : "";
        const passed = await database.pool
          .query(`UPDATE sluice.replay_batch SET state = $2, version = version + 1${set} WHERE id = $1`, [
            id,
            to,
          ])
          .then(
            () => true,
            () => false,
          );
        if (passed !== canStep(from, to, left as never)) wrong.push(`${from}>${to} (${left})`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
