/** What passes as a moment goes into statements as it stands: tables of what PostgreSQL reads and what it does not. */
import { describe, expect, it } from "vitest";
import { DraftReplay } from "./commands-replay.ts";
import { isUsableMoment, moment } from "./moment.ts";

describe("a moment", () => {
  it.each([
    "1970-01-01T00:00:00Z",
    "2026-11-30T12:00:00.123456Z",
    "2026-11-30T12:00:00+14:00",
    "2026-11-30T12:00:00-12:00",
    "9999-12-30T23:59:59Z",
  ])("%s is one", (text) => {
    expect(moment().safeParse(text).success).toBe(true);
  });

  it.each([
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "2026-11-30T12:00:00+23:59",
    "2026-11-30T12:00:00-15:00",
    `2026-11-30T12:00:00.${"0".repeat(200)}Z`,
    "2026-13-45T00:00:00Z",
    "2026-11-30T12:00:00",
    "2026-11-30",
    "",
  ])("%s is none", (text) => {
    expect(moment().safeParse(text).success).toBe(false);
  });

  it("says so in the words that it was given, and of no time at all it is false", () => {
    const { error } = moment("say when").safeParse("0000-01-01T00:00:00Z");
    expect(error?.issues.map(({ message }) => message)).toEqual(["say when"]);
    expect(isUsableMoment("never")).toBe(false);
  });
});

describe("the selection of a batch", () => {
  const draft = (selection: unknown) =>
    DraftReplay.safeParse({ name: "n", reason: "a reason that says why", selection });
  const ids = (n: number) => Array.from({ length: n }, (_, nr) => `dlv_${String(nr).padStart(32, "0")}`);

  it("takes 5,000 ids, and of one more it says how many it takes", () => {
    expect(draft({ ids: ids(5_000) }).success).toBe(true);
    expect(JSON.stringify(draft({ ids: ids(5_001) }).error?.issues)).toContain("5000");
  });

  it("has no moment that the database could not read", () => {
    const filter = { reason: "attempts_exhausted", from: "0000-01-01T00:00:00Z" };
    expect(draft({ filter }).success).toBe(false);
    expect(draft({ groupId: `dlg_${"0".repeat(32)}`, until: "2026-11-30T12:00:00+23:59" }).success).toBe(
      false,
    );
  });
});
