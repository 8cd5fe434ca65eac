/** What a change of the audit changed, in one line. */
import { expect, test } from "vitest";
import { changeWords } from "./change-words.ts";

test("only what differs is named, with the value before and after", () => {
  expect(
    changeWords(
      { concurrencyLimit: 5, ratePerSecond: null, rateBurst: 1 },
      { concurrencyLimit: 3, ratePerSecond: 2.5, rateBurst: 1 },
    ),
  ).toBe("concurrencyLimit 5 → 3, ratePerSecond none → 2.5");
});

test("what was not there before has one value, and long ones are cut", () => {
  expect(changeWords({}, { name: "Ledger", disabled: false })).toBe("name Ledger, disabled false");
  expect(changeWords(null, { detail: "x".repeat(80) })).toBe(`detail ${"x".repeat(60)}…`);
  expect(changeWords(null, null)).toBe("");
});

test("of many changes the first are named and the rest is counted", () => {
  expect(changeWords({}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 })).toBe("a 1, b 2, c 3, d 4 and 2 more");
});
