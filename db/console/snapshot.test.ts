/** Kept answers: one read for many tabs, never an answer that is too old, never an outage or a cheap one again. */
import { afterEach, expect, test, vi } from "vitest";
import { snapshot } from "./snapshot.ts";

const RULES = { duty: 0.1, maxAgeMs: 8_000, warmMs: 0 };

afterEach(() => vi.useRealTimers());

/** A question of its own with a clock that the test moves; each read takes 300 ms of it. */
function question(name: string, keep = true, rules = RULES) {
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
      rules,
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

/** Lets time go by for the clock and the timers together. */
async function pass(state: { nowMs: number }, ms: number): Promise<void> {
  for (const endMs = state.nowMs + ms; state.nowMs < endMs; ) {
    state.nowMs += 100;
    await vi.advanceTimersByTimeAsync(100);
  }
}

test("a warm question is read by itself, so that who comes back after a minute gets an answer of these seconds at once", async () => {
  vi.useFakeTimers();
  const { state, ask } = question("warm", true, { ...RULES, warmMs: 120_000 });
  await ask();
  await pass(state, 60_000);
  const { nowMs, reads } = state;
  // A tenth of the time: one of 300 ms every 3 s, and what it takes.
  expect(reads).toBeGreaterThan(15);
  expect(reads).toBeLessThanOrEqual(21);
  expect(await ask()).toBe(reads);
  expect(state.nowMs).toBe(nowMs);
});

test("nobody is read for when nobody has asked for long, nor after a read that failed", async () => {
  vi.useFakeTimers();
  const rules = { ...RULES, warmMs: 10_000 };
  const [one, two] = [question("forgotten", true, rules), question("broken", true, rules)];
  await one.ask();
  await pass(one.state, 30_000);
  const reads = one.state.reads;
  await pass(one.state, 60_000);
  expect(one.state.reads).toBe(reads);
  await two.ask();
  two.state.fails = true;
  await pass(two.state, 30_000);
  expect(two.state.reads).toBe(2);
});

test("what would take a large part of the time is not kept warm", async () => {
  vi.useFakeTimers();
  const { state, ask } = question("too dear", true, { duty: 0.1, maxAgeMs: 900, warmMs: 60_000 });
  await ask();
  await pass(state, 30_000);
  expect(state.reads).toBe(1);
});

test("an answer that was old when it was read counts its age from the moment that it is of", async () => {
  const state = { nowMs: 20_000, reads: 0 };
  const befores: unknown[] = [];
  const ask = () =>
    snapshot(
      "born earlier",
      async (before: number | undefined) => {
        befores.push(before);
        state.reads += 1;
        return state.reads;
      },
      () => true,
      () => state.nowMs,
      RULES,
      () => 5_000,
    );
  expect(await ask()).toBe(1);
  state.nowMs += 3_001;
  // Three seconds after the read, eight after its moment: too old to be given out.
  expect(await ask()).toBe(2);
  expect(befores).toEqual([undefined, 1]);
  state.nowMs += 900;
  expect(await ask()).toBe(2);
  await Promise.resolve();
  expect(state.reads).toBe(2);
});
