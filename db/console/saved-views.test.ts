/** Saved views on a real server: whose they are, who is told of them, and how many there may be. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERYWHERE } from "#domain/permissions.ts";
import { MAX_SAVED_VIEWS, viewContent } from "#domain/saved-view.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { createAccount } from "./access/grants.ts";
import { addSavedView, deleteSavedView, listSavedViews } from "./saved-views.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const BY = {
  actor: "cli:test",
  role: "admin",
  reason: "a test of views",
  correlationId: randomUUID(),
} as const;

async function newPerson(name = "Ann"): Promise<string> {
  const email = `${randomUUID()}@example.test`;
  await createAccount(database.pool, { email, name, passwordHash: null }, BY);
  return email;
}

function save(
  email: string,
  name: string,
  query: string,
  shared = false,
  page: "deliveries" | "audit" = "deliveries",
) {
  return addSavedView(database.pool, email, { ...viewContent(name, query), page, shared });
}

async function namesOf(email: string, scope = EVERYWHERE, page: "deliveries" | "audit" = "deliveries") {
  const { views } = await listSavedViews(database.pool, email, scope, page);
  return views.map(({ name }) => name);
}

describe("one's own views", () => {
  it("belong to a page and a person, by name, and are deleted only by that person", async () => {
    const [ann, bob] = [await newPerson(), await newPerson("Bob")];
    await save(ann, "Late", "range=6h&state=delayed");
    const id = await save(ann, "Dead", "state=dead");
    await save(ann, "Pauses", "action=pause", false, "audit");
    expect(await namesOf(ann)).toEqual(["Dead", "Late"]);
    expect(await namesOf(bob)).toEqual([]);
    await expect(deleteSavedView(database.pool, bob, id)).rejects.toMatchObject({ code: "not_found" });
    await deleteSavedView(database.pool, ann, id);
    await expect(deleteSavedView(database.pool, ann, id)).rejects.toMatchObject({ code: "not_found" });
    expect(await listSavedViews(database.pool, ann, EVERYWHERE, "deliveries")).toMatchObject({
      own: 2,
      views: [{ name: "Late", query: "range=6h&state=delayed", own: true, shared: false, by: "Ann" }],
    });
  });

  it("a name is taken once on a page; another page and another person may use it", async () => {
    const [ann, bob] = [await newPerson(), await newPerson("Bob")];
    await save(ann, "Mine", "");
    await expect(save(ann, "Mine", "state=dead")).rejects.toMatchObject({ code: "state_conflict" });
    await save(ann, "Mine", "", false, "audit");
    await save(bob, "Mine", "");
  });

  it("there are at most 50, also when two tabs save at once", async () => {
    const ann = await newPerson();
    for (let n = 0; n < MAX_SAVED_VIEWS - 1; n += 1) await save(ann, `View ${n}`, "");
    const last = await Promise.allSettled([save(ann, "Last one", ""), save(ann, "One too many", "")]);
    expect(last.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await listSavedViews(database.pool, ann, EVERYWHERE, "deliveries")).own).toBe(MAX_SAVED_VIEWS);
  });

  it("an account that is gone saves nothing", async () => {
    await expect(save("nobody@example.test", "x", "")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("shared views", () => {
  it("are told only to those who may know of the rows that they name", async () => {
    const ann = await newPerson();
    await save(ann, "s general", "state=dead", true);
    await save(ann, "s us", "region=us&state=dead", true);
    await save(ann, "s eu", "region=eu", true);
    await save(ann, "s us tenant", "region=us&tenant=acme", true);
    await save(ann, "s any tenant", "tenant=acme", true);
    await save(ann, "not shared", "region=us");
    const bob = await newPerson("Bob");
    const seen = async (scope: typeof EVERYWHERE) =>
      (await namesOf(bob, scope)).filter((name) => name.startsWith("s "));
    expect(await seen(EVERYWHERE)).toEqual(["s any tenant", "s eu", "s general", "s us", "s us tenant"]);
    expect(await seen({ us: null })).toEqual(["s any tenant", "s general", "s us", "s us tenant"]);
    expect(await seen({ eu: [randomUUID()] })).toEqual(["s eu", "s general"]);
    expect(await seen({ us: null, eu: [randomUUID()] })).toEqual([
      "s eu",
      "s general",
      "s us",
      "s us tenant",
    ]);
    expect(await namesOf(bob)).not.toContain("not shared");
    const { views } = await listSavedViews(database.pool, bob, EVERYWHERE, "deliveries");
    expect(views.find(({ name }) => name === "s us")).toMatchObject({ own: false, shared: true, by: "Ann" });
  });

  it("there are at most 50 on a page; one's own can still be saved", async () => {
    for (let n = 0; n < MAX_SAVED_VIEWS; n += 1)
      await save(await newPerson(), `Shared ${n}`, "", true, "audit");
    const ann = await newPerson();
    await expect(save(ann, "One more", "", true, "audit")).rejects.toMatchObject({ code: "state_conflict" });
    await save(ann, "One more", "", false, "audit");
  });
});
