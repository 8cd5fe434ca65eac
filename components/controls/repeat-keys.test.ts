/** One key for one submission: kept over a repeat of the same values, new after a change or a certain end. */
import { describe, expect, it } from "vitest";
import { type Problem, ProblemError, UnreachableError } from "#components/queries/fetch-json.ts";
import { createRepeatKeys, isDefinite } from "./repeat-keys.ts";

function counted() {
  let made = 0;
  return createRepeatKeys(() => {
    made += 1;
    return `key-${made}`;
  });
}

function problem(status: number): ProblemError {
  const body: Problem = { title: "t", detail: "d", status, code: "c", correlationId: "i" };
  return new ProblemError(body);
}

describe("CTL-4 the Idempotency-Key of a form", () => {
  it("is kept while the same values are sent again", () => {
    const keys = counted();
    expect([keys.keyFor("a"), keys.keyFor("a")]).toEqual(["key-1", "key-1"]);
  });

  it("is new after a change, also one that is taken back", () => {
    const keys = counted();
    expect([keys.keyFor("a"), keys.keyFor("b"), keys.keyFor("a")]).toEqual(["key-1", "key-2", "key-3"]);
  });

  it("is new after a certain end", () => {
    const keys = counted();
    const first = keys.keyFor("a");
    keys.settle();
    expect(keys.keyFor("a")).not.toBe(first);
  });

  it.each([
    [problem(409), true],
    [problem(412), true],
    [problem(422), true],
    [problem(401), true],
    [problem(429), false],
    [problem(408), false],
    [problem(500), false],
    [problem(503), false],
    [new UnreachableError("gone"), false],
    [new Error("else"), false],
  ])("%#: certain or not", (error, certain) => {
    expect(isDefinite(error)).toBe(certain);
  });
});
