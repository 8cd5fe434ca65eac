/** ID-9: a restricted body is out of reach of every attempt, as an erased one is, and can be given back. On a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { readClaimed } from "#db/queue/read-claimed.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { contextOf, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { countRows, makePlace, type Place, request } from "#tests/support/queue-rows/sql.ts";
import { erasePayload } from "./erase-payload.ts";
import { findTarget } from "./find-target.ts";
import { liftRestriction } from "./lift-restriction.ts";
import { findPayload } from "./read-control.ts";
import { restrictPayload } from "./restrict-payload.ts";

const BODY = "4929 1234 5678 9012";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function one(): Promise<{ id: string; payload: string }> {
  place = await makePlace(database.pool);
  const [id] = await makeDeliveries(database.pool, { ...place, body: Buffer.from(BODY) });
  return { id: String(id), payload: await findPayload(database.pool, toPublicId("dlv", String(id))) };
}

/** What the next claim would send; null: nothing, it ends as payload_erased. */
async function nextBody(): Promise<string | null> {
  const claimed = await claim(database.pool, request([{ ...place, wanted: 1 }]));
  const [row] = await readClaimed(database.pool, claimed.ids, claimed.token);
  if (row === undefined) throw new Error("Nothing was claimed.");
  await database.pool.query("SELECT sluice.release($1, $2)", [claimed.ids, claimed.token]);
  return row.body === null ? null : Buffer.from(row.body).toString();
}

const run = (command: typeof restrictPayload, payloadId: string) =>
  command(contextOf(database), { payloadId, reason: REASON });

describe("ID-9 restricting", () => {
  it("holds for every later attempt, keeps the bytes apart, and ends when a person gives them back", async () => {
    const { payload } = await one();
    expect(await nextBody()).toBe(BODY);
    expect(await run(restrictPayload, payload)).toMatchObject({
      applied: true,
      before: { erased: false, restricted: false },
      after: { erased: false, restricted: true, waiting: 1 },
    });
    expect(await nextBody()).toBeNull();
    await expect(run(restrictPayload, payload)).rejects.toMatchObject({ code: "state_conflict" });
    expect(await run(liftRestriction, payload)).toMatchObject({ after: { restricted: false } });
    expect(await nextBody()).toBe(BODY);
    await expect(run(liftRestriction, payload)).rejects.toMatchObject({ code: "state_conflict" });
    expect(JSON.stringify(await readAudit(database, payload))).not.toContain("4929");
  });

  it("is no way around erasing: with it goes the last copy", async () => {
    const { payload } = await one();
    await run(restrictPayload, payload);
    expect(await run(erasePayload, payload)).toMatchObject({
      before: { erased: false, restricted: true },
      after: { erased: true, restricted: false },
    });
    expect(await countRows(database.pool, "payload_restricted", [])).toBe(0);
    for (const command of [restrictPayload, liftRestriction, erasePayload]) {
      await expect(run(command, payload)).rejects.toMatchObject({ code: "state_conflict" });
    }
    expect(await nextBody()).toBeNull();
  });

  it("retention takes the place and not the bytes: those can still be erased, and only that", async () => {
    const { payload } = await one();
    await run(restrictPayload, payload);
    await database.pool.query("DELETE FROM sluice.payload WHERE id = $1", [fromPublicId("pay", payload)]);
    expect(await findTarget(database.pool, "payload", payload)).toEqual({ tenantId: place.tenantId });
    await expect(run(liftRestriction, payload)).rejects.toMatchObject({ code: "state_conflict" });
    expect(await run(erasePayload, payload)).toMatchObject({ after: { erased: true } });
    expect(await countRows(database.pool, "payload_restricted", [])).toBe(0);
    expect(await findTarget(database.pool, "payload", payload)).toBeNull();
  });

  it("of two at once one is done", async () => {
    const { payload } = await one();
    const both = await Promise.allSettled([run(restrictPayload, payload), run(restrictPayload, payload)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await run(liftRestriction, payload)).toMatchObject({ after: { waiting: 1 } });
  });
});

it("a row's tenant is found for every kind of row, and nothing for a row that is not there", async () => {
  const { id, payload } = await one();
  const { tenantId, destinationId } = place;
  for (const [kind, publicId] of [
    ["tenant", toPublicId("ten", tenantId)],
    ["destination", toPublicId("dst", destinationId)],
    ["delivery", toPublicId("dlv", id)],
    ["payload", payload],
  ] as const) {
    expect(await findTarget(database.pool, kind, publicId), kind).toEqual({ tenantId });
    const absent = `${publicId.slice(0, 4)}${"0".repeat(32)}`;
    expect(await findTarget(database.pool, kind, absent), kind).toBeNull();
  }
  await expect(findTarget(database.pool, "tenant", "ten_x")).rejects.toMatchObject({ code: "bad_id" });
});
