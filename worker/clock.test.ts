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

  it("LEASE-8 is not set back by a reading that was long on its way, but follows a database whose clock was set", () => {
    let monotonicMs = 0;
    const clock = new DatabaseClock(() => monotonicMs);
    clock.sync(50_000);
    monotonicMs = 1_000;
    // Taken at 50,900 by the database, a tenth of a second late.
    clock.sync(50_900);
    expect(clock.nowMs()).toBe(51_000);
    monotonicMs = 12_000;
    clock.sync(20_000);
    expect(clock.nowMs()).toBe(20_000);
  });

  it("LEASE-8 a slow reading never sets it back while a good one of the last seconds is known", () => {
    let monotonicMs = 0;
    const clock = new DatabaseClock(() => monotonicMs);
    // Every reading is on its way for 40 ms, but one in four for 1 ms only: for a minute the error stays that of the good ones.
    for (let n = 0; n < 120; n += 1) {
      monotonicMs = n * 500;
      clock.sync(1_000_000 + monotonicMs - (n % 4 === 0 ? 1 : 40));
      expect(1_000_000 + monotonicMs - clock.nowMs()).toBe(1);
    }
    // Its clock was set back by a minute: followed within two windows.
    for (let n = 120; n < 142; n += 1) {
      monotonicMs = n * 500;
      clock.sync(940_000 + monotonicMs);
    }
    expect(clock.nowMs()).toBe(940_000 + monotonicMs);
  });

  it("LEASE-8 a process that was stopped for a minute with a reply in its socket knows that the minute has passed", () => {
    let monotonicMs = 0;
    const clock = new DatabaseClock(() => monotonicMs);
    clock.sync(50_000);
    const askedAt = monotonicMs;
    monotonicMs = 60_000;
    clock.sync(50_001, askedAt);
    expect(clock.nowMs()).toBe(110_000);
    clock.sync(20_000, monotonicMs - 5);
    expect(clock.nowMs()).toBe(20_000);
  });

  it("refuses to guess before the first reading", () => {
    expect(() => new DatabaseClock(() => 0).nowMs()).toThrow(/not been read/);
  });
});
