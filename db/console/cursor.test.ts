/** A cursor comes back from outside: what this list did not write is refused before it reaches a statement. */
import { describe, expect, it } from "vitest";
import { readCursor, readTimedCursor, writeCursor } from "./cursor.ts";

const ID = "01890a5d-ac96-774b-bcce-b302099a8057";
const AT = "2026-11-30T12:00:00.123456Z";

const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a cursor", () => {
  it("comes back as it was written", () => {
    expect(readCursor(writeCursor({ id: ID }))).toEqual({ id: ID });
    expect(readTimedCursor(writeCursor({ id: ID, at: AT }))).toEqual({ id: ID, at: AT });
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
    expect(() => readCursor(made({ id: ID, at }))).toThrow(/^bad_cursor/);
  });

  it.each([[], null, 1, "x", {}, { id: "x" }, { id: [ID] }, { id: ID, at: 5 }, { at: AT }])(
    "of %j is refused",
    (value) => {
      expect(() => readCursor(made(value))).toThrow(/^bad_cursor/);
    },
  );

  it("of a list that is sorted by id alone is none of a list that is sorted by time", () => {
    expect(() => readTimedCursor(writeCursor({ id: ID }))).toThrow(/^bad_cursor/);
    expect(() => readCursor("x".repeat(201))).toThrow(/^bad_cursor/);
  });
});
