/** The checker itself: what is planted is found, and only that; what a rate and a cap mean at the receiver. */
import { describe, expect, it } from "vitest";
import { judge, type Violations } from "./check.ts";
import { ALLOWED_MS, MOST_NETWORK_MS } from "./check-limits.ts";
import type { AttemptEvidence, Evidence, LedgerEntry, RequestEvidence } from "./evidence.ts";
import type { Place } from "./places.ts";

const T0 = Date.UTC(2026, 10, 30, 12);
const LEASE_MS = 5_000;
const WORKER = "worker-1";

const PLACES: Place[] = (["us", "eu"] as const).map((region) => ({
  name: "rated",
  tenant: "rated",
  path: "/ok/<name>",
  ratePerSecond: 10,
  rateBurst: 1,
  concurrencyLimit: 2,
  share: 1,
  region,
  tenantId: `tenant-${region}`,
  destinationId: `destination-${region}`,
  receiverName: `${region}/rated`,
}));

function entry(region: "us" | "eu", n: number): LedgerEntry {
  return {
    key: `key-${region}-${n}`,
    region,
    destinationId: `destination-${region}`,
    deliveryId: `delivery-${region}-${n}`,
    bodySha256: `body-${region}-${n}`,
  };
}

function requestOf({ key, region, deliveryId, bodySha256 }: LedgerEntry, atMs: number): RequestEvidence {
  return {
    arrivedAtMs: atMs,
    answeredAtMs: atMs + 5,
    receiverName: `${region}/rated`,
    key,
    deliveryId,
    attempt: 1,
    region,
    bodySha256,
    effect: "applied",
    status: 200,
  };
}

