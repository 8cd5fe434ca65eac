/** A clock that is off is said to be off; one that is not, or that cannot be judged, is left in peace. */
import { expect, test } from "vitest";
import { measureSkew } from "./server-clock.ts";

const SERVER = "Mon, 09 Mar 2026 23:05:07 GMT";
const SERVER_MS = Date.parse(SERVER);
const HOUR_MS = 3_600_000;

test("an hour behind and an hour ahead are told with their sign", () => {
  expect(measureSkew(SERVER, SERVER_MS + 500 - HOUR_MS, SERVER_MS + 500 - HOUR_MS)).toBe(-HOUR_MS);
  expect(measureSkew(SERVER, SERVER_MS + 500 + HOUR_MS, SERVER_MS + 500 + HOUR_MS)).toBe(HOUR_MS);
});

test("five seconds are the limit, and the second of the header is in favour of the clock", () => {
  expect(measureSkew(SERVER, SERVER_MS + 5_900, SERVER_MS + 5_900)).toBe(0);
  expect(measureSkew(SERVER, SERVER_MS + 6_100, SERVER_MS + 6_100)).toBe(5_600);
});

test("an answer that took long is no proof against a clock", () => {
  expect(measureSkew(SERVER, SERVER_MS - 9_000, SERVER_MS + 21_000)).toBe(0);
});

test("without a usable header nothing is said", () => {
  expect([measureSkew(null, 0, 0), measureSkew("yesterday", 0, 0)]).toEqual([0, 0]);
});
