/** What makes a planner look: raises merge, no timer overflows, a lost hint connection comes back by itself. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { WAKE_CHANNEL } from "#domain/wake.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { terminateSessions } from "#tests/support/worker-rows/sql.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { DueTimer, HintListener, MAX_TIMER_MS, WakeSignal } from "./wake.ts";

describe("WakeSignal", () => {
  it("is seen once however often it is raised, and is fresh when one of the raises was", async () => {
    const wake = new WakeSignal();
    wake.raise(false);
    wake.raise(true);
    wake.raise(false);
    expect(await wake.next()).toEqual({ fresh: true, probeOnly: false });
    let seen = 0;
    const next = wake.next().then((value) => {
      seen += 1;
      return value;
    });
    await Promise.resolve();
    expect(seen).toBe(0);
    wake.raise(false);
    expect(await next).toEqual({ fresh: false, probeOnly: false });
  });

  it("loses no raise that comes while the last one is being worked on", async () => {
    const wake = new WakeSignal();
    wake.raise(true);
    await wake.next();
    wake.raise(true);
    expect(await wake.next()).toEqual({ fresh: true, probeOnly: false });
  });

  it("says whether another turn comes at once, and whether that one looks", async () => {
    const wake = new WakeSignal();
    expect([wake.isRaised, wake.isFresh]).toEqual([false, false]);
    wake.raise(false);
    expect([wake.isRaised, wake.isFresh]).toEqual([true, false]);
    wake.raise(true);
    expect([wake.isRaised, wake.isFresh]).toEqual([true, true]);
    await wake.next();
    expect([wake.isRaised, wake.isFresh]).toEqual([false, false]);
  });

  it("says when nothing but the probe has raised it", async () => {
    const wake = new WakeSignal();
    wake.raise(true, "probe");
    wake.raise(true, "probe");
    expect(await wake.next()).toEqual({ fresh: true, probeOnly: true });
    wake.raise(true, "probe");
    wake.raise(false);
    wake.raise(true, "probe");
    expect(await wake.next()).toEqual({ fresh: true, probeOnly: false });
    wake.raise(true, "probe");
    expect(await wake.next()).toEqual({ fresh: true, probeOnly: true });
  });
});

describe("DueTimer", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function timer() {
    vi.useFakeTimers({ now: 0 });
    const fired: number[] = [];
    const due = new DueTimer(
      () => Date.now(),
      () => fired.push(Date.now()),
    );
    return { due, fired };
  }

  it("fires at the earliest of the moments that it was told of", () => {
    const { due, fired } = timer();
    due.at(5_000);
    due.at(1_000);
    due.at(9_000);
    vi.advanceTimersByTime(20_000);
    expect(fired).toEqual([1_000]);
    due.at(25_000);
    vi.advanceTimersByTime(20_000);
    expect(fired).toEqual([1_000, 25_000]);
  });

  it("fires at once for a moment that is past", () => {
    const { due, fired } = timer();
    due.at(-5);
    vi.advanceTimersByTime(1);
    expect(fired).toHaveLength(1);
  });

  it("fault 65: takes a wait beyond 2^31 ms in steps, instead of firing after a millisecond", () => {
    const { due, fired } = timer();
    due.at(2 ** 31 + 5_000_000);
    vi.advanceTimersByTime(MAX_TIMER_MS - 1);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual([MAX_TIMER_MS]);
  });

  it("does not fire once it is cleared", () => {
    const { due, fired } = timer();
    due.at(1_000);
    due.clear();
    vi.advanceTimersByTime(5_000);
    expect(fired).toEqual([]);
  });
});

describe("HintListener", () => {
  let database: TestDatabase | null = null;
  let listener: HintListener | null = null;

  afterEach(async () => {
    await listener?.close();
    await database?.drop();
  });

  it("hears hints, and hears them again after its connection was ended", async () => {
    database = await createTestDatabase();
    const { pool, connectionString } = database;
    const { log, lines } = captureLog();
    let hints = 0;
    listener = new HintListener(connectionString, "hint-test", () => hints++, log);
    await listener.open();
    // One for whatever was hinted while nobody listened.
    expect(hints).toBe(1);
    const notify = () => pool.query("SELECT pg_notify($1, '')", [WAKE_CHANNEL]);
    await notify();
    await waitFor(() => hints === 2, { what: "a hint" });
    expect(await terminateSessions(pool, "hint-test")).toBe(1);
    await waitFor(() => hints === 3, { what: "the listener to be back" });
    await notify();
    await waitFor(() => hints === 4, { what: "a hint after the reconnection" });
    expect(lines().map((line) => line.event)).toEqual(["hint_connection_lost"]);
  });
});
