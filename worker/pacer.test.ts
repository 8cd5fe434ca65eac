/** FAIR-1 in one process: starts never come before their token, never at once behind a late one, and never with an old one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TOKEN_LIFE_MS } from "#domain/rate.ts";
import { Pacer, type Token, tokenOf } from "./pacer.ts";

const NOW_MS = 1_000_000;
const GAP_MS = 200;
/** The database's time minus the monotonic one. */
const OFFSET_MS = 5_000;

const tokenAt = (atMs: number, burst = 1): Token => ({ destinationId: "d", atMs, gapMs: GAP_MS, burst });

/** Starts a row whose claim is done at `readyMs`; returns the time of the start, or null when its token is too old. */
function run(pacer: Pacer, token: Token, readyMs: number, timerLateMs = 0): number | null {
  const waitMs = pacer.waitMs(token, readyMs, readyMs - OFFSET_MS);
  if (waitMs === null) return null;
  const startMs = waitMs > 0 ? readyMs + waitMs + timerLateMs : readyMs;
  pacer.started(token, startMs, startMs - OFFSET_MS);
  return startMs;
}

describe("the pacer", () => {
  it("FAIR-1 holds a row that was claimed ahead until its token is there", () => {
    expect(run(new Pacer(), tokenAt(NOW_MS + 40), NOW_MS)).toBe(NOW_MS + 40);
    expect(run(new Pacer(), tokenAt(NOW_MS - 40), NOW_MS)).toBe(NOW_MS);
  });

  it("FAIR-1 does not let a start that is on time follow a late one at once: all behind it move", () => {
    const pacer = new Pacer();
    const starts = Array.from({ length: 30 }, (_, n) => {
      const token = tokenAt(NOW_MS + n * GAP_MS);
      return run(pacer, token, token.atMs + (n === 3 ? 100 : -40));
    });
    for (let n = 1; n < starts.length; n += 1) {
      expect((starts[n] ?? 0) - (starts[n - 1] ?? 0)).toBeGreaterThanOrEqual(GAP_MS - 0.001);
    }
    expect(starts[3]).toBe(NOW_MS + 3 * GAP_MS + 100);
    expect(starts[29]).toBe(NOW_MS + 29 * GAP_MS + 100);
  });

  it("FAIR-1 a timer that is always a little late costs the rate nothing", () => {
    const pacer = new Pacer();
    const starts = Array.from({ length: 100 }, (_, n) =>
      run(pacer, tokenAt(NOW_MS + n * GAP_MS), NOW_MS + n * GAP_MS - 40, 2),
    );
    expect(starts[99]).toBe(NOW_MS + 99 * GAP_MS + 2);
  });

  it("FAIR-1 a burst that went out late moves what is behind it, once", () => {
    const pacer = new Pacer();
    const pace = { startMs: NOW_MS - 60_000, gapMs: GAP_MS, burst: 3 };
    for (const nth of [0, 1, 2]) run(pacer, tokenOf("d", pace, nth, NOW_MS), NOW_MS + 30);
    expect(pacer.waitMs(tokenAt(NOW_MS, 3), NOW_MS + 30, NOW_MS + 30 - OFFSET_MS)).toBe(GAP_MS);
  });

  it("FAIR-7 a changed rate counts from the last start, raised or lowered", () => {
    const pacer = new Pacer();
    expect(run(pacer, { ...tokenAt(NOW_MS), gapMs: 10_000 }, NOW_MS)).toBe(NOW_MS);
    expect(run(pacer, { ...tokenAt(NOW_MS + 20), gapMs: 20 }, NOW_MS)).toBe(NOW_MS + 20);
    expect(run(pacer, { ...tokenAt(NOW_MS + 50), gapMs: 300 }, NOW_MS + 50)).toBe(NOW_MS + 320);
  });

  it("FAIR-1 a token that is too old is worth nothing: whoever was stopped meanwhile sends nothing with it", () => {
    const pacer = new Pacer();
    expect(run(pacer, tokenAt(NOW_MS), NOW_MS + TOKEN_LIFE_MS)).toBe(NOW_MS + TOKEN_LIFE_MS);
    expect(run(pacer, tokenAt(NOW_MS), NOW_MS + TOKEN_LIFE_MS + 1)).toBeNull();
  });

  it("FAIR-1 a burst that was saved up goes at once, and its tokens count from the claim", () => {
    const pacer = new Pacer();
    const pace = { startMs: NOW_MS - 60_000, gapMs: GAP_MS, burst: 3 };
    const starts = [0, 1, 2].map((nth) => run(pacer, tokenOf("d", pace, nth, NOW_MS), NOW_MS + 5));
    expect(starts).toEqual([NOW_MS + 5, NOW_MS + 5, NOW_MS + 5]);
    expect(run(pacer, tokenAt(NOW_MS + 5, 3), NOW_MS + 5)).toBe(NOW_MS + 5 + GAP_MS);
  });

  it("FAIR-1 whatever comes late, starts keep their distance and come after their tokens", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(0), fc.nat(150)), { maxLength: 60 }), (lateness) => {
        const pacer = new Pacer();
        let lastMs = Number.NEGATIVE_INFINITY;
        lateness.forEach((lateMs, n) => {
          const token = tokenAt(NOW_MS + n * GAP_MS);
          const startMs = run(pacer, token, token.atMs + lateMs);
          if (startMs === null) return;
          expect(startMs).toBeGreaterThanOrEqual(token.atMs);
          expect(startMs - lastMs).toBeGreaterThanOrEqual(GAP_MS - 3 - 0.001);
          lastMs = startMs;
        });
      }),
    );
  });

  it("ID-8 forgets the oldest destinations: its memory has a bound", () => {
    const pacer = new Pacer();
    for (let n = 0; n < 6_000; n += 1) {
      pacer.started({ ...tokenAt(NOW_MS), destinationId: `d${n}` }, NOW_MS, NOW_MS - OFFSET_MS);
    }
    const token = tokenAt(NOW_MS);
    expect(pacer.waitMs({ ...token, destinationId: "d0" }, NOW_MS, NOW_MS - OFFSET_MS)).toBe(0);
    expect(pacer.waitMs({ ...token, destinationId: "d5999" }, NOW_MS, NOW_MS - OFFSET_MS)).toBeGreaterThan(
      100,
    );
  });
});
