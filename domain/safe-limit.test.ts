/** FAIR-9: the bound, by numbers that one can check by hand. */
import { describe, expect, it } from "vitest";
import { SAFETY_MARGIN, safeLimit } from "./safe-limit.ts";

describe("FAIR-9 R x L x s", () => {
  it.each([
    [50, 100, 4],
    [50, 125, 5],
    [100, 1_000, 80],
    [0.5, 100, 1],
    [1, 1, 1],
  ])("%d per second, %d ms: %d in flight", (rate, serviceMs, limit) => {
    expect(safeLimit(rate, serviceMs)).toEqual({
      limit,
      ratePerSecond: rate,
      serviceTimeMs: serviceMs,
      margin: SAFETY_MARGIN,
      missing: null,
    });
  });

  it.each([
    [null, 100, "rate"],
    [50, null, "service_time"],
    [null, null, "rate_and_service_time"],
  ] as const)("%s per second, %s ms: unknown, and says what is missing", (rate, serviceMs, missing) => {
    expect(safeLimit(rate, serviceMs)).toMatchObject({ limit: null, missing });
  });
});
