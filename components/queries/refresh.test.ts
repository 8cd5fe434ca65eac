/** The refresh menu: what each choice does, and what it is called. */
import { expect, test } from "vitest";
import { REFRESH_CHOICES, refreshLabel, refreshOf, refreshWords } from "./refresh.ts";

test("each choice has its own name, and what was never a choice is live", () => {
  expect(new Set(REFRESH_CHOICES.map(refreshLabel)).size).toBe(REFRESH_CHOICES.length);
  expect(refreshOf("every second").choice).toBe("live");
});

test("stale is three intervals of what was chosen, not of the fastest", () => {
  expect(REFRESH_CHOICES.map((choice) => refreshOf(choice).staleAfterMs)).toEqual([
    15_000, 15_000, 45_000, 180_000, 15_000,
  ]);
});

test("only a live page reads when a person comes back", () => {
  expect(REFRESH_CHOICES.filter((choice) => refreshOf(choice).onFocus)).toEqual(["live"]);
});

test("the pill says the interval", () => {
  expect(["live", "5s", "15s", "60s"].map((choice) => refreshWords(refreshOf(choice)))).toEqual([
    "Live 5 s",
    "Every 5 s",
    "Every 15 s",
    "Every 60 s",
  ]);
});