function attemptOf({ deliveryId, region }: LedgerEntry, atMs: number): AttemptEvidence {
  return {
    deliveryId,
    region,
    kind: "http",
    number: 1,
    workerId: WORKER,
    decision: "delivered",
    durationMs: 6,
    startedMs: atMs - 1,
    nextDueMs: null,
    recordedMs: atMs + 8,
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

/** Five deliveries of each region, 110 ms apart, all of them as they should be. */
function sound(): Mutable<Evidence> {
  const numbers = [0, 1, 2, 3, 4];
  const of = (region: "us" | "eu") => numbers.map((n) => entry(region, n));
  const atMs = (n: number) => T0 + n * 110;
  const ledger = [...of("us"), ...of("eu")];
  const rows = (region: "us" | "eu") =>
    of(region).map(({ deliveryId, key, destinationId }) => ({
      id: deliveryId,
      region: region as string,
      key,
      destinationId,
      state: "delivered",
      reason: null as string | null,
      attempts: 1,
      firstDueMs: T0 - 10,
    }));
  return {
    ledger,
    rolledBackKeys: ["rolled-back"],
    places: PLACES,
    rows: { us: rows("us"), eu: rows("eu") },
    attempts: {
      us: of("us").map((each, n) => attemptOf(each, atMs(n))),
      eu: of("eu").map((each, n) => attemptOf(each, atMs(n))),
    },
    requests: [...of("us"), ...of("eu")].map((each, index) => requestOf(each, atMs(index % 5))),
    peaks: { "us/rated": 2, "eu/rated": 1 },
    harms: [],
    forgotten: 0,
    leaseMs: LEASE_MS,
  };
}

const counts = (violations: Violations) =>
  Object.fromEntries(
    Object.entries(violations)
      .map(([name, cases]) => [name, cases.length] as const)
      .filter(([, count]) => count > 0),
  );

/** Judges sound evidence after a change. */
function judgedWith(change: (evidence: Mutable<Evidence>) => void) {
  const evidence = sound();
  change(evidence);
  return judge(evidence as Evidence);
}

const FIRST = entry("us", 0);

/** What becomes of the first delivery when its lease is lost `times` times before it is delivered, or dies. */
function loseLeases(evidence: Mutable<Evidence>, times: number, dies = false): void {
  const lost = Array.from({ length: times }, (_, n) => ({
    ...attemptOf(FIRST, T0 + n * 6_000),
    kind: "lease_expired" as const,
    number: n + 1,
    startedMs: T0 + n * 6_000,
    decision: dies && n === times - 1 ? "dead" : "delayed",
    nextDueMs: T0 - 10,
  }));
  const [own, ...others] = evidence.attempts.us;
  const last = { ...(own as AttemptEvidence), number: times + 1 };
  evidence.attempts = { ...evidence.attempts, us: [...lost, ...(dies ? [] : [last]), ...others] };
  const [row, ...rows] = evidence.rows.us;
  if (row === undefined) throw new Error("no row");
  const state = dies ? { state: "dead", reason: "worker_lost", attempts: times } : { attempts: times + 1 };
  evidence.rows = { ...evidence.rows, us: [{ ...row, ...state }, ...rows] };
  evidence.requests = evidence.requests.flatMap((request) => {
    if (request.deliveryId !== FIRST.deliveryId) return [request];
    return dies ? [] : [{ ...request, attempt: times + 1 }];
  });
}

describe("evidence of a run in which all was well", () => {
  it("has no violation, and every check has looked at something", () => {
    const { violations, checked, zombies } = judge(sound() as Evidence);
    expect(counts(violations)).toEqual({});
    expect(checked).toMatchObject({ ledger: 10, requests: 10, effects: 10, ratedRequests: 10, bodies: 10 });
    expect(zombies).toEqual([]);
  });
});

describe("a planted violation is found, and nothing else with it", () => {
  it.each<[string, Record<string, number>, (evidence: Mutable<Evidence>) => void]>([
    [
      "a lost row",
      { lost: 1 },
      (evidence) => {
        evidence.rows = { ...evidence.rows, us: evidence.rows.us.slice(1) };
      },
    ],
    [
      "a delivery that has not come to its end",
      { lost: 1 },
      (evidence) => {
        const [row, ...rows] = evidence.rows.eu;
        if (row !== undefined)
          evidence.rows = { ...evidence.rows, eu: [{ ...row, state: "delayed" }, ...rows] };
      },
    ],
    [
      "a delivery that is called delivered and had no effect",
      { lost: 1 },
      (evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 3 ? { ...request, effect: "none" } : request,
        );
      },
    ],
    [
      "a doubled effect",
      { doubleEffects: 1 },
      (evidence) => {
        const again = requestOf(FIRST, T0 + 20_000);
        evidence.requests.push(again);
      },
    ],
    [
      "a delivery that stands in two rows",
      { doubleEffects: 1 },
      (evidence) => {
        const [row] = evidence.rows.us;
        if (row !== undefined) evidence.rows = { ...evidence.rows, us: [...evidence.rows.us, row] };
      },
    ],
    [
      "a request of another region",
      { crossRegion: 1 },
      (evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 0 ? { ...request, region: "eu" } : request,
        );
      },
    ],
    [
      "a request at another region's destination",
      { crossRegion: 1 },
      (evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 0 ? { ...request, receiverName: "eu/rated", arrivedAtMs: T0 + 20_000 } : request,
        );
      },
    ],
    [
      "a row in another region's database",
      { crossRegion: 1 },
      (evidence) => {
        const [row, ...rows] = evidence.rows.us;
        if (row !== undefined) evidence.rows = { us: rows, eu: [...evidence.rows.eu, row] };
      },
    ],
    [
      "an over-send",
      { capBreaches: 1 },
      (evidence) => {
        const shift = ALLOWED_MS + 12;
        const move = (atMs: number) => atMs - shift;
        evidence.requests = evidence.requests.map((request, index) =>
          index === 2 ? { ...request, arrivedAtMs: move(request.arrivedAtMs) } : request,
        );
        evidence.attempts = {
          ...evidence.attempts,
          us: evidence.attempts.us.map((each, index) =>
            index === 2 ? { ...each, startedMs: move(each.startedMs) } : each,
          ),
        };
      },
    ],
    [
      "one more at a time than the cap",
      { capBreaches: 1 },
      (evidence) => {
        evidence.peaks = { ...evidence.peaks, "us/rated": 3 };
      },
    ],
    [
      "a request before its due time",
      { early: 1 },
      (evidence) => {
        const [row, ...rows] = evidence.rows.us;
        if (row !== undefined)
          evidence.rows = { ...evidence.rows, us: [{ ...row, firstDueMs: T0 + 50 }, ...rows] };
      },
    ],
    [
      "another key",
      { changed: 1 },
      (evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 1 ? { ...request, key: "minted" } : request,
        );
      },
    ],
    [
      "another body",
      { changed: 1 },
      (evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 1 ? { ...request, bodySha256: "other" } : request,
        );
      },
    ],
    [
      "a row of a transaction that was rolled back",
      { phantoms: 1 },
      (evidence) => {
        const [row] = evidence.rows.us;
        if (row === undefined) return;
        evidence.rows = {
          ...evidence.rows,
          us: [...evidence.rows.us, { ...row, id: "ghost", key: "rolled-back" }],
        };
      },
    ],
    [
      "a number that stands for two attempts",
      { misnumbered: 1 },
      (evidence) => {
        const [attempt] = evidence.attempts.us;
        if (attempt !== undefined)
          evidence.attempts = { ...evidence.attempts, us: [...evidence.attempts.us, attempt] };
      },
    ],
  ])("%s", (_name, expected, plant) => {
    expect(counts(judgedWith(plant).violations)).toEqual(expected);
  });
});

