/** What a process collects of its destinations: nothing for ordinary successes, one report for many outcomes, in their order. */
import { describe, expect, it } from "vitest";
import type { HealthAnswer } from "#db/queue/note-health.ts";
import type { HealthSign } from "#domain/breaker.ts";
import { type Observation, ReceiverHealth } from "./receiver-health.ts";

const NOW_MS = 1_000_000;
const LIMIT = 100;

function seen(sign: HealthSign, endedMs: number, more: Partial<Observation> = {}): Observation {
  return {
    destinationId: "d",
    sign,
    startedMs: endedMs - 10,
    endedMs,
    timedOut: false,
    gated: false,
    why: "503",
    ...more,
  };
}

const claimed = (more: Partial<Parameters<ReceiverHealth["learn"]>[1]> = {}) => ({
  watched: true,
  limited: false,
  ranDry: false,
  ...more,
});

const answer = (more: Partial<HealthAnswer> = {}): HealthAnswer => ({
  destinationId: "d",
  breaker: "closed",
  breakerUntilMs: null,
  breakerChanged: false,
  adaptiveLimit: 2,
  adaptiveChangedAtMs: null,
  adaptiveMoved: false,
  toDisable: false,
  ...more,
});

describe("what is reported", () => {
  it("FAIR-8 an ordinary success is not, nor a 429 of a destination without trouble", () => {
    const health = new ReceiverHealth();
    for (let n = 0; n < 500; n += 1) health.note(seen("success", NOW_MS + n));
    health.note(seen("limited", NOW_MS, { gated: true }));
    health.note(seen("none", NOW_MS));
    expect(health.take(NOW_MS + 1_000, LIMIT)).toEqual([]);
  });

  it("many outcomes of a destination are one report: what came after its last success and after its last answer", () => {
    const health = new ReceiverHealth();
    const script: [HealthSign, number][] = [
      ["down", 1],
      ["down", 2],
      ["success", 3],
      ["down", 4],
      ["refused", 5],
      ["down", 6],
      ["down", 7],
    ];
    for (const [sign, ms] of script) health.note(seen(sign, NOW_MS + ms));
    expect(health.take(NOW_MS + 10, LIMIT)).toEqual([
      {
        destination_id: "d",
        succeeded_ms: NOW_MS + 3,
        failures: 4,
        first_failure_ms: NOW_MS + 4,
        alive_ms: NOW_MS + 5,
        downs: 2,
        first_down_ms: NOW_MS + 6,
        last_down_started_ms: NOW_MS - 3,
        down_why: "503",
      },
    ]);
    expect(health.take(NOW_MS + 10, LIMIT)).toEqual([]);
  });

  it("a success is, once there was trouble: seen here, or told by a claim", () => {
    const here = new ReceiverHealth();
    here.note(seen("down", NOW_MS));
    here.take(NOW_MS, LIMIT);
    here.note(seen("success", NOW_MS + 1));
    expect(here.take(NOW_MS + 2, LIMIT)).toMatchObject([{ succeeded_ms: NOW_MS + 1, failures: 0 }]);
    const told = new ReceiverHealth();
    told.learn("d", claimed(), NOW_MS);
    told.note(seen("success", NOW_MS + 1));
    expect(told.take(NOW_MS + 2, LIMIT)).toHaveLength(1);
    told.learn("d", claimed({ watched: false }), NOW_MS + 3);
    told.note(seen("success", NOW_MS + 4));
    expect(told.take(NOW_MS + 5, LIMIT)).toEqual([]);
  });

  it("at most so many at once, the rest with the next call; and what did not arrive is told again", () => {
    const health = new ReceiverHealth();
    for (let n = 0; n < 5; n += 1) health.note(seen("down", NOW_MS, { destinationId: `d${n}` }));
    const first = health.take(NOW_MS, 3);
    expect(first).toHaveLength(3);
    health.note(seen("down", NOW_MS + 5, { destinationId: "d0" }));
    health.putBack(first);
    const again = health.take(NOW_MS + 9, 10);
    expect(again).toHaveLength(5);
    expect(again.find((row) => row.destination_id === "d0")).toMatchObject({
      failures: 2,
      downs: 2,
      first_down_ms: NOW_MS,
    });
  });
});

describe("a clean round", () => {
  function limited(): ReceiverHealth {
    const health = new ReceiverHealth();
    health.learn("d", claimed({ limited: true }), NOW_MS);
    return health;
  }

  it("FAIR-8 is told after half a second at the limit, with its successes", () => {
    const health = limited();
    health.note(seen("success", NOW_MS + 100));
    health.take(NOW_MS + 100, LIMIT);
    health.note(seen("success", NOW_MS + 400));
    expect(health.take(NOW_MS + 600, LIMIT)).toMatchObject([{ round_since_ms: NOW_MS, round_successes: 2 }]);
  });

  it("FAIR-8 ends with trouble, and when nothing waits behind the limit any more", () => {
    for (const trouble of [
      (health: ReceiverHealth) => health.note(seen("limited", NOW_MS + 50, { gated: true })),
      (health: ReceiverHealth) => health.note(seen("down", NOW_MS + 50, { timedOut: true })),
      (health: ReceiverHealth) => health.learn("d", claimed({ ranDry: true }), NOW_MS + 50),
    ]) {
      const health = limited();
      trouble(health);
      health.note(seen("success", NOW_MS + 400));
      for (const row of health.take(NOW_MS + 900, LIMIT)) expect(row.round_since_ms).toBeUndefined();
    }
  });

  it("FAIR-8 begins anew when the limit has moved, whoever moved it, and goes on when it was too small", () => {
    const health = limited();
    health.note(seen("success", NOW_MS + 100));
    health.answered(answer(), NOW_MS + 600);
    health.note(seen("success", NOW_MS + 700));
    expect(health.take(NOW_MS + 800, LIMIT)).toMatchObject([{ round_since_ms: NOW_MS, round_successes: 2 }]);
    health.answered(answer({ adaptiveChangedAtMs: NOW_MS + 790 }), NOW_MS + 800);
    health.note(seen("success", NOW_MS + 900));
    expect(health.take(NOW_MS + 1_400, LIMIT)).toMatchObject([
      { round_since_ms: NOW_MS + 800, round_successes: 1 },
    ]);
    health.answered(answer({ adaptiveLimit: null, adaptiveMoved: true }), NOW_MS + 1_400);
    health.note(seen("success", NOW_MS + 1_500));
    for (const row of health.take(NOW_MS + 3_000, LIMIT)) expect(row.round_since_ms).toBeUndefined();
  });
});

describe("timeouts", () => {
  it("FAIR-8 come with whether more was drained than before, and with the measured service time", () => {
    const health = new ReceiverHealth();
    health.take(NOW_MS, LIMIT);
    for (let n = 0; n < 10; n += 1) health.note(seen("success", NOW_MS + n));
    health.take(NOW_MS + 1_000, LIMIT);
    for (let n = 0; n < 10; n += 1) health.note(seen("success", NOW_MS + 1_000 + n));
    health.note(seen("down", NOW_MS + 1_500, { timedOut: true }));
    expect(health.take(NOW_MS + 1_500, LIMIT)).toMatchObject([
      { timeout_started_ms: NOW_MS + 1_490, drain_gained: true, service_ms: 10 },
    ]);
    health.take(NOW_MS + 2_000, LIMIT);
    health.note(seen("down", NOW_MS + 2_500, { timedOut: true }));
    expect(health.take(NOW_MS + 2_500, LIMIT)).toMatchObject([{ drain_gained: false }]);
  });
});
