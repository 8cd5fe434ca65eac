/** What a change of the audit changed, in one line. */
import { expect, test } from "vitest";
import { changeWords } from "./change-words.ts";

test("only what differs is named, in words, with the value before and after", () => {
  expect(
    changeWords(
      { concurrencyLimit: 5, ratePerSecond: null, rateBurst: 1 },
      { concurrencyLimit: 3, ratePerSecond: 2.5, rateBurst: 1 },
      "utc",
    ),
  ).toBe("concurrency limit 5 → 3, rate per second none → 2.5");
});

test("what was not there before has one value, and long ones are cut", () => {
  expect(changeWords({}, { name: "Ledger", disabled: false }, "utc")).toBe("name Ledger, disabled no");
  expect(changeWords(null, { detail: "x".repeat(80) }, "utc")).toBe(`detail ${"x".repeat(60)}…`);
  expect(changeWords(null, null, "utc")).toBe("");
});

test("a moment is told in the zone of the page, with its name", () => {
  const [before, after] = [{ pauseUntil: null }, { pauseUntil: "2026-11-30T15:00:00.000Z" }];
  expect(changeWords(before, after, "utc")).toBe("pause until none → 30 Nov 15:00:00 UTC");
  expect(changeWords(before, after, "Asia/Kolkata")).toBe("pause until none → 30 Nov 20:30:00 GMT+5:30");
});

test("of many changes the first are named and the rest is counted", () => {
  expect(changeWords({}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, "utc")).toBe(
    "a 1, b 2, c 3, d 4 and 2 more",
  );
});