describe("a dead letter worker_lost", () => {
  const kill = (n: number) => ({
    workerId: WORKER,
    what: "killed" as const,
    fromMs: T0 + n * 6_000 + 100,
    toMs: Number.POSITIVE_INFINITY,
  });

  it("is lost when nobody killed its holders", () => {
    const { violations, excused } = judgedWith((evidence) => loseLeases(evidence, 3, true));
    expect(counts(violations)).toEqual({ lost: 1 });
    expect(excused).toBe(0);
  });

  it("is lost when its holders were killed twice only", () => {
    const { violations } = judgedWith((evidence) => {
      loseLeases(evidence, 3, true);
      // What ends within the next lease is over by then.
      evidence.harms = [0, 1].map((n) => ({ ...kill(n), toMs: T0 + n * 6_000 + 5_500 }));
    });
    expect(counts(violations)).toEqual({ lost: 1 });
  });

  it("is excused when the harness took its holder away three times", () => {
    const { violations, excused } = judgedWith((evidence) => {
      loseLeases(evidence, 3, true);
      evidence.harms = [0, 1, 2].map(kill);
    });
    expect(counts(violations)).toEqual({});
    expect(excused).toBe(1);
  });
});

describe("a zombie", () => {
  /** The first delivery was sent, its sender stood still, another one delivered it. */
  function stopped(lateMs: number, stoppedForMs: number) {
    return judgedWith((evidence) => {
      loseLeases(evidence, 1);
      evidence.requests.push({ ...requestOf(FIRST, T0 + lateMs), attempt: 1, effect: "repeated" });
      evidence.harms = [{ workerId: WORKER, what: "stopped", fromMs: T0 + 10, toMs: T0 + 10 + stoppedForMs }];
    });
  }

  it("is a request whose sender stood still for longer than its lease", () => {
    const { zombies } = stopped(5, LEASE_MS + 1_000);
    expect(zombies).toEqual([{ deliveryId: FIRST.deliveryId, attempt: 1, isLate: false, isHealed: true }]);
    expect(stopped(5, LEASE_MS - 1_000).zombies).toEqual([]);
  });

  it("is late when it arrived after its lease", () => {
    expect(stopped(LEASE_MS + 10, LEASE_MS + 1_000).zombies).toMatchObject([{ isLate: true }]);
  });
});

describe("a start", () => {
  it("is what its attempt says, unless the network cannot explain the rest", () => {
    // Arrives together with the one before it, but had started in time and was long on its way.
    const delayed = (byMs: number) =>
      judgedWith((evidence) => {
        evidence.requests = evidence.requests.map((request, index) =>
          index === 0 ? { ...request, arrivedAtMs: T0 + byMs } : request,
        );
      });
    expect(counts(delayed(100).violations)).toEqual({});
    expect(counts(delayed(MOST_NETWORK_MS + 100).violations)).toEqual({ capBreaches: 1 });
  });
});
