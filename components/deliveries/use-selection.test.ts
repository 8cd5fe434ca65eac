/** Ticking rows: one by one, and ranges with Shift in both directions. */
import { expect, test } from "vitest";
import { toggled } from "./use-selection.ts";

const ROWS = ["a", "b", "c", "d", "e"];
const set = (...ids: string[]) => new Set(ids);

test("a row alone is ticked and cleared", () => {
  expect(toggled(ROWS, set(), "b", null)).toEqual(set("b"));
  expect(toggled(ROWS, set("b"), "b", null)).toEqual(set());
});

test("Shift ticks every row between the last one and this one, both ends included, either way", () => {
  expect(toggled(ROWS, set("b"), "d", "b")).toEqual(set("b", "c", "d"));
  expect(toggled(ROWS, set("d"), "b", "d")).toEqual(set("b", "c", "d"));
});

test("a range takes the state that the pressed row gets", () => {
  expect(toggled(ROWS, set("a", "b", "c"), "c", "a")).toEqual(set());
});

test("a row that has left the page begins no range", () => {
  expect(toggled(ROWS, set(), "c", "gone")).toEqual(set("c"));
});
