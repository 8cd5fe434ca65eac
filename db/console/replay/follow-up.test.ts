/**
 * What comes after a batch, and around it: a set that is fixed whatever happens meanwhile, a second review that sees what
 * changed, the follow-up of what failed again, the causes, and the policy. By the product's own commands, on real rows.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE, type Grant } from "#domain/permissions.ts";
import { contextOf, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { addDeaths } from "#tests/support/dead-letter-rows/sql.ts";
import { countRows, makePlace, outcomeOf, type Place } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { nextTurnOf } from "#tests/support/replay-rows/batches.ts";
import {
  about,
  type Batch,
  CHECKLIST,
  claimReplay,
  DEAD_AGAIN,
  deadRows,
  itemStates,
  makeApproved,
  makeDead,
  makeDraft,
  makeSubmitted,
  publicIds,
  readBatch,
  send,
  setMetrics,
  setReplayPolicy,
} from "#tests/support/replay-rows/sql.ts";
import { finish } from "../../queue/finish.ts";
import { listActiveControls } from "../list-active-controls.ts";
import { listDeadLetterGroups } from "../list-dead-letter-groups.ts";
import { pointConsoleAt, releaseConsole } from "../test-console.ts";
import { annotateReplay, draftReplay, inspectReplay, removeReplayItems } from "./draft.ts";
import { submitReplay } from "./freeze.ts";
import { listReplayItems } from "./list-replay-items.ts";
import { previewReplay } from "./preview.ts";
import { readReplay } from "./read-replay.ts";
import { breakGlass, requestChanges } from "./review.ts";
import { continueReplay, startReplay, stopReplay } from "./run.ts";
import { readReplayPolicyView, setReplayPolicy as writeReplayPolicy } from "./set-replay-policy.ts";

const FAST = { ratePerSecond: 50, concurrency: 50 };
const OPERATOR: Grant = {
  role: "operator",
  regions: ["us"],
  tenantIds: null,
  canReveal: false,
  actions: null,
};

let regions: TestRegions;
let place: Place;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  await setReplayPolicy(regions.us.pool, { canaryHoldMs: 0, rampHoldMs: 0 });
});
beforeEach(async () => {
  place = await makePlace(regions.us.pool);
  await setMetrics(regions.us.pool);
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

const ann = () => contextOf(regions.us);
const bob = () => contextOf(regions.us, { actor: "user:bob" });
const admin = () => contextOf(regions.us, { actor: "user:root", role: "admin" });
const byDestination = () => ({ filter: { destinationId: toPublicId("dst", place.destinationId) } });
const next = (batch: Batch) => nextTurnOf(regions.us.pool, batch);

function dataOf<T>(answer: { status: "ok"; data: T | null } | { status: "unavailable"; detail: string }): T {
  if (answer.status !== "ok" || answer.data === null) throw new Error("nothing was answered");
  return answer.data;
}

const detailOf = async (batch: Batch, actor = "user:bob") =>
  dataOf(await readReplay(EVERYWHERE, "us", batch.publicId, { grants: [OPERATOR], actor }));

async function started(selection = byDestination()): Promise<Batch> {
  const batch = await makeApproved(regions.us, selection, FAST);
  const { version } = await startReplay(bob(), about(batch));
  return { ...batch, version: version ?? 0 };
}

/** Sends what is out and lets the batch take its steps until it ends. */
async function toEnd(batch: Batch, changes: Parameters<typeof send>[2] = {}): Promise<string> {
  for (let round = 0; round < 20; round += 1) {
    await next(batch);
    await send(regions.us.pool, place, changes);
    const { state, version } = await readBatch(regions.us.pool, batch.id);
    if (state === "canary_hold") await continueReplay(bob(), { ...about(batch), version });
    if (["completed", "stopped"].includes(state)) return state;
  }
  throw new Error("the batch has no end");
}

