/** CTL-1 one control in several regions: a command with its own version for each, and what is done is never sent again. */
import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { TenantControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { type ControlRequest, commandPath } from "./control-request.ts";
import {
  doneRegions,
  type FoundTwin,
  leastPauseMs,
  mergeResults,
  pendingParts,
  type RegionResult,
  refuseTwin,
  regionParts,
  resultsWords,
  twinWords,
  whereOfRegions,
  withoutFailed,
} from "./region-parts.ts";

const HOUR_MS = 3_600_000;
const request: ControlRequest = {
  target: { kind: "tenant", region: "us", id: "ten_1", name: "Acme" },
  verb: "pause",
};

function twin(part: object = {}): FoundTwin {
  const view = {
    id: "ten_2",
    name: "Acme Europe",
    version: 9,
    pause: { until: null },
    inFlight: 3,
    due: { count: 1_200, more: true, oldestMs: 1 },
    held: { count: 0, more: false, oldestMs: null },
    permit: { pause: { allowed: true } },
    ...part,
  };
  return { region: "eu", at: "found", view: view as unknown as TenantControlView };
}

const requestIn = (region: Region): ControlRequest => ({ ...request, target: { ...request.target, region } });
const done = (region: Region): RegionResult => ({
  region,
  request: requestIn(region),
  at: "done",
  answer: { version: 2 } as CommandAnswer,
});
const failed = (region: Region): RegionResult => ({
  region,
  request: requestIn(region),
  at: "failed",
  error: new Error("no answer"),
});

describe("the commands", () => {
  const parts = regionParts(request, { end: { forMs: HOUR_MS } }, 4, [twin()]);

  it("are one for each region, with the row and the version of that region", () => {
    expect(parts.map(({ request: of, version }) => [commandPath(of), version])).toEqual([
      ["/api/v1/tenants/ten_1/pause?region=us", 4],
      ["/api/v1/tenants/ten_2/pause?region=eu", 9],
    ]);
    expect(parts.map(({ body }) => body)).toEqual([{ end: { forMs: HOUR_MS } }, { end: { forMs: HOUR_MS } }]);
    expect(regionParts(request, {}, 4, [])).toHaveLength(1);
  });

  it("a region that failed is sent again, one that is done never", () => {
    const left = (results: RegionResult[]) =>
      pendingParts(parts, results).map((part) => part.request.target.region);
    expect(left([])).toEqual(["us", "eu"]);
    expect(left([done("us"), failed("eu")])).toEqual(["eu"]);
    expect(left([failed("us"), done("eu")])).toEqual(["us"]);
    expect(left([done("us"), done("eu")])).toEqual([]);
  });
});

describe("the results", () => {
  it("the newest of each region counts; reading the values again ends only the refusals", () => {
    const first = mergeResults([], [failed("eu"), done("us")]);
    expect(first.map(({ region, at }) => [region, at])).toEqual([
      ["us", "done"],
      ["eu", "failed"],
    ]);
    expect(doneRegions(mergeResults(first, [done("eu")]))).toEqual(["us", "eu"]);
    expect(withoutFailed(first)).toEqual([done("us")]);
  });

  it("are said for each region", () => {
    expect(resultsWords([done("us"), failed("eu")])).toBe("Done in US. Not done in EU.");
    expect(resultsWords([failed("us"), failed("eu")])).toBe("Not done in US and EU.");
    expect(resultsWords([done("us")])).toBe("Done in US.");
    expect(whereOfRegions("Acme", ["eu", "us"])).toBe("Acme, US and EU");
  });
});

describe("a twin", () => {
  it("is offered with its own state, and with the reason where it cannot be chosen", () => {
    expect(twinWords(twin())).toBe("Not paused. In flight 3, due 1,200+, held 0.");
    expect(refuseTwin(twin(), "pause")).toBeNull();
    expect(refuseTwin(twin(), "resume")).toMatch(/^Not paused/);
    expect(refuseTwin(twin({ pause: { until: "2026-12-01T12:00:00.000Z" } }), "resume")).toBeNull();
    const refused = { pause: { allowed: false, reason: "Needs the role support." } };
    expect(refuseTwin(twin({ permit: refused }), "pause")).toBe("Needs the role support.");
  });

  it("shortens the longest pause to what the caller may in every chosen region", () => {
    const may = (maxPauseMs?: number) =>
      ({
        permit: { pause: { allowed: true, ...(maxPauseMs === undefined ? {} : { maxPauseMs }) } },
      }) as never;
    expect(leastPauseMs([may(), may(4 * HOUR_MS), may(24 * HOUR_MS)])).toBe(4 * HOUR_MS);
    expect(leastPauseMs([may()])).toBeUndefined();
  });
});
