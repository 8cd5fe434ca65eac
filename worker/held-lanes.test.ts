/** FAIR-1: lanes that are held cost news nothing: they are asked again in parts, at once when a slot came free, and nobody is left out. */
import { describe, expect, it } from "vitest";
import type { ClaimBlocker, ClaimEntry } from "#db/queue/claim.ts";
import type { LaneHead } from "#db/queue/types.ts";
import { DatabaseClock } from "./clock.ts";
import { Discovery } from "./discovery.ts";
import { InFlight } from "./in-flight.ts";
import { LaneBook } from "./lane-book.ts";
import { LimitsCache } from "./limits-cache.ts";
import { Planner } from "./planner.ts";
import { DueTimer } from "./wake.ts";

const NOW_MS = 1_000_000;
const GATES = 200;
/** Most held lanes that one claim asks (planner.ts). */
const A_PART = 64;

const head = (tenantId: string, destinationId: string): LaneHead => ({
  lane: "first",
  serviceClass: "routine",
  tenantId,
  destinationId,
  dueMs: NOW_MS - 10,
});
const held = (blocker: ClaimBlocker) => ({ taken: 0, blocker, untilMs: null });

/** A planner at NOW_MS over a book whose lanes were all held by their gates and may be asked again. */
async function besideGates() {
  const clock = new DatabaseClock(() => 0);
  clock.sync(NOW_MS);
  const book = new LaneBook();
  const gated = Array.from({ length: GATES }, (_, n) => head("stormy", `gated${n}`));
  book.add(gated);
  for (const each of gated) book.learn({ ...each, wanted: 1 }, held("gate"), NOW_MS - 1_000);
  const limits = {
    readLimits: async (ids: readonly string[]) =>
      ids.map((destinationId) => ({
        destinationId,
        tenantId: destinationId.startsWith("gated") ? "stormy" : "quiet",
        tenantWeight: 1,
        tenantConcurrency: 1_000,
        destinationConcurrency: 10,
        ratePerSecond: null,
        rateBurst: 1,
      })),
  };
  const inFlight = new InFlight(512, () => undefined, 16);
  const planner = new Planner({ book, clock, limits: new LimitsCache(), inFlight, store: limits as never });
  const answer = (entries: readonly ClaimEntry[]) => {
    for (const entry of entries) {
      if (entry.tenantId === "stormy") book.learn(entry, held("gate"), NOW_MS);
      else book.learn(entry, { taken: 1, blocker: null, untilMs: null }, NOW_MS);
    }
  };
  return { book, planner, answer };
}

describe("lanes that were held when they were last asked", () => {
  it("are asked again in parts, each of them once, and news is in the next part", async () => {
    const { book, planner, answer } = await besideGates();
    const asked: ClaimEntry[] = [];
    const first = await planner.next();
    expect(first).toHaveLength(A_PART);
    answer(first);
    asked.push(...first);
    book.add([head("quiet", "news")]);
    const second = await planner.next();
    expect(second.length).toBeLessThanOrEqual(A_PART + 1);
    expect(second.map(({ destinationId }) => destinationId)).toContain("news");
    answer(second);
    asked.push(...second.filter(({ tenantId }) => tenantId === "stormy"));
    for (let part = await planner.next(); part.length > 0; part = await planner.next()) {
      const gates = part.filter(({ tenantId }) => tenantId === "stormy");
      if (gates.length === 0) break;
      answer(part);
      asked.push(...gates);
    }
    expect(new Set(asked.map(({ destinationId }) => destinationId)).size).toBe(GATES);
    expect(asked).toHaveLength(GATES);
  });

  it("count as new again once they have given a row", () => {
    const book = new LaneBook();
    const lane = head("a", "d");
    book.add([lane]);
    book.learn({ ...lane, wanted: 1 }, held("gate"), NOW_MS - 1_000);
    expect(book.open(NOW_MS)).toHaveLength(1);
    expect(book.askedAgain).toBe(1);
    book.learn({ ...lane, wanted: 1 }, { taken: 1, blocker: null, untilMs: null }, NOW_MS);
    expect(book.open(NOW_MS)).toHaveLength(1);
    expect(book.askedAgain).toBe(0);
  });
});

describe("a lane behind a cap", () => {
  const lane = head("a", "d");
  const blocked = (holdsPlace: boolean, isFreedMeanwhile: boolean) => {
    const book = new LaneBook();
    book.add([lane]);
    book.claimBegins();
    if (isFreedMeanwhile) book.freed("d");
    book.learn({ ...lane, wanted: 1 }, held("destination_cap"), NOW_MS, holdsPlace);
    return book;
  };

  it("is asked at once when a slot came free while the claim was under way, which still counted it", () => {
    expect(blocked(true, true).hasOpen(NOW_MS)).toBe(true);
    const book = blocked(true, true);
    book.claimBegins();
    book.learn({ ...lane, wanted: 1 }, held("destination_cap"), NOW_MS, true);
    expect(book.hasOpen(NOW_MS)).toBe(false);
  });

  it("is asked seldom while our own request will tell, and often while only others hold the places", () => {
    const openings = [true, false].map((holds) => blocked(holds, false).nextOpeningMs(NOW_MS) ?? 0);
    expect(openings.map((ms) => ms - NOW_MS)).toEqual([100, 25]);
    const book = blocked(true, false);
    expect(book.freed("d")).toBe(true);
    expect(book.hasOpen(NOW_MS)).toBe(true);
  });
});

describe("a rest", () => {
  it("finds what became due between the last look and the question for the next due time, and says so", async () => {
    const clock = new DatabaseClock(() => 0);
    clock.sync(NOW_MS);
    const book = new LaneBook();
    const heads: LaneHead[] = [];
    let found = 0;
    const recentLanes = async () => ({ nowMs: NOW_MS, heads: heads.splice(0), readUpToMs: NOW_MS });
    const store = {
      recentLanes,
      walkAllLanes: async () => [],
      walkLanes: async () => ({ heads: [], lanes: 0, next: null }),
    };
    const events = { onFound: () => ++found, onNewsLater: () => undefined };
    const discovery = new Discovery(store, clock, book, events);
    await discovery.refresh(true);
    heads.push(head("a", "d"));
    await discovery.lookBehind();
    expect([book.size, found]).toEqual([1, 1]);
    await discovery.lookBehind();
    expect(found).toBe(1);
  });

  it("follows an earlier moment that stands, and no later one", () => {
    const timers = { set: () => ({}), clear: () => undefined, monotonicMs: () => 0 };
    const timer = new DueTimer(
      () => NOW_MS,
      () => undefined,
      timers,
    );
    expect(timer.standsBefore(NOW_MS + 500)).toBe(false);
    timer.at(NOW_MS + 400);
    expect(timer.standsBefore(NOW_MS + 500)).toBe(true);
    expect(timer.standsBefore(NOW_MS + 300)).toBe(false);
    timer.clear();
    expect(timer.standsBefore(NOW_MS + 500)).toBe(false);
  });
});