describe("DLQ-5 what is frozen is what runs", () => {
  it("5 entries that match its filter later are not sent, and one that was delivered meanwhile is skipped and listed", async () => {
    const { pool } = regions.us;
    const ids = await makeDead(pool, place, 8);
    const batch = await started();
    const later = await makeDead(pool, place, 5);
    const before = await deadRows(pool, later);
    const gone = String(ids.at(-1));
    // As another path would leave it: a dead letter no more, and in the archive as delivered.
    await pool.query(
      `WITH d AS (DELETE FROM sluice.dead_letter WHERE id = $1 RETURNING *)
       INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                            created_at, first_due_at, due_at, state, attempts, failures, throttles, cycle)
       SELECT d.id, d.region, d.tenant_id, d.destination_id, d.payload_id, d.payload_bytes, d.event_type, d.idempotency_key, d.service_class,
              d.created_at, d.first_due_at, d.due_at, 'delivered', d.attempts + 1, d.failures, d.throttles, d.cycle FROM d`,
      [gone],
    );
    expect(await toEnd(batch)).toBe("completed");
    expect(await itemStates(pool, batch.id)).toEqual({ delivered: 7, skipped: 1 });
    expect(await deadRows(pool, later)).toEqual(before);
    const page = dataOf(
      await listReplayItems(EVERYWHERE, {
        region: "us",
        batchId: batch.publicId,
        state: "skipped",
        limit: 10,
      }),
    );
    expect(page.rows).toMatchObject([
      {
        id: toPublicId("dlv", gone),
        why: "changed since review: no dead letter any more",
        attempts: 2,
        releasedAt: null,
      },
    ]);
  });
});

describe("a second review", () => {
  it("sees who asked for what, every field and entry that changed since, and a sample that the author did not see", async () => {
    const ids = await makeDead(regions.us.pool, place, 40);
    const draft = await makeDraft(regions.us, byDestination(), FAST);
    const first = await submitReplay(ann(), about(draft));
    let batch: Batch = { ...draft, version: first.version ?? 0 };
    expect((await detailOf(batch)).diff).toBeNull();
    const back = await requestChanges(bob(), { ...about(batch), reason: "leave the oldest two out" });
    batch = { ...batch, version: back.version ?? 0 };
    const removed = await removeReplayItems(ann(), {
      ...about(batch),
      deliveryIds: publicIds(ids.slice(0, 2)),
    });
    expect(removed.after).toMatchObject({ removed: 2, items: 38 });
    batch = { ...batch, version: removed.version ?? 0 };
    const named = await annotateReplay(ann(), {
      ...about(batch),
      rootCause: "their load balancer was full",
      checklist: { ...CHECKLIST, order: { yes: true, evidence: "each is a whole state" } },
    });
    batch = { ...batch, version: named.version ?? 0 };
    const whileDraft = await detailOf(batch, "user:ann");
    expect(whileDraft.diff).toMatchObject({ removed: 2, added: 0, requestedBy: "user:bob" });
    const again = await submitReplay(ann(), about(batch));
    batch = { ...batch, version: again.version ?? 0 };
    const shown = await detailOf(batch);
    expect(shown.diff).toMatchObject({
      requestedBy: "user:bob",
      comment: "leave the oldest two out",
      added: 0,
      removed: 2,
      removedIds: publicIds(ids.slice(0, 2)).sort(),
      fields: [
        {
          field: "checklist.order.evidence",
          before: "each event stands alone",
          after: "each is a whole state",
        },
        {
          field: "rootCause",
          before: "the certificate had expired",
          after: "their load balancer was full",
        },
      ],
    });
    expect(shown).toMatchObject({ mayReview: true, mine: false, edited: false, reviewSampleUnseen: 0 });
    expect(shown.reviewSample).toHaveLength(5);
    expect((await detailOf(batch, "user:ann")).actions.approve).toMatchObject({ allowed: false });
    expect(await countRows(regions.us.pool, "replay_freeze WHERE batch_id = $1", [batch.id])).toBe(2);
  });

  it("an author who opened ten of forty leaves five that only the second person sees", async () => {
    const ids = await makeDead(regions.us.pool, place, 40);
    const answer = await draftReplay(ann(), EVERYWHERE, {
      name: "b",
      selection: byDestination(),
      reason: REASON,
    });
    const batch = { publicId: String(answer.after.batchId), id: "", version: 1 };
    const { sample } = await detailOf(batch);
    expect(sample).toHaveLength(20);
    const opened = sample.slice(0, 10).map(({ id }) => id);
    await inspectReplay(ann(), { ...about(batch), deliveryIds: opened });
    const shown = await detailOf(batch);
    expect(shown.reviewSampleUnseen).toBe(5);
    const seen = new Set(sample.map(({ id }) => id));
    expect(shown.reviewSample.filter(({ id }) => seen.has(id))).toEqual([]);
    expect(shown.reviewSample.every(({ id }) => publicIds(ids).includes(id))).toBe(true);
  });

  it("a draft keeps at least one entry, and a frozen batch all of them", async () => {
    const ids = publicIds(await makeDead(regions.us.pool, place, 2));
    const draft = await makeDraft(regions.us, byDestination());
    const all = removeReplayItems(ann(), { ...about(draft), deliveryIds: ids });
    await expect(all).rejects.toMatchObject({ code: "bad_selection" });
    const frozen = await makeSubmitted(regions.us, byDestination());
    const late = removeReplayItems(ann(), { ...about(frozen), deliveryIds: ids.slice(0, 1) });
    await expect(late).rejects.toMatchObject({ code: "state_conflict" });
  });
});

