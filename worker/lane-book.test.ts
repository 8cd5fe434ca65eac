/** What a process remembers of lanes: a cache that may be stale, but forgets nothing for good and blocks nobody for ever. */
import { describe, expect, it } from "vitest";
import type { EntryResult } from "#db/queue/claim.ts";
import type { LaneHead } from "#db/queue/types.ts";
import { LaneBook, MAX_KNOWN_LANES } from "./lane-book.ts";

const NOW_MS = 1_000_000;

function head(destinationId: string, more: Partial<LaneHead> = {}): LaneHead {
  return {
    lane: "first",
    serviceClass: "routine",
    tenantId: "t",
    destinationId,
    dueMs: NOW_MS - 10,
    ...more,
  };
}

function result(blocker: EntryResult["blocker"], taken = 0, untilMs: number | null = null): EntryResult {
  return { taken, blocker, untilMs };
}

function bookWith(...heads: LaneHead[]): LaneBook {
  const book = new LaneBook();
  book.add(heads);
  return book;
}

describe("lanes that are known", () => {
  it("keeps one head for each lane, the earlier one", () => {
    const book = bookWith(head("a", { dueMs: 500 }), head("a", { dueMs: 400 }), head("a", { dueMs: 600 }));
    expect(book.open(NOW_MS)).toEqual([head("a", { dueMs: 400 })]);
  });

  it("tells lanes, classes, tenants and destinations apart", () => {
    const book = bookWith(
      head("a"),
      head("b"),
      head("a", { lane: "retry" }),
      head("a", { serviceClass: "urgent" }),
      head("a", { tenantId: "u" }),
    );
    expect(book.size).toBe(5);
  });

  it("stops at its limit and takes lanes again once there is room", () => {
    const book = bookWith(...Array.from({ length: MAX_KNOWN_LANES }, (_, n) => head(`d${n}`)));
    book.add([head("late")]);
    expect(book.size).toBe(MAX_KNOWN_LANES);
    book.learn({ ...head("d0"), wanted: 4 }, result(null, 1), NOW_MS);
    book.add([head("late")]);
    expect(book.open(NOW_MS).map((each) => each.destinationId)).toContain("late");
  });

  it("leaves a row that no claim takes alone for a moment instead of asking for it in a loop, but no other row", () => {
    const book = bookWith(head("a"));
    book.learn({ ...head("a"), wanted: 1 }, result(null), NOW_MS);
    book.add([head("a")]);
    expect(book.hasOpen(NOW_MS)).toBe(false);
    expect(book.nextOpeningMs(NOW_MS)).toBe(NOW_MS + 250);
    expect(book.hasOpen(NOW_MS + 250)).toBe(true);
    const other = bookWith(head("a"));
    other.learn({ ...head("a"), wanted: 1 }, result(null), NOW_MS);
    other.add([head("a", { dueMs: NOW_MS })]);
    expect(other.hasOpen(NOW_MS)).toBe(true);
  });

  it("says whether there was a lane that was not known", () => {
    const book = bookWith(head("a"));
    expect(book.add([head("a"), head("a", { dueMs: NOW_MS - 50 })])).toBe(false);
    expect(book.add([head("a"), head("b")])).toBe(true);
    expect(book.add([])).toBe(false);
  });

  it("drops, after a whole walk of one kind, only lanes of that kind that nobody saw since it began", () => {
    const retry = head("b", { lane: "retry" });
    const book = bookWith(head("a"), head("b"), head("d"), retry);
    const walk = book.beginWalk();
    // What a look finds while the walk goes on stays, though the walk read before it was there.
    book.add([head("c"), head("d")]);
    book.add([head("a")]);
    book.dropUnseen("first", "routine", walk);
    expect(book.open(NOW_MS)).toEqual([head("a"), head("d"), retry, head("c")]);
    const next = book.beginWalk();
    book.dropUnseen("first", "routine", next);
    expect(book.open(NOW_MS)).toEqual([retry]);
  });
});

