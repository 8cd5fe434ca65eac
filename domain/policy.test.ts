import { describe, expect, it } from "vitest";
import { SERVICE_CLASSES } from "./delivery.ts";
import { isSluiceError } from "./errors.ts";
import {
  checkLease,
  DEFAULT_POLICY,
  maxFailuresOf,
  parseOverride,
  RetryPolicy,
  resolvePolicy,
} from "./policy.ts";

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return isSluiceError(error) ? error.code : String(error);
  }
  return "no error";
}

describe("retry policy", () => {
  it.each(SERVICE_CLASSES)(
    "RETRY-1 the defaults of %s are a valid policy and are what the documents say",
    (name) => {
      const policy = DEFAULT_POLICY[name];
      expect(RetryPolicy.parse(policy)).toEqual(policy);
      expect(policy.backoff).toEqual({ baseMs: 5000, factor: 2, capMs: 900_000, jitter: 0.2 });
      expect(policy.retryAfter).toMatchObject({ minMs: 1000, maxMs: 86_400_000, jitterShare: 0.1 });
      expect(policy).toMatchObject({ maxFailures: 8, maxThrottleMs: 259_200_000, rejectionAttempts: 1 });
      expect(policy).toMatchObject({ requestDeadlineMs: 10_000, leaseMs: 30_000, leaseMarginMs: 2000 });
      expect(resolvePolicy(name, null)).toEqual(policy);
    },
  );

  it("RETRY-1 nobody can change the defaults of a running process", () => {
    expect(() => {
      DEFAULT_POLICY.urgent.backoff.baseMs = 1;
    }).toThrowError(TypeError);
  });

  it("RETRY-1 lays a class override and then a destination override over the defaults, field by field", () => {
    const policy = resolvePolicy(
      "routine",
      { backoff: { baseMs: 1000 }, maxFailures: 3 },
      { backoff: { capMs: 2000 }, permanentStatuses: [501, 505] },
    );
    expect(policy.backoff).toEqual({ baseMs: 1000, factor: 2, capMs: 2000, jitter: 0.2 });
    expect(policy.maxFailures).toBe(3);
    expect(policy.permanentStatuses).toEqual([501, 505]);
    expect(policy.retryAfter).toEqual(DEFAULT_POLICY.routine.retryAfter);
  });

  it("RETRY-11 a schedule sets the count of failures; a later override can only lower it", () => {
    expect(maxFailuresOf(resolvePolicy("routine", { scheduleMs: [] }))).toBe(1);
    expect(maxFailuresOf(resolvePolicy("routine", { scheduleMs: [0, 60_000] }))).toBe(3);
    expect(
      maxFailuresOf(resolvePolicy("routine", { scheduleMs: Array.from({ length: 12 }, () => 1000) })),
    ).toBe(13);
    expect(maxFailuresOf(resolvePolicy("routine", { scheduleMs: [1, 2, 3] }, { maxFailures: 1 }))).toBe(1);
    expect(codeOf(() => resolvePolicy("routine", { scheduleMs: [1, 2, 3] }, { maxFailures: 9 }))).toBe(
      "bad_policy",
    );
    expect(
      maxFailuresOf(resolvePolicy("routine", { scheduleMs: [1] }, { scheduleMs: null, maxFailures: 5 })),
    ).toBe(5);
  });

  it.each([
    [{ backof: { baseMs: 1 } }, "backof"],
    [{ backoff: { baseMs: Number.NaN } }, "backoff.baseMs"],
    [{ backoff: { baseMs: "5000" } }, "backoff.baseMs"],
    [{ backoff: { baseMs: 10_000, capMs: 5000 } }, "backoff.baseMs"],
    [{ gate: { factor: 0.5 } }, "gate.factor"],
    [{ maxFailures: 0 }, "maxFailures"],
    [{ scheduleMs: [-1] }, "scheduleMs"],
    [{ permanentStatuses: [429] }, "429"],
    [{ permanentStatuses: [200] }, "permanentStatuses"],
    [{ retryAfter: { minMs: 5000, maxMs: 1000 } }, "retryAfter.minMs"],
    ["fast", "object"],
    [[], "object"],
  ])("RETRY-1 refuses %j as an override and names the field", (override, named) => {
    let message = "";
    try {
      resolvePolicy("routine", override);
    } catch (error) {
      expect(isSluiceError(error, "bad_policy")).toBe(true);
      message = (error as Error).message;
    }
    expect(message).toContain(named);
  });

  it("RETRY-1 checks an override before it is saved", () => {
    expect(parseOverride({ maxFailures: 2 })).toEqual({ maxFailures: 2 });
    expect(codeOf(() => parseOverride({ maxFailures: 2.5 }))).toBe("bad_policy");
  });

  it("LEASE-3 refuses a lease shorter than deadline plus margin, with the numbers", () => {
    checkLease({ leaseMs: 12_000, requestDeadlineMs: 10_000, leaseMarginMs: 2000 });
    expect(() =>
      checkLease({ leaseMs: 11_999, requestDeadlineMs: 10_000, leaseMarginMs: 2000 }),
    ).toThrowError(
      expect.objectContaining({ code: "lease_too_short", data: { leaseMs: 11_999, neededMs: 12_000 } }),
    );
    expect(codeOf(() => checkLease({ leaseMs: Number.NaN, requestDeadlineMs: 1, leaseMarginMs: 1 }))).toBe(
      "lease_too_short",
    );
    expect(codeOf(() => resolvePolicy("urgent", { requestDeadlineMs: 60_000 }))).toBe("lease_too_short");
  });
});
