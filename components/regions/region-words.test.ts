/** What a region's card says: a region without a worker is never called on, and no count of the histogram gets lost. */
import { describe, expect, test } from "vitest";
import { FIRST_AGE_BOUNDS_MS } from "#domain/series.ts";
import { claimsWords, lagBars } from "./region-words.ts";

const claims = {
  state: "on",
  by: null,
  reason: null,
  since: null,
  owner: "sluice",
  handedOver: 0,
  version: 1,
} as const;
const worker = {
  id: "w",
  host: "h",
  pid: 1,
  version: "1",
  state: "running",
  slots: 1,
  inFlight: 0,
  startedAt: "",
  heartbeatAt: "",
} as const;

describe("claims", () => {
  test.each([
    ["on with a worker", { claims, workers: [worker] }, "Claims on"],
    ["on without any", { claims, workers: [] }, "No worker runs"],
    [
      "on with one that is not heard of",
      { claims, workers: [{ ...worker, state: "silent" as const }] },
      "No worker runs",
    ],
    [
      "partly handed over",
      { claims: { ...claims, state: "partial" as const, handedOver: 2 }, workers: [worker] },
      "Claims partial",
    ],
    [
      "stopped, whoever runs",
      { claims: { ...claims, state: "stopped" as const, by: "user:ann" }, workers: [] },
      "Claims stopped",
    ],
  ])("%s: %#", (_, health, label) => {
    expect(claimsWords(health).label).toBe(label);
  });
});

test("the bars of the histogram hold every count once", () => {
  const counts = Array.from({ length: FIRST_AGE_BOUNDS_MS.length + 1 }, (_, index) => 10 ** (index % 3));
  const bars = lagBars({ boundsMs: FIRST_AGE_BOUNDS_MS, counts });
  const sum = (list: readonly number[]) => list.reduce((total, count) => total + count, 0);
  expect(sum(bars.map(({ count }) => count))).toBe(sum(counts));
  expect(bars.map(({ label }) => label)).toEqual([
    "up to 100 ms",
    "up to 1 s",
    "up to 15 s",
    "up to 1 m",
    "up to 2 m",
    "up to 5 m",
    "up to 1 h",
    "over 1 h",
  ]);
  // 10, 25, 50 and 100 ms.
  expect(bars[0]?.count).toBe(sum(counts.slice(0, 4)));
});
