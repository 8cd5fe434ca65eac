/** A cursor comes back from outside: what this list did not write is refused before it reaches a statement. */
import { describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { readCursor, readTimedCursor, writeCursor } from "./cursor.ts";
import { listAudit } from "./list-audit.ts";
import { listDeadLetterGroups } from "./list-dead-letter-groups.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { type DeliveryFilter, listDeliveries } from "./list-deliveries.ts";
import { listReplayItems } from "./replay/list-replay-items.ts";
import { listReplays } from "./replay/list-replays.ts";

const ID = "01890a5d-ac96-774b-bcce-b302099a8057";
const AT = "2026-11-30T12:00:00.123456Z";

const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a cursor", () => {
  it("comes back as it was written", () => {
    expect(readCursor("rows", writeCursor("rows", { id: ID }))).toEqual({ id: ID });
    expect(readTimedCursor("rows", writeCursor("rows", { id: ID, at: AT }))).toEqual({ id: ID, at: AT });
  });

  it.each([
    "0",
    "1",
    "12",
    "2026",
    "2026-11-30",
    "Mon, 30 Nov 2026 12:00:00 GMT",
    "0000-01-01T00:00:00.000000Z",
    "2026-13-45T00:00:00.000000Z",
    "+010000-01-01T00:00:00.000Z",
    "2026-11-30T12:00:00.123456+23:59",
  ])("whose time is %j, which PostgreSQL may not read, is refused", (at) => {
    expect(() => readCursor("rows", made({ l: "rows", id: ID, at }))).toThrow(/^bad_cursor/);
  });

  it.each([[], null, 1, "x", {}, { id: "x" }, { id: [ID] }, { id: ID, at: 5 }, { at: AT }])(
    "of %j is refused",
    (value) => {
      const named = typeof value === "object" && value !== null ? { ...value, l: "rows" } : value;
      expect(() => readCursor("rows", made(named))).toThrow(/^bad_cursor/);
    },
  );

  it("of another list, or without the time of a list that is sorted by time, is refused", () => {
    expect(() => readCursor("rows", writeCursor("others", { id: ID, at: AT }))).toThrow(/^bad_cursor/);
    expect(() => readCursor("rows", made({ id: ID }))).toThrow(/^bad_cursor/);
    expect(() => readTimedCursor("rows", writeCursor("rows", { id: ID }))).toThrow(/^bad_cursor/);
    expect(() => readCursor("rows", "x".repeat(201))).toThrow(/^bad_cursor/);
  });
});

describe("a list goes on from no place but its own", () => {
  const timed = { id: ID, at: AT };
  const own = {
    accepted: writeCursor("deliveries accepted", { id: ID }),
    due: writeCursor("deliveries due", timed),
    oldest: writeCursor("deliveries oldest_due", timed),
    timeless: writeCursor("deliveries oldest_due", { id: ID }),
    audit: writeCursor("audit", timed),
    replays: writeCursor("replays", { id: ID }),
  };
  const page = { region: "us", limit: 1 } as const;
  const deliveries = (filter: Partial<DeliveryFilter>) => listDeliveries(EVERYWHERE, { ...page, ...filter });
  const oldestDue = { state: "delayed", sort: "due" } as const;

  it.each([
    ["another order", () => deliveries({ ...oldestDue, cursor: own.due })],
    ["the order of acceptance", () => deliveries({ ...oldestDue, cursor: own.accepted })],
    ["its own order without a time", () => deliveries({ ...oldestDue, cursor: own.timeless })],
    ["the other direction", () => deliveries({ state: "delayed", cursor: own.oldest })],
    ["an order by time, for all states", () => deliveries({ sort: "due", cursor: own.oldest })],
    ["replays, for deliveries", () => deliveries({ cursor: own.replays })],
    ["deliveries, for replays", () => listReplays(EVERYWHERE, { ...page, cursor: own.accepted })],
    [
      "replays, for the entries of one",
      () => listReplayItems(EVERYWHERE, { ...page, batchId: toPublicId("rpl", ID), cursor: own.replays }),
    ],
    ["the audit, for dead letters", () => listDeadLetters(EVERYWHERE, { ...page, cursor: own.audit })],
    ["the audit, for causes", () => listDeadLetterGroups(EVERYWHERE, { ...page, cursor: own.audit })],
    ["deliveries, for the audit", () => listAudit(EVERYWHERE, { ...page, cursor: own.due })],
  ])("that of %s is refused before anything is read", async (_words, asked) => {
    await expect((async () => asked())()).rejects.toMatchObject({ code: "bad_cursor" });
  });
});
