/**
 * A small run with real processes and a real Postgres that is restarted under them: PROOF-6 and the promises of leases
 * hold, and the checker finds what is planted into the very evidence of that run.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type ChaosResult, orderOfFaults, runChaos } from "./chaos.ts";
import { judge } from "./check.ts";
import { type ChaosOptions, readOptions } from "./config.ts";
import type { Evidence, RequestEvidence } from "./evidence.ts";
import { ALL_KINDS, FAULT_KINDS, type FaultKind } from "./kinds.ts";
import { chanceFrom } from "./random.ts";
import { summarise } from "./summary.ts";

const KINDS: FaultKind[] = [
  "kill",
  "zombie",
  "stop",
  "restart_fast",
  "restart_immediate",
  "claim_reply_lost",
  "finish_reply_lost",
  "jobs_deleted",
  "bad_response",
  "barrier_beside_claim",
];
const OPTIONS: ChaosOptions = {
  faults: KINDS.length,
  seconds: 12,
  perSecond: 200,
  seed: 20_261_130,
  kinds: KINDS,
  workers: 2,
  json: true,
  evidenceFile: null,
  verbose: false,
  serverUrls: null,
};
const RUN_MS = 360_000;

let result: ChaosResult;

beforeAll(async () => {
  result = await runChaos(OPTIONS, () => undefined);
}, RUN_MS);

/** The run's evidence with one thing changed, judged. */
function planted(change: Partial<Evidence>): Record<string, string[]> {
  return { ...judge({ ...result.evidence, ...change }).violations };
}

/** A request that stands for a delivered one, of a place that has no limit of its own. */
function anyRequest(region: "us" | "eu"): RequestEvidence {
  const found = result.evidence.requests.find(
    (request) => request.receiverName === `${region}/plain-1` && request.effect === "applied",
  );
  if (found === undefined) throw new Error("no request");
  return found;
}

describe("ten faults", () => {
  it("each took effect, and nothing was lost, doubled, sent early, changed or sent across regions", () => {
    expect(result.faultsByKind).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, 1])));
    const { capBreaches, ...violations } = result.judgement.violations;
    for (const [name, cases] of Object.entries(violations)) expect(cases, name).toEqual([]);
    // How near two starts of different processes come is a matter of time, which a busy machine does not have.
    expect(capBreaches.filter((line) => line.includes("at a time"))).toEqual([]);
    expect(result.findings.controlBreaches).toEqual([]);
    expect(result.unexpectedExits).toEqual([]);
    expect(result.restless).toEqual([]);
  });

  it("had something to look at in every check, in both regions", () => {
    const { checked, zombies } = result.judgement;
    expect(checked.ledger).toBeGreaterThanOrEqual(OPTIONS.faults * 250);
    for (const [name, count] of Object.entries(checked)) {
      // Whether a zombie's answer came before its lease ended is a matter of the moment.
      if (name !== "staleResults" && name !== "rolledBack") expect(count, name).toBeGreaterThan(0);
    }
    expect(zombies.filter(({ isHealed }) => !isHealed)).toEqual([]);
    expect(result.evidence.forgotten).toBe(0);
  });

  it("is summed up with the fields that people and programs look for", () => {
    const { summary } = summarise(result);
    expect(summary).toMatchObject({
      seed: OPTIONS.seed,
      faults: KINDS.length,
      lost: 0,
      doubleEffects: 0,
      crossRegion: 0,
      deliveries: result.evidence.ledger.length,
      faultsByKind: result.faultsByKind,
      zombies: expect.any(Number),
      capBreaches: expect.any(Number),
      seconds: expect.any(Number),
    });
  });
});

