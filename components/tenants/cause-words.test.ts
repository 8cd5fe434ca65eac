/** Each cause is named once and with its own words; a tenant without trouble has none. */
import { expect, test } from "vitest";
import { causeOf, hasTrouble, ownCause } from "./cause-words.ts";

const AS_OF = "2026-03-09T12:00:00.000Z";
const FREE = { limit: 4, desired: 4, effective: 4 } as unknown as Parameters<
  typeof ownCause
>[0]["concurrency"];
const QUIET = {
  deletedAt: null,
  pause: null,
  held: { count: 0, oldestMs: 0, why: null },
  inFlight: 0,
  concurrency: FREE,
  due: { count: 0, oldestMs: 0 },
} as Parameters<typeof ownCause>[0];

test("a pause says when it ends and what it holds", () => {
  const pause = { since: AS_OF, until: "2026-03-09T12:30:00.000Z", reason: "x", by: null };
  expect(ownCause({ ...QUIET, pause }, AS_OF)).toBe("It is paused and goes on by itself in 30 m 0 s.");
  const held = { ...QUIET.held, count: 1 };
  expect(ownCause({ ...QUIET, pause, held }, AS_OF)).toMatch(/ 1 due delivery is held\.$/);
});

test("a cap that is used up is a cause only when something is due behind it", () => {
  expect(ownCause({ ...QUIET, inFlight: 4 }, AS_OF)).toBeNull();
  expect(ownCause({ ...QUIET, inFlight: 4, due: { count: 7, oldestMs: 1 } }, AS_OF)).toBe(
    "Its own concurrency is used up: 4 of 4 in flight, and 7 due.",
  );
  expect(ownCause({ ...QUIET, inFlight: 3, due: { count: 7, oldestMs: 1 } }, AS_OF)).toBeNull();
});

test("trouble of a destination is seen in the tenant's numbers", () => {
  const none = { gates: 0, openBreakers: 0, destinationsFailing: 0, held: QUIET.held };
  expect(hasTrouble(none)).toBe(false);
  for (const one of ["gates", "openBreakers", "destinationsFailing"]) {
    expect(hasTrouble({ ...none, [one]: 1 })).toBe(true);
  }
  expect(hasTrouble({ ...none, held: { ...QUIET.held, count: 2, why: "destination_disabled" } })).toBe(true);
  expect(hasTrouble({ ...none, held: { ...QUIET.held, count: 2, why: "tenant_paused" } })).toBe(false);
});

test("each state of a destination has its sentence, and one that works has none", () => {
  const fine = { state: "active", stateReason: null, failing: false, failuresSinceSuccess: 0 } as const;
  expect(causeOf(fine)).toBeNull();
  expect(causeOf({ ...fine, failing: true, failuresSinceSuccess: 3 })).toBe("fails: 3 failures in a row");
  expect(causeOf({ ...fine, state: "disabled", stateReason: "410 Gone" })).toBe(
    "is disabled, 410 Gone: its deliveries are held",
  );
  const words = (["circuit_open", "rate_limited", "disabled", "paused"] as const).map((state) =>
    causeOf({ ...fine, state }),
  );
  expect(new Set(words).size).toBe(4);
  expect(words).not.toContain(null);
});
