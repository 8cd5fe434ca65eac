/** The drill's checks: whole evidence passes, and each kind of wrong evidence fails the check that is there for it. */
import { describe, expect, it } from "vitest";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import { countsOf } from "#domain/replay.ts";
import { checkDrill, DRILL_EVENT, type DrillEvidence, type SeenRequest } from "./replay-checks.ts";

const row = (id: string, attempts = 1) =>
  ({
    id,
    reason: "rejected",
    attempts,
    cycle: attempts,
    diedAt: "2026-11-30T12:00:00.000Z",
  }) as DeadLetterRow;

const rows = (...ids: string[]) => new Map(ids.map((id) => [id, row(id)]));

const request = (id: string, attempt: number, effect: SeenRequest["effect"] = "none"): SeenRequest => ({
  webhookId: id,
  key: `key-${id}`,
  bodySha256: `body-${id}`,
  attempt,
  effect,
  eventType: DRILL_EVENT,
});

/** Two delivered, one dead again, one that was never sent. */
function evidence(changes: Partial<DrillEvidence> = {}): DrillEvidence {
  return {
    places: [
      { destinationId: "fine", repaired: true, before: rows("a", "b"), after: new Map() },
      { destinationId: "broken", repaired: false, before: rows("c", "d"), after: rows("c", "d") },
    ],
    first: ["a", "b", "c", "d"].map((id) => request(id, 1)),
    later: [
      request("a", 2, "applied"),
      request("b", 2, "applied"),
      request("c", 2),
      { ...request("t", 1, "applied"), eventType: "sluice.test" },
    ],
    items: [
      { id: "a", destinationId: "fine", state: "delivered" },
      { id: "b", destinationId: "fine", state: "delivered" },
      { id: "c", destinationId: "broken", state: "dead_again" },
      { id: "d", destinationId: "broken", state: "not_released" },
    ],
    lanes: [
      { destinationId: "fine", stoppedAt: null, stopCondition: null, stopText: null },
      {
        destinationId: "broken",
        stoppedAt: "2026-11-30T12:00:00.000Z",
        stopCondition: "canary_failed",
        stopText: "canary: 0 of 1 delivered",
      },
    ],
    report: {
      total: 4,
      requests: 3,
      counts: countsOf([
        { state: "delivered", n: 2 },
        { state: "dead_again", n: 1 },
        { state: "not_released", n: 1 },
      ]),
    },
    authorRefused: "403 forbidden",
    ...changes,
  };
}

const failed = (changes: Partial<DrillEvidence>) =>
  checkDrill(evidence(changes))
    .filter(({ passed }) => !passed)
    .map(({ name }) => name);

describe("PROOF-7 the checks of the replay drill", () => {
  it("pass on whole evidence", () => {
    expect(failed({})).toEqual([]);
  });

  const { later, items, places } = evidence();
  const [first, ...rest] = later as [SeenRequest, ...SeenRequest[]];
  const onlyFrozen = "only frozen ids were sent";
  const same = "ids, keys and bodies are those of the first attempts";
  const effects = "every effect was applied once";
  const addsUp = "the report adds up to the frozen set";

  it.each<[string, Partial<DrillEvidence>, readonly string[]]>([
    ["another key", { later: [{ ...first, key: "other" }, ...rest] }, [same]],
    ["another body", { later: [{ ...first, bodySha256: "other" }, ...rest] }, [same]],
    ["no hash at all", { later: [{ ...first, bodySha256: null }, ...rest] }, [same]],
    ["an attempt number that did not go on", { later: [{ ...first, attempt: 1 }, ...rest] }, [same]],
    ["an effect twice", { later: [first, ...later] }, [effects, addsUp]],
    ["an effect that is missing", { later: [{ ...first, effect: "none" }, ...rest] }, [effects]],
    ["an id that was not frozen", { later: [...later, request("x", 1)] }, [onlyFrozen, same, addsUp]],
    [
      "an entry that was not selected",
      { items: [...items, { id: "x", destinationId: "fine", state: "skipped" }] },
      [onlyFrozen, "everything for the repaired destinations was delivered", effects, addsUp],
    ],
    ["an author who could approve", { authorRefused: null }, ["the author could not approve"]],
    [
      "a failing lane that went on",
      { lanes: evidence().lanes.map((lane) => ({ ...lane, stoppedAt: null })) },
      ["the failing destination's lane stopped by its rule"],
    ],
    [
      "a rest that was changed",
      {
        places: places.map((place) =>
          place.repaired ? place : { ...place, after: new Map([["d", row("d", 2)]]) },
        ),
      },
      ["its rest was not sent and is what it was"],
    ],
    [
      "nothing at all",
      { places: [], first: [], later: [], items: [], lanes: [] },
      [
        onlyFrozen,
        "everything for the repaired destinations was delivered",
        "the failing destination's lane stopped by its rule",
        "its rest was not sent and is what it was",
        addsUp,
      ],
    ],
  ])("fail on %s", (_what, changes, names) => {
    expect(failed(changes)).toEqual(names);
  });
});
