/**
 * FAIR-1: at a cap, the next request waits until the outcome of the one before is stored. Such an outcome is not kept for a batch, unless
 * there are so many of them that batches are what the region needs.
 */
import { beforeEach, expect, it } from "vitest";
import type { FinishRow } from "#db/queue/finish.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { FinishBatcher, type FinishResult } from "./finish-batcher.ts";
import type { Timers } from "./timers.ts";

interface SetTimer {
  readonly fire: () => void;
  readonly afterMs: number;
}

let batches: string[][];
let timers: SetTimer[];
let answer: () => Promise<void>;
let batcher: FinishBatcher;

beforeEach(() => {
  batches = [];
  timers = [];
  answer = () => Promise.resolve();
  const store = {
    finish: async (rows: readonly FinishRow[]) => {
      batches.push(rows.map(({ id }) => id));
      await answer();
      return new Map(rows.map(({ id }) => [id, 0]));
    },
    keepStaleResult: () => Promise.reject(new Error("nothing is late here")),
  };
  const byHand: Timers = {
    set: (fire, afterMs) => {
      const timer = { fire, afterMs };
      timers.push(timer);
      return timer;
    },
    clear: (timer) => {
      timers = timers.filter((each) => each !== timer);
    },
    monotonicMs: () => 0,
  };
  batcher = new FinishBatcher(store, captureLog().log, byHand);
});

function record(id: string, hurry = false): Promise<FinishResult> {
  const stale = { lane: "first", serviceClass: "routine" } as Parameters<FinishBatcher["record"]>[1];
  return batcher.record({ id } as FinishRow, stale, hurry);
}

function fire(): void {
  for (const timer of timers.splice(0)) timer.fire();
}

const waits = () => timers.map(({ afterMs }) => afterMs);

it("is recorded sooner than the others, and takes those along that wait", async () => {
  const first = record("a");
  expect(waits()).toEqual([5]);
  const second = record("b", true);
  expect(waits()).toEqual([1]);
  const third = record("c");
  expect(waits()).toEqual([1]);
  fire();
  await Promise.all([first, second, third]);
  expect(batches).toEqual([["a", "b", "c"]]);
  const next = record("d");
  expect(waits()).toEqual([5]);
  fire();
  await next;
});

it("goes as soon as the batch before it is stored, with all that came meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  answer = () => gate.promise;
  const first = record("a", true);
  fire();
  const meanwhile = [record("b"), record("c", true)];
  fire();
  expect(batches).toEqual([["a"]]);
  gate.resolve();
  await Promise.all([first, ...meanwhile]);
  expect(batches).toEqual([["a"], ["b", "c"]]);
});

it("waits like the others while batches are large", async () => {
  const many = Array.from({ length: 16 }, (_, n) => record(`many-${n}`));
  fire();
  await Promise.all(many);
  const hurried = record("a", true);
  expect(waits()).toEqual([5]);
  fire();
  await hurried;
  expect(batches.map((batch) => batch.length)).toEqual([16, 1]);
  const next = record("b", true);
  expect(waits()).toEqual([1]);
  fire();
  await next;
});
