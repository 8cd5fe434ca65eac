/** Steps of a number field and the count below a text, by table. */
import { describe, expect, it } from "vitest";
import { countWords, steppedText } from "./field-words.ts";

describe("a stepper", () => {
  it.each([
    ["5", 1, "6"],
    ["5", -1, "4"],
    ["1", -1, "1"],
    ["10", 1, "10"],
    ["0.1", 0.1, "1"],
    ["2.1", 1, "3.1"],
    ["", 1, "1"],
    ["many", -1, "1"],
    ["-3", 1, "1"],
  ])("from %j by %d: %s, within 1 and 10", (value, by, next) => {
    expect(steppedText(value, by, 1, 10)).toBe(next);
  });

  it("adds thousandths without a tail of rounding", () => {
    expect(steppedText("0.1", 0.2, 0.001, 10)).toBe("0.3");
  });
});

describe("the count below a text", () => {
  it.each([
    [0, "10 to 500 characters"],
    [4, "6 more needed"],
    [10, "10 of 500"],
    [500, "500 of 500"],
    [503, "3 too many"],
  ])("%d characters: %s", (chars, words) => {
    expect(countWords(chars, 10, 500)).toBe(words);
  });
});
