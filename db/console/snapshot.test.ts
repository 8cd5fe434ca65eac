/** Kept answers: one read for many tabs, never an answer that is too old, never an outage or a cheap one again. */
import { expect, test } from "vitest";
import { snapshot } from "./snapshot.ts";

const RULES = { duty: 0.1, maxAgeMs: 8_000 };

/** A question of its own with a clock that the test moves; each read takes 300 ms of it. */
function question(name: string, keep = true) {
  const state = { nowMs: 0, reads: 0, fails: false };
  const read = async () => {
    state.reads += 1;
    state.nowMs += 300;
    if (state.fails) throw new Error("no answer");
    return state.reads;
  };
  const ask = () =>
    snapshot(
      name,
      read,
      () => keep,
      () => state.nowMs,
      RULES,
    );
  return { state, ask };
}

test("a dear answer is given out again, and read anew at most for a tenth of the time", async () => {
  const { state, ask } = question("duty");
  expect(await ask()).toBe(1);
  state.nowMs = 2_900;
  expect(await ask()).toBe(1);
  expect(state.reads).toBe(1);
  state.nowMs = 3_000;
  // The kept one at once; the new one is there for whoever asks next.
  expect(await ask()).toBe(1);
  await Promise.resolve();
  expect(state.reads).toBe(2);
  expect(await ask()).toBe(2);
});

test("an answer past the limit is never given out", async () => {
  const { state, ask } = question("old");
  await ask();
  state.nowMs = 8_001;
  expect(await ask()).toBe(2);
});

test("a cheap answer or an outage is not kept", async () => {
  const { ask } = question("cheap", false);
  expect(await ask()).toBe(1);
  expect(await ask()).toBe(2);
});

test("after a read that failed nobody gets the answer from before", async () => {
  const { state, ask } = question("failed");
  await ask();
  state.fails = true;
  state.nowMs = 4_000;
  expect(await ask()).toBe(1);
  await expect(ask()).rejects.toThrow("no answer");
});