describe("DLQ-8 the follow-up", () => {
  it("takes what is dead again of an ended batch, names another cause, and is told by both", async () => {
    const { pool } = regions.us;
    await makeDead(pool, place, 6);
    const parent = await started();
    const follow = { deadAgainOf: parent.publicId };
    const draft = (rootCause?: string) =>
      draftReplay(ann(), EVERYWHERE, { name: "second try", selection: follow, reason: REASON, rootCause });
    await next(parent);
    await send(pool, place, DEAD_AGAIN);
    await expect(draft("another cause")).rejects.toMatchObject({ code: "state_conflict" });
    await stopReplay(bob(), { ...about(parent), version: 1 });
    expect(await toEnd(parent)).toBe("stopped");
    expect(dataOf(await previewReplay(EVERYWHERE, "us", { selection: follow }))).toMatchObject({
      matching: 5,
      items: 5,
    });
    const elsewhere = { us: [(await makePlace(pool)).tenantId] };
    await expect(previewReplay(elsewhere, "us", { selection: follow })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(draft()).rejects.toMatchObject({ code: "replay_same_cause" });
    await expect(draft(" The certificate  had expired")).rejects.toMatchObject({ code: "replay_same_cause" });
    const made = await draft("their clock is wrong too");
    const child: Batch = { publicId: String(made.after.batchId), id: "", version: 1 };
    expect(made.after).toMatchObject({ items: 5, parentId: parent.publicId });
    expect(await detailOf(child)).toMatchObject({
      parentId: parent.publicId,
      rootCause: "their clock is wrong too",
      parent: { id: parent.publicId, state: "stopped", rootCause: "the certificate had expired" },
    });
    expect(await detailOf(parent)).toMatchObject({
      followUpItems: 5,
      followUps: [{ id: child.publicId, name: "second try", state: "draft" }],
    });
    // The cause of before cannot come back by an edit.
    const { sample } = await detailOf(child);
    const opened = await inspectReplay(ann(), { ...about(child), deliveryIds: sample.map(({ id }) => id) });
    const edited = await annotateReplay(ann(), {
      ...about(child),
      version: opened.version ?? 0,
      rootCause: "the certificate had expired",
      checklist: CHECKLIST,
    });
    const submit = submitReplay(ann(), { ...about(child), version: edited.version ?? 0 });
    await expect(submit).rejects.toMatchObject({ code: "replay_same_cause" });
    await expect(
      pool.query("UPDATE sluice.replay_batch SET parent_id = NULL WHERE parent_id = $1", [parent.id]),
    ).rejects.toThrow(/cannot change/);
  });
});

describe("DLQ-2 causes", () => {
  const stateOf = async (fingerprint: string, access = EVERYWHERE) => {
    const page = dataOf(await listDeadLetterGroups(access, { region: "us", limit: 100 }));
    return page.rows.find(({ tag }) => fingerprint.endsWith(tag))?.state ?? null;
  };

  it("are replaying from the freeze to the end of the batch, then resolved, and regressed when they come back", async () => {
    const { pool } = regions.us;
    const fingerprint = `attempts_exhausted:500:${place.destinationId.replaceAll("-", "").slice(0, 16)}`;
    const dies = { tenantId: place.tenantId, destinationId: place.destinationId, fingerprint };
    await makeDead(pool, place, 3, { fingerprint });
    const draft = await makeDraft(regions.us, byDestination(), FAST);
    expect(await stateOf(fingerprint)).toBe("new");
    await submitReplay(ann(), about(draft));
    expect(await stateOf(fingerprint)).toBe("replaying");
    expect(await stateOf(fingerprint, { us: [place.tenantId] })).toBe("replaying");
    const { version } = await readBatch(pool, draft.id);
    const back = await requestChanges(bob(), { ...about(draft), version });
    expect(await stateOf(fingerprint)).toBe("new");
    const again = await submitReplay(ann(), { ...about(draft), version: back.version ?? 0 });
    const glass = await breakGlass(admin(), {
      ...about(draft),
      version: again.version ?? 0,
      typedName: "after the outage",
    });
    const run = await startReplay(bob(), { ...about(draft), version: glass.version ?? 0 });
    await next(draft);
    // One of them is stopped for another reason, but all that had this cause were delivered.
    const { ids, token } = await claimReplay(pool, place);
    await finish(
      pool,
      ids.map((id) => outcomeOf(id, token)),
    );
    await stopReplay(bob(), { ...about(draft), version: run.version ?? 0 });
    await next(draft);
    const { rows } = await pool.query("SELECT state FROM sluice.dead_letter_group WHERE fingerprint = $1", [
      fingerprint,
    ]);
    expect(rows).toEqual([{ state: "resolved" }]);
    await addDeaths(pool, { ...dies, count: 1, agoMs: 0 });
    expect(await stateOf(fingerprint)).toBe("regressed");
  });
});

describe("break-glass", () => {
  it("is told for 24 hours with who and why, to those who may read every tenant of the batch, and leaves a notice", async () => {
    const { pool } = regions.us;
    await makeDead(pool, place, 2);
    const batch = await makeSubmitted(regions.us, byDestination());
    await breakGlass(admin(), {
      ...about(batch),
      typedName: "after the outage",
      reason: "nobody else is awake",
    });
    const told = async (access = EVERYWHERE) => {
      const { breakGlass: found } = dataOf(await listActiveControls(access, "us"));
      return found.filter(({ id }) => id === batch.publicId);
    };
    expect(await told()).toMatchObject([{ by: "user:root", reason: "nobody else is awake" }]);
    expect(await told({ us: [place.tenantId] })).toHaveLength(1);
    expect(await told({ us: [] })).toEqual([]);
    const kinds = await pool.query(
      "SELECT kind FROM sluice.replay_notice WHERE batch_id = $1 ORDER BY at, kind",
      [batch.id],
    );
    expect(kinds.rows.map(({ kind }) => kind)).toEqual(["review_requested", "break_glass"]);
    await pool.query(
      "UPDATE sluice.replay_batch SET break_glass_at = break_glass_at - interval '24 hours' WHERE id = $1",
      [batch.id],
    );
    expect(await told()).toEqual([]);
  });
});

describe("the policy", () => {
  it("gets its next version from an administrator on the version that was read, and the audit says what got looser", async () => {
    const view = async () => dataOf(await readReplayPolicyView(EVERYWHERE, "us"));
    const { version, policy } = await view();
    const change = { version, reason: REASON, policy: { dueLagMs: policy.dueLagMs * 2, equalFailures: 3 } };
    await expect(writeReplayPolicy(bob(), change)).rejects.toMatchObject({ code: "forbidden" });
    const done = await writeReplayPolicy(admin(), change);
    expect(done).toMatchObject({
      version: version + 1,
      before: { dueLagMs: policy.dueLagMs, equalFailures: 5 },
      after: { dueLagMs: policy.dueLagMs * 2, equalFailures: 3, loosened: "dueLagMs" },
    });
    await expect(writeReplayPolicy(admin(), change)).rejects.toMatchObject({ code: "version_conflict" });
    // What was not named is as it was before, also what an earlier version had said.
    expect(await view()).toMatchObject({
      version: version + 1,
      changedBy: "user:root",
      reason: REASON,
      policy: { ...policy, dueLagMs: policy.dueLagMs * 2, equalFailures: 3 },
    });
    expect(dataOf(await readReplayPolicyView({ us: [place.tenantId] }, "us"))).toMatchObject({
      changedBy: null,
      reason: null,
      history: [],
    });
    await expect(
      writeReplayPolicy(admin(), { ...change, version: version + 1, policy: { dueLagMs: 0 } }),
    ).rejects.toMatchObject({ status: 422 });
    const audit = (await readAudit(regions.us, "us")).filter(({ action }) => action === "replay.policy");
    expect(audit.map(({ result }) => result)).toEqual(["denied", "done", "conflict"]);
  });
});