describe("planted into the evidence of that run", () => {
  it("a lost row is reported", () => {
    const { rows } = result.evidence;
    const [gone, ...us] = rows.us;
    const { lost } = planted({ rows: { ...rows, us } });
    expect(lost).toEqual([`${gone?.key} has no row`]);
  });

  it("a doubled effect is reported", () => {
    const again = anyRequest("eu");
    const { doubleEffects } = planted({ requests: [...result.evidence.requests, again] });
    expect(doubleEffects).toEqual([`${again.deliveryId} had 2 effects`]);
  });

  it("a foreign region is reported, at the receiver and in the database", () => {
    const request = anyRequest("us");
    const foreign = { ...request, region: "eu", effect: "repeated" as const };
    expect(planted({ requests: [...result.evidence.requests, foreign] }).crossRegion).toHaveLength(1);
    const { rows } = result.evidence;
    const [row] = rows.us;
    if (row === undefined) throw new Error("no row");
    expect(planted({ rows: { us: rows.us.slice(1), eu: [...rows.eu, row] } }).crossRegion).toHaveLength(1);
  });

  it("an over-send is reported: a second too early, and one more at a time than the cap", () => {
    const before = planted({}).capBreaches ?? [];
    const paced = result.evidence.requests.filter(({ receiverName }) => receiverName === "us/paced");
    const [first] = paced;
    if (first === undefined) throw new Error("no request");
    // Ten more at the moment of the first: no rate of this place allows that.
    const burst = Array.from({ length: 10 }, (_, n) => ({
      ...first,
      attempt: 100 + n,
      effect: "repeated" as const,
    }));
    const more = planted({ requests: [...result.evidence.requests, ...burst] }).capBreaches ?? [];
    expect(more.filter((line) => line.startsWith("us/paced: a window"))).toHaveLength(1);
    const peaks = { ...result.evidence.peaks, "eu/capped": 3 };
    const capped = planted({ peaks }).capBreaches ?? [];
    expect(capped.filter((line) => !before.includes(line))).toEqual([
      "eu/capped: 3 at a time, 2 are allowed",
    ]);
  });

  it("a request that was never written, a changed key and a changed body are reported", () => {
    const request = { ...anyRequest("us"), effect: "repeated" as const };
    const add = (change: Partial<RequestEvidence>) =>
      planted({ requests: [...result.evidence.requests, { ...request, ...change }] });
    expect(add({ deliveryId: "00000000-0000-7000-8000-000000000000" }).phantoms).toHaveLength(1);
    expect(add({ key: "minted" }).changed).toHaveLength(1);
    expect(add({ bodySha256: "0" }).changed).toHaveLength(1);
  });
});

describe("a run that shows nothing fails", () => {
  const problems = (change: Partial<ChaosResult>) => summarise({ ...result, ...change }).problems.join("\n");

  it("when a kind never happened", () => {
    const faultsByKind = { ...result.faultsByKind, kill: 0 };
    expect(problems({ faultsByKind })).toContain("these kinds of faults never happened: kill");
  });

  it("when a check had nothing to look at", () => {
    const evidence: Evidence = { ...result.evidence, requests: [] };
    expect(problems({ evidence, judgement: judge(evidence) })).toContain("had nothing to look at: requests");
  });

  it("when the receiver has forgotten something, when it does not come to rest, when a worker ends by itself", () => {
    const evidence: Evidence = { ...result.evidence, forgotten: 3 };
    expect(problems({ evidence })).toContain("has forgotten 3");
    expect(problems({ restless: ["us: 3 live"] })).toContain("us: 3 live");
    expect(problems({ unexpectedExits: ["us-1 ended with 1"] })).toContain("us-1 ended with 1");
  });
});

describe("the faults of a run", () => {
  it("come in the same order from the same seed, each kind about equally often", () => {
    const options = { faults: 200, kinds: ALL_KINDS, seed: 4 };
    const order = orderOfFaults(options);
    expect(order).toEqual(orderOfFaults(options));
    expect(order).not.toEqual(orderOfFaults({ ...options, seed: 5 }));
    const counts = ALL_KINDS.map((kind) => order.filter((each) => each === kind).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Object.values(FAULT_KINDS).every((text) => text.length > 0)).toBe(true);
  });

  it("are drawn from chance that is even", () => {
    const chance = chanceFrom(1);
    const drawn = Array.from({ length: 10_000 }, () => chance.between(0, 9));
    for (let value = 0; value < 10; value++) {
      const count = drawn.filter((each) => each === value).length;
      expect(count).toBeGreaterThan(800);
      expect(count).toBeLessThan(1_200);
    }
  });
});

describe("the command line", () => {
  it("reads its options, and takes a seed of its own when none is given", () => {
    expect(readOptions(["--faults", "200", "--json"], {})).toMatchObject({
      faults: 200,
      json: true,
      seconds: 200,
    });
    const { seed } = readOptions([], {});
    expect(Number.isInteger(seed)).toBe(true);
    expect(readOptions(["--seed", "0"], {}).seed).toBe(0);
  });

  it.each([
    [["--faults", "0"], /--faults must be/],
    [["--faults", "3"], /too few for/],
    [["--kinds", "earthquake"], /earthquake is none of/],
    [["--seconds", "x"], /--seconds must be/],
  ])("refuses %j", (args, message) => expect(() => readOptions(args, {})).toThrow(message));

  it("leaves a given server running", () => {
    const given = { DATABASE_URL_US: "postgres://u@h/us", DATABASE_URL_EU: "postgres://u@h/eu" };
    expect(readOptions([], given).kinds).not.toContain("restart_fast");
    expect(() => readOptions(["--kinds", "restart_fast"], given)).toThrow(/is none of/);
  });
});
