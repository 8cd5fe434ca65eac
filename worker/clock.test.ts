/** LEASE-8: the database's time as a process sees it, without ever asking the machine's own clock. */
import { describe, expect, it } from "vitest";
import { DatabaseClock } from "./clock.ts";

describe("DatabaseClock", () => {
  it("is the last reading plus monotonic time since", () => {
    let monotonicMs = 100;
    const clock = new DatabaseClock(() => monotonicMs);
    clock.sync(5_000_000);
    expect(clock.nowMs()).toBe(5_000_000);
    monotonicMs = 350;
    expect(clock.nowMs()).toBe(5_000_250);
    expect(clock.monotonicMs()).toBe(350);
  });

  it("follows the database when a later reading says otherwise", () => {
    const clock = new DatabaseClock(() => 0);
    clock.sync(5_000);
    clock.sync(9_000);
    expect(clock.nowMs()).toBe(9_000);
  });

  it("refuses to guess before the first reading", () => {
    expect(() => new DatabaseClock(() => 0).nowMs()).toThrow(/not been read/);
  });
});
