/** The counts of what a process sends: exact, never negative, never the same delivery twice. */
import { describe, expect, it } from "vitest";
import { InFlight, type InFlightKey } from "./in-flight.ts";

function key(id: string, more: Partial<InFlightKey> = {}): InFlightKey {
  return { id, lane: "first", serviceClass: "routine", tenantId: "t", destinationId: "d", ...more };
}

describe("InFlight", () => {
  it("counts by lane, class, tenant and destination, and forgets all of it when a slot is given back", () => {
    const inFlight = new InFlight(4, () => {});
    inFlight.take(key("1"));
    inFlight.take(key("2", { lane: "retry", serviceClass: "urgent", destinationId: "e" }));
    expect(inFlight.size).toBe(2);
    expect(inFlight.free).toBe(2);
    expect(inFlight.byLane).toEqual({ first: 1, retry: 1, replay: 0 });
    expect(inFlight.byClass).toEqual({ urgent: 1, routine: 1 });
    expect([inFlight.ofTenant("t"), inFlight.ofDestination("d"), inFlight.ofDestination("e")]).toEqual([
      2, 1, 1,
    ]);
    inFlight.giveBack("1");
    inFlight.giveBack("2");
    expect(inFlight.byLane).toEqual({ first: 0, retry: 0, replay: 0 });
    expect([inFlight.size, inFlight.ofTenant("t"), inFlight.ofDestination("d")]).toEqual([0, 0, 0]);
  });

  it("LEASE-2 refuses a delivery that it is sending already, and changes nothing", () => {
    const inFlight = new InFlight(4, () => {});
    inFlight.take(key("1"));
    expect(() => inFlight.take(key("1"))).toThrow(/in flight already/);
    expect(inFlight.has("1")).toBe(true);
    expect(inFlight.size).toBe(1);
  });

  it("tells who became free, once for each slot", () => {
    const freed: string[] = [];
    const inFlight = new InFlight(4, ({ id }) => freed.push(id));
    inFlight.take(key("1"));
    inFlight.giveBack("1");
    inFlight.giveBack("1");
    inFlight.giveBack("never taken");
    expect(freed).toEqual(["1"]);
    expect(inFlight.has("1")).toBe(false);
  });

  it("shows no free slot below zero", () => {
    const inFlight = new InFlight(1, () => {});
    inFlight.take(key("1"));
    inFlight.take(key("2"));
    expect(inFlight.free).toBe(0);
  });

  it("says when it is idle, also to several, and at once when it is", async () => {
    const inFlight = new InFlight(4, () => {});
    await inFlight.whenIdle();
    inFlight.take(key("1"));
    inFlight.take(key("2"));
    let idle = 0;
    const waiting = [inFlight.whenIdle(), inFlight.whenIdle()].map((promise) => promise.then(() => idle++));
    inFlight.giveBack("1");
    await Promise.resolve();
    expect(idle).toBe(0);
    inFlight.giveBack("2");
    await Promise.all(waiting);
    expect(idle).toBe(2);
  });
});
