/** RATE-3: work of one kind never has more than its connections, in the order of its coming, and one that fails holds no place. */
import { expect, it } from "vitest";
import { AtMost } from "./at-most.ts";

it("runs a few at once, in order, hands a place on when one ends or fails, and frees the last", async () => {
  const gates = new AtMost(2);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const work = (n: number) =>
    gates.run(() => {
      begun.push(n);
      return new Promise<number>((resolve, reject) => {
        ends[n] = (error) => (error === undefined ? resolve(n) : reject(error));
      });
    });
  const results = [0, 1, 2, 3].map((n) => work(n));
  expect(begun).toEqual([0, 1]);
  ends[0]?.(new Error("the database did not answer"));
  await expect(results[0]).rejects.toThrow("did not answer");
  expect(begun).toEqual([0, 1, 2]);
  ends[2]?.();
  await results[2];
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[1]?.();
  ends[3]?.();
  expect(await Promise.all([results[1], results[2], results[3]])).toEqual([1, 2, 3]);
  const last = [4, 5].map((n) => work(n));
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  ends[4]?.();
  ends[5]?.();
  expect(await Promise.all(last)).toEqual([4, 5]);
});
