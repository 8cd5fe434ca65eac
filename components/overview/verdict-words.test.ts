/** The sentence on the first screen: green only for a region that answered, is inside its objectives and is fresh. */
import { expect, test } from "vitest";
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DEFAULT_OBJECTIVES, thresholdsOf } from "#domain/objectives.ts";
import { wordsFor, wordsForAll } from "./verdict-words.ts";

const AS_OF = "2026-11-30T14:03:22.000Z";

function answer(change: Partial<RegionOverview> = {}): RegionAnswer<RegionOverview> {
  const data: RegionOverview = {
    verdict: {
      level: "on_time",
      because: null,
      firstAttempt: { serviceClass: "routine", oldestMs: 400, targetMs: 120_000 },
      tenantsAffected: 0,
    },
    thresholds: thresholdsOf(DEFAULT_OBJECTIVES),
    firstAttempt: [],
    due: { count: 0, oldestMs: 0 },
    gated: 0,
    ready: 1,
    delayed: 0,
    inFlight: 0,
    slots: 16,
    delayedLag: { count: 0, oldestMs: 0 },
    deadLetters: { count: 0, oldestMs: 0, added: 0 },
    amplification: null,
    recent: {
      firstAttemptP95: null,
      rateLimitedShare: null,
      requests: 0,
      expiredLeases: 0,
      deliveredLastHour: 0,
    },
    triedShares: [],
    trends: {
      oldestMs: [],
      firstAttemptP95Ms: [],
      dueMs: [],
      due: [],
      dead: [],
      inFlight: [],
      rateLimitedShare: [],
      expiredLeases: [],
    },
    held: [],
    pausedTenants: 0,
    workers: { running: 1, lastHeartbeatAt: AS_OF },
    draining: null,
    lastSampleAt: AS_OF,
    countedAt: AS_OF,
    tenants: [],
    tenantsLeftOut: 0,
    noise: { verdict: "nobody", minutes: 5, tenants: [] },
    ...change,
  };
  return { region: "eu", status: "ok", asOf: AS_OF, data };
}

const late = {
  level: "late",
  because: "first_attempt",
  firstAttempt: { serviceClass: "routine", oldestMs: 372_000, targetMs: 120_000 },
  tenantsAffected: 3,
} as const;

test("late names the age, the target and who is affected", () => {
  expect(wordsFor(answer({ verdict: late, pausedTenants: 1 }), false)).toEqual({
    tone: "danger",
    label: "late",
    main: "Oldest first attempt 6 m 12 s (target 2 m).",
    aside: "3 tenants affected. 1 tenant paused.",
  });
});

test("an age that is not the oldest says of which class it is, and names the older one", () => {
  const firstAttempt = [
    { serviceClass: "urgent" as const, oldestMs: 66_000, tenantsLate: 1 },
    { serviceClass: "routine" as const, oldestMs: 287_000, tenantsLate: 1 },
  ];
  const urgent = { serviceClass: "urgent", oldestMs: 66_000, targetMs: 15_000 } as const;
  expect(wordsFor(answer({ verdict: { ...late, firstAttempt: urgent }, firstAttempt }), false).main).toBe(
    "Oldest first attempt: urgent 1 m 6 s (target 15 s), routine 4 m 47 s (target 2 m).",
  );
});

test("late names the worst tenant, and its own endpoint where that is the cause", () => {
  const worst: RegionOverview["tenants"][number] = {
    id: "ten_1",
    slug: "boxwise",
    name: "Boxwise",
    state: "rate_limited",
    stateUntil: AS_OF,
    stateReason: null,
    firstAttemptMs: 372_000,
    firstAttemptClass: "routine",
    due: { count: 0, oldestMs: 0 },
    gated: 3,
    held: { count: 0, oldestMs: 0, why: null },
    ready: 3,
    delayed: 1,
    inFlight: 0,
    limit: 100,
    firstAttemptP95Ms: null,
    rateLimitedShare: null,
    requestShare: null,
    deadLetters: { count: 0, oldestMs: 0 },
    lastDeliveredAt: null,
  };
  expect(wordsFor(answer({ verdict: late, tenants: [worst] }), false).aside).toBe(
    "3 tenants affected, worst Boxwise, rate-limited by its own endpoint.",
  );
  expect(
    wordsFor(answer({ verdict: late, tenants: [{ ...worst, state: "circuit_open" }] }), false).aside,
  ).toBe("3 tenants affected, worst Boxwise, its own endpoint keeps failing.");
  const slow = { ...worst, state: "active" as const };
  expect(wordsFor(answer({ verdict: late, tenants: [slow] }), false).aside).toBe(
    "3 tenants affected, worst Boxwise.",
  );
});

test("on time is green while fresh, and only was on time when the page is behind", () => {
  expect(wordsFor(answer(), false)).toMatchObject({ tone: "ok", label: "on time" });
  expect(wordsFor(answer(), true)).toMatchObject({ tone: "unknown", label: "was on time" });
  expect(wordsFor(answer({ verdict: late }), true)).toMatchObject({ tone: "danger", label: "late" });
});

test("a region that does not answer has no number in its sentence", () => {
  const words = wordsFor(
    { region: "eu", status: "unavailable", detail: "Its database does not answer." },
    false,
  );
  expect(words).toMatchObject({
    tone: "danger",
    label: "does not answer",
    aside: "Its numbers are unknown, not zero.",
  });
  expect(words.main).not.toMatch(/\d/);
});

test("a region without workers says for how long nobody has reported", () => {
  const verdict = { ...late, level: "stopped", because: "no_worker" } as const;
  const workers = { running: 0, lastHeartbeatAt: "2026-11-30T14:01:22.000Z" };
  expect(wordsFor(answer({ verdict, workers }), false).main).toContain("No worker has reported for 2 m 0 s.");
  expect(wordsFor(answer({ verdict, workers: { running: 0, lastHeartbeatAt: null } }), false).main).toContain(
    "No worker has ever reported.",
  );
});

test("a reason that a person wrote ends before the next sentence begins", () => {
  const verdict = { ...late, level: "draining", because: "draining" } as const;
  const draining = { since: AS_OF, reason: "switching version" };
  expect(wordsFor(answer({ verdict, draining }), false).main).toMatch(/^switching version\. Oldest first/);
});

test("a sampler that has stopped is said, since the charts then show no data", () => {
  expect(wordsFor(answer({ lastSampleAt: "2026-11-30T14:03:00.000Z" }), false).aside).toContain(
    "Sampling has stopped",
  );
  expect(wordsFor(answer({ lastSampleAt: null }), false).aside).toContain("Sampling has stopped");
});

test("green only when every region is inside its objectives: beside a late one, on time is plain", () => {
  expect(wordsForAll([answer(), answer()], false).map(({ words }) => words.tone)).toEqual(["ok", "ok"]);
  const mixed = wordsForAll([answer(), answer({ verdict: late })], false);
  expect(mixed.map(({ words }) => [words.tone, words.label])).toEqual([
    ["neutral", "on time"],
    ["danger", "late"],
  ]);
});
