/** A stored text of a batch reads as everything else on the page does: times in the reader's zone, no ids, no stored actors. */
import { expect, it } from "vitest";
import { storedText } from "./stored-text.ts";

const AT = "2026-12-01T14:06:10.000Z";

it.each([
  ["utc", `429 share 14 % > 10 % at ${AT}, 31 of 500 released`, "01 Dec 14:06:10 UTC"],
  ["Asia/Kolkata", `429 share 14 % > 10 % at ${AT}, 31 of 500 released`, "01 Dec 19:36:10 GMT+5:30"],
])("in %s", (zone, stored, time) => {
  expect(storedText(stored, zone)).toBe(`429 share 14 % > 10 % at ${time}, 31 of 500 released`);
});

it("names who wrote it, and a destination by the end of its id", () => {
  expect(storedText("user:ann@example.com: they are swamped", "utc")).toBe(
    "ann@example.com: they are swamped",
  );
  expect(storedText(`dst_${"0123456789abcdef".repeat(2)}: circuit open`, "utc")).toBe(
    "…abcdef: circuit open",
  );
});
