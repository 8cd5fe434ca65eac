/** A delivery's states as they were: none that it never had, and what may come is told apart from what came. */
import { expect, test } from "vitest";
import { statePath } from "./state-path.ts";

const tries = (...decisions: ("delivered" | "delayed" | "dead")[]) =>
  decisions.map((decision) => ({ decision }));

test("one that was delivered at once was never delayed, and nothing is ahead of it", () => {
  expect(statePath({ state: "delivered", attempts: 1 }, tries("delivered"))).toEqual({
    passed: ["ready", "leased"],
    now: "delivered",
    ahead: [],
    otherwise: [],
  });
});

test("one that waits for its first attempt has passed nothing, and may go wrong in three ways", () => {
  expect(statePath({ state: "ready", attempts: 0 }, [])).toEqual({
    passed: [],
    now: "ready",
    ahead: ["leased", "delivered"],
    otherwise: ["delayed", "dead", "cancelled"],
  });
});

test("one in flight is never cancelled, and a further try stands behind the delay before it", () => {
  expect(statePath({ state: "leased", attempts: 0 }, []).passed).toEqual(["ready"]);
  expect(statePath({ state: "leased", attempts: 1 }, tries("delayed"))).toEqual({
    passed: ["ready", "leased", "delayed"],
    now: "leased",
    ahead: ["delivered"],
    otherwise: ["delayed", "dead"],
  });
});

test("one that waits out a delay is at it, and a cancelled one that nobody tried was never leased", () => {
  expect(statePath({ state: "delayed", attempts: 2 }, tries("delayed", "delayed"))).toMatchObject({
    passed: ["ready", "leased"],
    now: "delayed",
    otherwise: ["dead", "cancelled"],
  });
  expect(statePath({ state: "cancelled", attempts: 0 }, []).passed).toEqual(["ready"]);
});

test("a replayed one shows that it was dead; one that is dead again shows it once", () => {
  expect(statePath({ state: "delayed", attempts: 1 }, tries("dead"))).toMatchObject({
    passed: ["ready", "leased", "dead"],
    now: "delayed",
  });
  expect(statePath({ state: "dead", attempts: 2 }, tries("dead", "dead")).passed).toEqual([
    "ready",
    "leased",
  ]);
});
