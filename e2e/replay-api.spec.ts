/**
 * Replay batches over HTTP, called as a program would: who may see one, who may be its second person, what happens when two
 * ask at once, and what is given out as a file. What a batch does to deliveries is measured elsewhere (worker/, db/queue).
 */
import { randomUUID } from "node:crypto";
import type { APIRequestContext, APIResponse } from "@playwright/test";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { ReplayDetail, ReplaySummaryAnswer } from "#db/console/replay/replay-views.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { clientOf, createPerson } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const REASON = "asked for by a browser test";
const LONG_MS = 120_000;
const MINUTES_MS = 600_000;
const yes = (evidence: string) => ({ yes: true, evidence });
const CHECKLIST = {
  rootCause: yes("their certificate had expired"),
  causeGone: yes("ten successes in ten minutes"),
  dedup: yes("their docs say so"),
  meaningful: yes("the holds are still open"),
  order: yes("each event stands alone"),
};
/** A busy machine samples late; what the thresholds do has tests of its own. Only an administrator may loosen them. */
const CALM = {
  metricsMaxAgeMs: MINUTES_MS,
  dueLagMs: MINUTES_MS,
  urgentFirstP95Ms: MINUTES_MS,
  routineFirstP95Ms: MINUTES_MS,
};

interface Sent {
  version?: number;
  key?: string;
  body?: object;
}

