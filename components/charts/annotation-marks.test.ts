/** The letters at the top of a chart: each thing that was done has one, none covers another, and none looks like a count. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { labelPx, letterOf, marksOf } from "./annotation-marks.ts";

const SPAN = { fromMs: 0, toMs: 900_000, widthPx: 390 };

test("letters in the order of the list, and two of them after Z", () => {
  expect([0, 1, 25, 26, 49].map(letterOf)).toEqual(["A", "B", "Z", "AA", "AX"]);
});

test("what stands apart has its own letter; what stands close is one mark with the letters of all of it", () => {
  const times = [60_000, 300_000, 303_000, 310_000, 800_000];
  expect(marksOf(times, SPAN)).toEqual([
    { label: "A", fromMs: 60_000, toMs: 60_000 },
    { label: "B–D", fromMs: 300_000, toMs: 310_000 },
    { label: "E", fromMs: 800_000, toMs: 800_000 },
  ]);
  expect(marksOf([], SPAN)).toEqual([]);
});

test("however many and however narrow: no two labels touch, and every line of the list is in exactly one mark", () => {
  const times = fc.array(fc.integer({ min: 0, max: 900_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 1_200 }), (moments, widthPx) => {
      const sorted = moments.toSorted((a, b) => a - b);
      const marks = marksOf(sorted, { ...SPAN, widthPx });
      const middle = ({ fromMs, toMs }: (typeof marks)[number]) => ((fromMs + toMs) / 2 / 900_000) * widthPx;
      const apart = marks.every((mark, index) => {
        const before = marks[index - 1];
        return (
          before === undefined ||
          middle(mark) - labelPx(mark.label) / 2 > middle(before) + labelPx(before.label) / 2
        );
      });
      const ends = marks.map(({ label }) => label.split("–"));
      const follows = ends.every(
        ([first], index) =>
          first === (index === 0 ? "A" : letterOf(1 + indexOf(ends[index - 1]?.at(-1) ?? ""))),
      );
      return apart && follows && indexOf(ends.at(-1)?.at(-1) ?? "") === sorted.length - 1;
    }),
  );
});

/** The place of a letter in the list. */
function indexOf(letter: string): number {
  return Array.from({ length: 50 }, (_, index) => letterOf(index)).indexOf(letter);
}
