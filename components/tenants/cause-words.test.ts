/** Each cause is named once and with its own words; a tenant without trouble has none, and none is guessed. */
import { expect, test } from "vitest";
import { DEFAULT_OBJECTIVES, thresholdsOf } from "#domain/objectives.ts";
import { behindText, causeOf, hasTrouble, isLate, lastAnswerText, ownCauses } from "./cause-words.ts";

const AS_OF = "2026-03-09T12:00:00.000Z";
const LATER = "2026-03-09T12:00:40.000Z";
const FREE = { limit: 4, desired: 4, effective: 4, why: null } as const;
const NO_HELD = { count: 0, oldestMs: 0, why: null };
const QUIET: Parameters<typeof ownCauses>[0] = {
  deletedAt: null,
  pause: null,
  held: NO_HELD,
  inFlight: 0,
  concurrency: FREE,
  due: { count: 0, oldestMs: 0 },
};

test("a pause says when it ends and what it holds", () => {
  const pause = { since: AS_OF, until: "2026-03-09T12:30:00.000Z", reason: "x", by: null };
  const paused = { ...QUIET, pause, concurrency: { ...FREE, effective: 0, why: "paused" } } as const;
  expect(ownCauses(paused, AS_OF)).toEqual(["It is paused and goes on by itself in 30 m 0 s."]);
  const held = { count: 1, oldestMs: 1, why: "tenant_paused" };
  // A cap of none is the pause's: it is no second cause.
  expect(ownCauses({ ...paused, held, due: { count: 1, oldestMs: 1 } }, AS_OF)).toEqual([
    "It is paused and goes on by itself in 30 m 0 s. 1 due delivery is held.",
  ]);
});

test("stopped claims, a handover and a deletion are named, the strongest first", () => {
  const why = (code: "draining" | "other_owner") => ({
    ...QUIET,
    concurrency: { ...FREE, effective: 0, why: code },
  });
  const held = { count: 2, oldestMs: 1, why: "region_draining" };
  const pause = { since: AS_OF, until: LATER, reason: "x", by: null };
  const both = ownCauses({ ...why("draining"), held, pause }, AS_OF);
  expect(both[0]).toBe("Claims are stopped in this region: nothing of it starts. 2 due deliveries are held.");
  expect(both[1]).toBe("It is paused and goes on by itself in 40 s.");
  expect(ownCauses(why("other_owner"), AS_OF)[0]).toContain("handed over to another program");
  expect(ownCauses({ ...QUIET, deletedAt: AS_OF, pause }, AS_OF)).toHaveLength(1);
});

test("a cap that is used up is a cause only when something is due behind it", () => {
  expect(ownCauses({ ...QUIET, inFlight: 4 }, AS_OF)).toEqual([]);
  expect(ownCauses({ ...QUIET, inFlight: 4, due: { count: 7, oldestMs: 1 } }, AS_OF)).toEqual([
    "Its own concurrency is used up: 4 of 4 in flight, and 7 due.",
  ]);
  expect(ownCauses({ ...QUIET, inFlight: 3, due: { count: 7, oldestMs: 1 } }, AS_OF)).toEqual([]);
});

test("trouble of a destination is seen in the tenant's numbers", () => {
  const none = { gates: 0, openBreakers: 0, destinationsFailing: 0, held: NO_HELD };
  expect(hasTrouble(none)).toBe(false);
  for (const one of ["gates", "openBreakers", "destinationsFailing"]) {
    expect(hasTrouble({ ...none, [one]: 1 })).toBe(true);
  }
  expect(hasTrouble({ ...none, held: { ...NO_HELD, count: 2, why: "destination_disabled" } })).toBe(true);
  expect(hasTrouble({ ...none, held: { ...NO_HELD, count: 2, why: "tenant_paused" } })).toBe(false);
});

test("each state of a destination has its sentence, and one that works has none", () => {
  const fine = {
    state: "active",
    stateReason: null,
    stateSince: null,
    stateUntil: null,
    failing: false,
    failuresSinceSuccess: 0,
  } as const;
  expect(causeOf(fine, AS_OF)).toBeNull();
  expect(causeOf({ ...fine, failing: true, failuresSinceSuccess: 3 }, AS_OF)?.text).toBe(
    "fails: 3 failures in a row",
  );
  expect(causeOf({ ...fine, state: "disabled", stateReason: "410 Gone" }, AS_OF)?.text).toBe(
    "is disabled, 410 Gone: its deliveries are held",
  );
  const gate = { ...fine, state: "rate_limited", stateReason: "answered 429", stateUntil: LATER } as const;
  expect(causeOf({ ...gate, stateSince: AS_OF }, AS_OF)).toEqual({
    text: "answered 429: its gate is shut",
    since: AS_OF,
    next: { words: "until", at: LATER },
    end: "; then one probe goes first",
  });
  const open = { ...fine, state: "circuit_open", stateReason: "timeout" } as const;
  expect(causeOf({ ...open, stateUntil: LATER }, AS_OF)?.next).toEqual({
    words: "; the next probe goes",
    at: LATER,
  });
  // Its time has come: a moment that lies behind is no "until".
  expect(causeOf({ ...open, stateUntil: AS_OF }, AS_OF)).toMatchObject({
    next: null,
    end: "; single requests ask whether it is back",
  });
});

test("what waits is told of the one destination, or of all of them together", () => {
  expect(behindText({ gated: 0, held: NO_HELD }, true)).toBeNull();
  expect(behindText({ gated: 312, held: NO_HELD }, true)).toBe("312 due deliveries wait behind it.");
  expect(behindText({ gated: 1, held: { count: 2, oldestMs: 1, why: "destination_paused" } }, false)).toBe(
    "1 due delivery waits behind shut gates and open breakers; 2 due deliveries are held.",
  );
});

test("late is what is past its objective, and an answer that never came is none", () => {
  const answer = thresholdsOf(DEFAULT_OBJECTIVES);
  const tenant = { firstAttemptMs: 0, firstAttemptClass: null, due: QUIET.due };
  expect(isLate({ ...answer, tenant })).toBe(false);
  const firstAttemptMs = answer.objectives.urgent.firstAttemptTargetMs + 1;
  expect(isLate({ ...answer, tenant: { ...tenant, firstAttemptMs, firstAttemptClass: "urgent" } })).toBe(
    true,
  );
  expect(lastAnswerText(null)).toBeNull();
  expect(lastAnswerText({ outcome: "rate_limited", status: 429, at: AS_OF })).toBe("429 rate-limited");
});
