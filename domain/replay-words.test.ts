/** Stored texts of replays: what the product writes can be taken apart again, and nothing that a person wrote is changed by it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countsOf } from "./replay.ts";
import { laneDetail, lastPauseCause, pauseCause, wordParts } from "./replay-words.ts";

const AT = "2026-12-01T14:06:10.000Z";
const DESTINATION = `dst_${"0123456789abcdef".repeat(2)}`;
const COUNTS = countsOf([
  { state: "delivered", n: 20 },
  { state: "released", n: 8 },
  { state: "dead_again", n: 3 },
  { state: "recalled", n: 1 },
  { state: "frozen", n: 468 },
]);
const red = (text: string) => ({ condition: "due_lag", value: 1, limit: 0, breached: true, text }) as const;

describe("what the product writes", () => {
  it("names every breach, the moment, and how much was released of all", () => {
    const states = [
      red("429 share 14 % (5 of 36) > 10 %"),
      { ...red("run time 5 m"), breached: false },
      red("b > a"),
    ];
    expect(pauseCause(states, Date.parse(AT), COUNTS)).toBe(
      `429 share 14 % (5 of 36) > 10 %; b > a at ${AT}, 31 of 500 released`,
    );
    expect(pauseCause([red("x".repeat(600))], 0, COUNTS)).toHaveLength(500);
  });

  it.each([
    [pauseCause([red("a > b")], Date.parse(AT), COUNTS), ["text", "time", "text"]],
    [lastPauseCause(3, pauseCause([red("a > b")], Date.parse(AT), COUNTS)), ["text", "time", "text"]],
    [laneDetail(DESTINATION, "5 in a row: rejected 422"), ["destination", "text"]],
    [laneDetail(DESTINATION, ""), ["destination"]],
    ["user:ann@example.com: they are swamped", ["actor", "text"]],
  ])("%s is taken apart", (text, kinds) => {
    const parts = wordParts(text);
    expect(parts.map(({ kind }) => kind)).toEqual(kinds);
    expect(parts.find(({ kind }) => kind === "time")?.text ?? AT).toBe(AT);
    expect(parts.find(({ kind }) => kind === "destination")?.text ?? DESTINATION).toBe(DESTINATION);
  });
});

describe("what a person wrote", () => {
  it.each(["asked by user:ann: go on", "wait until 2026-99-99T14:06:10Z", "dst_12 is up again", "at 14:06"])(
    "%s stays a text",
    (text) => {
      expect(wordParts(text).every(({ kind }) => kind === "text")).toBe(true);
    },
  );

  it("is never changed: the parts are the text", () => {
    const word = fc.oneof(fc.string(), fc.constantFrom(AT, DESTINATION, "user:ann", ": ", "Z", "dst_"));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = words.join("");
        expect(
          wordParts(text)
            .map((part) => part.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });
});