function post(client: APIRequestContext, path: string, { version, key, body = {} }: Sent = {}) {
  return client.post(`/api/v1/${path}`, {
    data: { reason: REASON, ...body },
    headers: {
      ...(version === undefined ? {} : { "if-match": `"${version}"` }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
  });
}

async function problem(response: APIResponse, status: number, code: string): Promise<string> {
  const text = await response.text();
  expect(response.status(), text).toBe(status);
  expect(JSON.parse(text)).toMatchObject({ code, status, correlationId: expect.any(String) });
  return text;
}

async function detailOf(client: APIRequestContext, id: string): Promise<ReplayDetail> {
  const response = await client.get(`/api/v1/replays/${id}?region=us`);
  expect(response.status(), await response.text()).toBe(200);
  const answer = (await response.json()) as RegionAnswer<ReplayDetail>;
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

async function done(response: APIResponse): Promise<number> {
  expect(response.status(), await response.text()).toBe(200);
  return ((await response.json()) as { version: number }).version;
}

/** Dead letters of a new tenant, by its own failing receiver. */
async function deadOf(world: World, count: number): Promise<string[]> {
  const name = `Replayed ${randomUUID().slice(0, 8)}`;
  const customer = await addCustomer(world, "us", name, `/reject/422/replay-${randomUUID().slice(0, 8)}`);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.push((await enqueue(world, "us", customer, { key: `replay-${randomUUID()}` })).id);
  const { pool } = world.regions.us;
  await expect
    .poll(
      async () =>
        (await pool.query("SELECT 1 FROM sluice.dead_letter WHERE tenant_id = $1", [customer.tenantId])).rows
          .length,
      { timeout: LONG_MS },
    )
    .toBe(count);
  return ids;
}

/** A batch that its author has submitted over HTTP. */
async function submitted(
  author: APIRequestContext,
  ids: readonly string[],
  name = "After the outage",
): Promise<{ id: string; version: number; sha256: string }> {
  const draft = await author.post("/api/v1/replays?region=us", {
    data: { name, selection: { ids }, reason: REASON },
  });
  expect(draft.status(), await draft.text()).toBe(201);
  const { id } = (await draft.json()) as { id: string };
  const step = async (verb: string, version: number, body: object = {}) =>
    done(await post(author, `replays/${id}/${verb}?region=us`, { version, body }));
  let version = await step("inspect", 1, { deliveryIds: ids });
  version = await step("annotate", version, {
    rootCause: "the certificate had expired",
    checklist: CHECKLIST,
  });
  version = await step("plan", version, { plan: { stop: CALM } });
  version = await step("submit", version);
  const { sha256 } = await detailOf(author, id);
  return { id, version, sha256: String(sha256) };
}

test.beforeEach(() => test.setTimeout(LONG_MS * 2));

test("DLQ-4 its author is refused over HTTP and again by Postgres, of two second persons one approves, and a double start is one run", async ({
  world,
}) => {
  const [author, bob, eve] = await Promise.all(
    (["admin", "us-operator", "operator"] as const).map((name) => clientOf(world, world.accounts[name])),
  );
  if (!author || !bob || !eve) throw new Error("three people are needed");
  const batch = await submitted(author, await deadOf(world, 2));
  const path = `replays/${batch.id}`;
  const approve = (client: APIRequestContext) =>
    post(client, `${path}/approve?region=us`, { version: batch.version, body: { sha256: batch.sha256 } });

  // The author has the role for it. That nobody approves their own batch is the database's own rule.
  await problem(await approve(author), 403, "forbidden");
  const actor = `user:${world.accounts.admin.email}`;
  const byHand = world.regions.us.pool.query(
    "UPDATE sluice.replay_batch SET state = 'approved', version = version + 1, approved_by = $2 WHERE id = $1",
    [fromPublicId("rpl", batch.id), actor],
  );
  await expect(byHand).rejects.toMatchObject({ code: "23514" });
  expect((await readAudit(world.regions.us, batch.id)).at(-1)).toMatchObject({
    action: "replay.approve",
    result: "denied",
    actor,
  });
  expect((await detailOf(author, batch.id)).actions.approve).toMatchObject({ allowed: false });
  expect((await detailOf(bob, batch.id)).actions.approve).toEqual({ allowed: true, reason: null });

  const both = await Promise.all([approve(bob), approve(eve)]);
  expect(both.map((response) => response.status()).sort()).toEqual([200, 412]);
  const lost = both.find((response) => response.status() === 412) as APIResponse;
  await problem(lost, 412, "version_conflict");

  const { version } = await detailOf(bob, batch.id);
  const start = () => post(bob, `${path}/start?region=us`, { version, key: `start-${batch.id}` });
  await expect
    .poll(async () => (await detailOf(bob, batch.id)).actions.start, { timeout: LONG_MS })
    .toEqual({ allowed: true, reason: null });
  const starts = await Promise.all([start(), start()]);
  const answers = await Promise.all(starts.map(async (response) => response.json()));
  expect(starts.map((response) => response.status())).toEqual([200, 200]);
  expect(answers[0]).toMatchObject({ auditId: answers[1].auditId, after: { state: "canary" } });
  expect(starts.filter((response) => response.headers()["idempotency-replayed"] === "true")).toHaveLength(1);
  const { events } = await detailOf(bob, batch.id);
  expect(events.filter(({ kind }) => kind === "start")).toHaveLength(1);
  await problem(
    await post(eve, `${path}/start?region=us`, { version, key: randomUUID() }),
    412,
    "version_conflict",
  );
  // A stop is given with whatever version the person saw, unless the batch has ended by itself: its receiver still refuses.
  const stop = await post(eve, `${path}/stop?region=us`, { version: 1 });
  expect([200, 409]).toContain(stop.status());
  await Promise.all([author, bob, eve].map((client) => client.dispose()));
});

test("REG-3 an operator of eu gets 404 for each read and each command of a us batch, as for one that is not there", async ({
  world,
}) => {
  const author = await clientOf(world, world.accounts.admin);
  const batch = await submitted(author, await deadOf(world, 1));
  const person = await createPerson(world.regions, "eu-operator", {
    role: "operator",
    regions: ["eu"],
    tenantIds: null,
  });
  const outside = await clientOf(world, person);
  const inside = await clientOf(world, world.accounts["us-operator"]);
  const ghost = toPublicId("rpl", randomUUID());
  for (const id of [batch.id, ghost]) {
    for (const part of ["", "/items", "/report", "/series", "/items/export", "/report/export"]) {
      await problem(await outside.get(`/api/v1/replays/${id}${part}?region=us`), 404, "not_found");
    }
    for (const verb of ["approve", "reject", "stop", "request-changes"]) {
      await problem(await post(outside, `replays/${id}/${verb}?region=us`, { version: 1 }), 404, "not_found");
    }
    // In their own region there is no such batch either.
    await problem(await outside.get(`/api/v1/replays/${id}?region=eu`), 404, "not_found");
  }
  for (const part of ["", "/items", "/report", "/series"])
    await problem(await inside.get(`/api/v1/replays/${ghost}${part}?region=us`), 404, "not_found");
  await problem(await outside.get("/api/v1/replays?region=us"), 404, "not_found");
  await problem(await outside.get("/api/v1/replays/summary?region=us"), 404, "not_found");
  const summary = (await (await outside.get("/api/v1/replays/summary")).json()) as ReplaySummaryAnswer;
  expect(summary.regions.map(({ region }) => region)).toEqual(["eu"]);
  const mine = (await (await inside.get("/api/v1/replays/summary")).json()) as ReplaySummaryAnswer;
  expect(mine.regions).toMatchObject([{ region: "us", data: { awaitingMe: expect.any(Number) } }]);
  expect((await detailOf(inside, batch.id)).state).toBe("in_review");
  await done(await post(author, `replays/${batch.id}/cancel?region=us`, { version: batch.version }));
  await Promise.all([author, outside, inside].map((client) => client.dispose()));
});

test("its files: entries and report, without a formula; many ids fit into a draft; the policy is an administrator's", async ({
  world,
}) => {
  const author = await clientOf(world, world.accounts.admin);
  const operator = await clientOf(world, world.accounts.operator);
  const ids = await deadOf(world, 2);
  const batch = await submitted(author, ids, '=HYPERLINK("http://127.0.0.1/x")');
  const file = async (part: string, format: string) => {
    const response = await operator.get(
      `/api/v1/replays/${batch.id}/${part}/export?region=us&format=${format}`,
    );
    expect(response.status(), await response.text()).toBe(200);
    expect(response.headers()["content-disposition"]).toMatch(/^attachment; filename="replay-/);
    return { text: await response.text(), type: response.headers()["content-type"] };
  };
  const items = await file("items", "csv");
  expect(items.text.split("\r\n").filter((line) => line !== "")).toHaveLength(3);
  const lines = (await file("items", "ndjson")).text.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).id).sort()).toEqual([...ids].sort());
  const report = await file("report", "csv");
  expect(report.text).toContain(`"'=HYPERLINK(`);
  expect(report.text).not.toMatch(/(^|,)"?=/m);
  const whole = await file("report", "json");
  expect(whole.type).toContain("application/json");
  // The answer of the report itself, as a file.
  expect(JSON.parse(whole.text)).toMatchObject({
    region: "us",
    status: "ok",
    data: { id: batch.id, total: 2, state: "in_review" },
  });
  await problem(
    await operator.get(`/api/v1/replays/${batch.id}/items/export?region=us&format=json`),
    422,
    "invalid_query",
  );

  const many = Array.from({ length: 4_000 }, () => toPublicId("dlv", randomUUID()));
  const preview = await operator.post("/api/v1/replays/preview?region=us", {
    data: { selection: { ids: [...many, ...ids] }, limit: 5_000 },
  });
  expect(await preview.json()).toMatchObject({
    data: { items: 0, excluded: { in_another_batch: 2, not_dead: 4_000 } },
  });

  const policy = "replays/policy?region=us";
  const { data } = (await (await operator.get(`/api/v1/${policy}`)).json()) as { data: { version: number } };
  const change = { version: data.version, body: { policy: { maxAutoPauses: 3 } } };
  await problem(await post(operator, policy, change), 403, "forbidden");
  await problem(await post(author, policy, { body: change.body }), 428, "precondition_required");
  const keyed = { ...change, key: `policy-${randomUUID()}` };
  expect(await done(await post(author, policy, keyed))).toBe(data.version + 1);
  // A key stands for the version that was seen, too.
  const later = { ...keyed, version: data.version + 1 };
  await problem(await post(author, policy, later), 422, "idempotency_mismatch");
  await problem(await post(author, policy, change), 412, "version_conflict");
  const audit = (await readAudit(world.regions.us, "us")).filter(({ action }) => action === "replay.policy");
  expect(audit.map(({ result }) => result).slice(-3)).toEqual(["denied", "done", "conflict"]);
  await done(await post(author, `replays/${batch.id}/cancel?region=us`, { version: batch.version }));
  await Promise.all([author, operator].map((client) => client.dispose()));
});