describe("what a claim says of a lane", () => {
  it("forgets a lane that ran dry and keeps one that gave all that was asked for", () => {
    const book = bookWith(head("a"), head("b"));
    book.learn({ ...head("a"), wanted: 4 }, result(null, 3), NOW_MS);
    book.learn({ ...head("b"), wanted: 4 }, result(null, 4), NOW_MS);
    expect(book.open(NOW_MS).map(({ destinationId }) => destinationId)).toEqual(["b"]);
  });

  it("takes a lane to be deeper each time that it gave all that was asked for, up to a bound", () => {
    const book = bookWith(head("a"));
    const hint = () => book.open(NOW_MS)[0]?.waitingHint;
    expect(hint()).toBeUndefined();
    book.learn({ ...head("a"), wanted: 1 }, result(null, 1), NOW_MS);
    expect(hint()).toBe(2);
    book.learn({ ...head("a"), wanted: 8 }, result(null, 8), NOW_MS);
    expect(hint()).toBe(16);
    book.learn({ ...head("a"), wanted: 1_000 }, result(null, 1_000), NOW_MS);
    expect(hint()).toBeLessThanOrEqual(100);
  });

  it("does not fail for a lane that it does not know", () => {
    const book = bookWith();
    book.learn({ ...head("a"), wanted: 4 }, result("gate", 0, NOW_MS + 5), NOW_MS);
    expect(book.size).toBe(0);
  });

  it.each(["destination_cap", "tenant_cap", "deferred"] as const)(
    "asks again shortly after %s",
    (blocker) => {
      const book = bookWith(head("a"));
      book.learn({ ...head("a"), wanted: 4 }, result(blocker, 1), NOW_MS);
      expect(book.hasOpen(NOW_MS)).toBe(false);
      expect(book.nextOpeningMs(NOW_MS)).toBeLessThanOrEqual(NOW_MS + 100);
      expect(book.hasOpen(NOW_MS + 100)).toBe(true);
    },
  );

  it.each([
    "gate",
    "tenant_paused",
    "destination_paused",
    "destination_disabled",
    "region_draining",
    "other_owner",
    "deleted",
  ] as const)(
    "FAIR-7 looks at %s again within a second, whatever its end, since staff may lift it",
    (blocker) => {
      for (const untilMs of [null, NOW_MS + 3_600_000]) {
        const book = bookWith(head("a"));
        book.learn({ ...head("a"), wanted: 4 }, result(blocker, 0, untilMs), NOW_MS);
        expect(book.hasOpen(NOW_MS)).toBe(false);
        expect(book.hasOpen(NOW_MS + 1_000)).toBe(true);
      }
    },
  );

  it("waits for a blocker's own end when that is sooner", () => {
    const book = bookWith(head("a"));
    book.learn({ ...head("a"), wanted: 4 }, result("gate", 0, NOW_MS + 30), NOW_MS);
    expect(book.nextOpeningMs(NOW_MS)).toBe(NOW_MS + 30);
  });

  it("waits for the next token of a rate; FAIR-7: one that is far is asked about again within a second", () => {
    const book = bookWith(head("a"));
    book.learn({ ...head("a"), wanted: 4 }, result("rate", 1, NOW_MS + 400), NOW_MS);
    // Shortly before the token is there, so that the way to the socket costs the rate nothing.
    expect(book.hasOpen(NOW_MS + 300)).toBe(false);
    expect(book.hasOpen(NOW_MS + 400)).toBe(true);
    book.learn({ ...head("a"), wanted: 4 }, result("rate", 1, NOW_MS + 60_000), NOW_MS);
    expect(book.hasOpen(NOW_MS)).toBe(false);
    expect(book.hasOpen(NOW_MS + 1_000)).toBe(true);
  });

  it("FAIR-7 lanes of a destination whose limits were changed may be asked about at once, the others wait on", () => {
    const book = bookWith(head("a"), head("b"));
    for (const name of ["a", "b"])
      book.learn({ ...head(name), wanted: 4 }, result("rate", 0, NOW_MS + 60_000), NOW_MS);
    book.askAgain([head("b").destinationId]);
    expect(book.open(NOW_MS).map((lane) => lane.destinationId)).toEqual([head("b").destinationId]);
  });

  it("FAIR-7 after a control was changed every lane may be asked about at once", () => {
    const book = bookWith(head("a"), head("b"), head("c"));
    book.learn({ ...head("a"), wanted: 4 }, result("tenant_paused", 0, NOW_MS + 60_000), NOW_MS);
    book.learn({ ...head("b"), wanted: 4 }, result("rate", 1, NOW_MS + 60_000), NOW_MS);
    expect(book.open(NOW_MS)).toHaveLength(1);
    book.askAgain();
    expect(book.open(NOW_MS)).toHaveLength(3);
  });
});

describe("what happens in this process", () => {
  it("opens lanes that were blocked by a destination's cap as soon as one of its slots is free", () => {
    const book = bookWith(head("a"), head("a", { lane: "retry" }), head("b"));
    for (const each of book.open(NOW_MS))
      book.learn({ ...each, wanted: 4 }, result("destination_cap"), NOW_MS);
    expect(book.freed("a")).toBe(true);
    expect(book.open(NOW_MS).map((each) => each.destinationId)).toEqual(["a", "a"]);
    expect(book.freed("a")).toBe(false);
    expect(book.freed("unknown")).toBe(false);
  });

  it("knows who waits for a slot of a destination: its lanes at the cap, whoever said so, and none at a gate or without work", () => {
    const book = bookWith(head("a"), head("b"));
    expect(book.waitsForSlot("a", true)).toBe(true);
    expect(book.waitsForSlot("a", false)).toBe(false);
    expect(book.waitsForSlot("unknown", true)).toBe(false);
    book.learn({ ...head("a"), wanted: 4 }, result("destination_cap", 1), NOW_MS);
    expect(book.waitsForSlot("a", false)).toBe(true);
    book.block("b", NOW_MS + 300, NOW_MS);
    expect(book.waitsForSlot("b", true)).toBe(false);
  });

  it("FAIR-6 shuts all lanes of a destination with its gate, and a freed slot does not open them", () => {
    const book = bookWith(head("a"), head("a", { lane: "retry" }), head("b"));
    book.block("a", NOW_MS + 300, NOW_MS);
    expect(book.open(NOW_MS)).toEqual([head("b")]);
    expect(book.freed("a")).toBe(false);
    expect(book.nextOpeningMs(NOW_MS)).toBe(NOW_MS + 300);
    book.block("a", NOW_MS + 100, NOW_MS);
    expect(book.nextOpeningMs(NOW_MS)).toBe(NOW_MS + 300);
    expect(book.open(NOW_MS + 300)).toHaveLength(3);
  });

  it("FAIR-6 looks within a second whether a gate that is shut for hours was opened early", () => {
    const book = bookWith(head("a"));
    book.block("a", NOW_MS + 3_600_000, NOW_MS);
    expect(book.hasOpen(NOW_MS)).toBe(false);
    expect(book.hasOpen(NOW_MS + 1_000)).toBe(true);
  });

  it("has no next opening when nothing is blocked", () => {
    expect(bookWith(head("a")).nextOpeningMs(NOW_MS)).toBeNull();
    expect(bookWith().hasOpen(NOW_MS)).toBe(false);
  });
});
