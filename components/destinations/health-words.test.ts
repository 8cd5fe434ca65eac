/** Health and limits of a destination as text. */
import { expect, test } from "vitest";
import { concurrencyText, rateText, successText, successTone } from "./health-words.ts";

test("a share is cut, never rounded up: one failure of many is not 100 %", () => {
  expect(successText({ requests: 100_000, delivered: 99_999 })).toBe("99.9 % of 100,000");
  expect(successText({ requests: 3, delivered: 3 })).toBe("100.0 % of 3");
  expect(successText({ requests: 4, delivered: 0 })).toBe("0.0 % of 4");
});

test("no request is not a failure", () => {
  expect(successTone({ requests: 0, delivered: 0 })).toBeNull();
  expect(successTone({ requests: 100, delivered: 100 })).toBe("neutral");
  expect(successTone({ requests: 100, delivered: 95 })).toBe("warn");
  expect(successTone({ requests: 100, delivered: 50 })).toBe("danger");
});

test("FAIR-9 an empty limit is shown as inherited, an adaptive one beside the cap that it lowers", () => {
  const inherited = { limit: null, desired: 10, adaptive: null, pinned: false };
  expect(concurrencyText({ inFlight: 2, concurrency: inherited })).toBe("2 / 10 (inherited)");
  const adapted = { limit: 10, desired: 10, adaptive: 4, pinned: false };
  expect(concurrencyText({ inFlight: 2, concurrency: adapted })).toBe("2 / 4 of 10, adaptive");
  expect(concurrencyText({ inFlight: 0, concurrency: { ...adapted, pinned: true } })).toBe(
    "0 / 4 of 10, pinned",
  );
  // An adaptive limit above a cap that was lowered since is none.
  expect(concurrencyText({ inFlight: 0, concurrency: { ...adapted, desired: 3 } })).toBe("0 / 3");
});

test("a rate with and without a burst, and none", () => {
  expect(rateText({ ratePerSecond: 5, rateBurst: 10 })).toBe("5/s, burst 10");
  expect(rateText({ ratePerSecond: 0.25, rateBurst: 1 })).toBe("0.25/s");
  expect(rateText({ ratePerSecond: null, rateBurst: 1 })).toBe("none");
});
