/** The text that a monitoring system reads: parsed back here by the rules of the format, not compared as a picture. */
import { describe, expect, test } from "vitest";
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DEFAULT_OBJECTIVES, thresholdsOf } from "#domain/objectives.ts";
import { HELD_REASONS } from "#domain/queue-age.ts";
import { metricsText } from "./metrics-text.ts";

const AS_OF = "2026-12-01T02:00:00.500Z";
const TREND = {
  oldestMs: [],
  firstAttemptP95Ms: [],
  dueMs: [],
  due: [],
  dead: [],
  inFlight: [],
  rateLimitedShare: [],
  expiredLeases: [],
};

const BUSY: RegionOverview = {
  verdict: {
    level: "on_time",
    because: null,
    firstAttempt: { serviceClass: "urgent", oldestMs: 1_500, targetMs: 5_000 },
    tenantsAffected: 0,
  },
  thresholds: thresholdsOf(DEFAULT_OBJECTIVES),
  firstAttempt: [
    { serviceClass: "urgent", oldestMs: 1_500, tenantsLate: 2 },
    { serviceClass: "routine", oldestMs: 0, tenantsLate: 0 },
  ],
  due: { count: 12, oldestMs: 61_000 },
  delayedLag: { count: 3, oldestMs: 2_000 },
  gated: 4,
  ready: 20,
  delayed: 5,
  inFlight: 7,
  slots: 64,
  deadLetters: { count: 9, oldestMs: 3_600_000, added: 1 },
  amplification: 1.1,
  held: [{ why: "tenant_paused", count: 6, oldestMs: 9_000 }],
  pausedTenants: 1,
  workers: { running: 2, lastHeartbeatAt: AS_OF },
  draining: null,
  lastSampleAt: "2026-12-01T01:59:50.500Z",
  countedAt: "2026-12-01T01:59:58.000Z",
  tenants: [],
  tenantsLeftOut: 0,
  noise: { verdict: "too_little", minutes: 5, tenants: [] },
  recent: {
    firstAttemptP95: { serviceClass: "routine", ms: 840, targetMs: 60_000 },
    rateLimitedShare: 0.125,
    requests: 80,
    expiredLeases: 3,
    deliveredLastHour: 900,
  },
  triedShares: [
    { serviceClass: "urgent", targetMs: 5_000, tried: 4, within: 3, waitingLate: 0, share: 0.75 },
    { serviceClass: "routine", targetMs: 60_000, tried: 0, within: 0, waitingLate: 0, share: null },
  ],
  trends: TREND,
};

const ok = (region: "us" | "eu", data: RegionOverview): RegionAnswer<RegionOverview> => ({
  region,
  status: "ok",
  asOf: AS_OF,
  data,
});

const COMMENT = /^# (HELP|TYPE) (sluice_[a-z0-9_]+) (\S.*)$/;
const SAMPLE =
  /^(sluice_[a-z0-9_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** `name{labels}` to its value. Fails on a line that is not of the format, on one twice, and on a family in two pieces. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const families = new Set<string>();
  let current = "";
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = COMMENT.exec(line);
    if (comment?.[1] === "HELP") {
      current = String(comment[2]);
      expect(families, line).not.toContain(current);
      families.add(current);
      continue;
    }
    if (comment !== null) {
      expect([comment[2], comment[3]], line).toEqual([current, "gauge"]);
      continue;
    }
    const [, name, labels, value] = SAMPLE.exec(line) ?? [];
    expect(name, line).toBe(current);
    const key = `${name}{${labels}}`;
    expect(values.has(key), line).toBe(false);
    values.set(key, Number(value));
  }
  return values;
}

describe("GET /metrics", () => {
  test("says each number once, in seconds and counts, with its region", () => {
    const values = parse(metricsText([ok("us", BUSY)]));
    expect(Object.fromEntries(values)).toMatchObject({
      'sluice_region_up{region="us"}': 1,
      'sluice_answer_timestamp_seconds{region="us"}': Date.parse(AS_OF) / 1_000,
      'sluice_first_attempt_oldest_seconds{region="us",class="urgent"}': 1.5,
      'sluice_first_attempt_oldest_seconds{region="us",class="routine"}': 0,
      'sluice_first_attempt_late_tenants{region="us",class="urgent"}': 2,
      'sluice_first_attempt_p95_seconds{region="us",class="routine"}': 0.84,
      'sluice_first_attempt_within_target_ratio{region="us",class="urgent"}': 0.75,
      'sluice_first_attempt_target_seconds{region="us",class="routine"}': 120,
      'sluice_first_attempt_page_seconds{region="us",class="urgent"}': 60,
      'sluice_due_page_seconds{region="us"}': 60,
      'sluice_due_oldest_seconds{region="us"}': 61,
      'sluice_due{region="us"}': 12,
      'sluice_gated{region="us"}': 4,
      'sluice_held{region="us",reason="tenant_paused"}': 6,
      'sluice_held_oldest_seconds{region="us",reason="tenant_paused"}': 9,
      'sluice_in_flight{region="us"}': 7,
      'sluice_in_flight_limit{region="us"}': 64,
      'sluice_dead_letters{region="us"}': 9,
      'sluice_dead_letter_oldest_seconds{region="us"}': 3_600,
      'sluice_rate_limited_ratio{region="us"}': 0.125,
      'sluice_expired_leases{region="us"}': 3,
      'sluice_workers{region="us"}': 2,
      'sluice_claims_stopped{region="us"}': 0,
      'sluice_sample_age_seconds{region="us"}': 10,
      'sluice_counted_age_seconds{region="us"}': 2.5,
    });
    for (const reason of HELD_REASONS)
      expect(values.has(`sluice_held{region="us",reason="${reason}"}`)).toBe(true);
  });

  test("REG-3 a region that does not answer is down and has no other line: no number of it is a zero", () => {
    const down: RegionAnswer<RegionOverview> = {
      region: "eu",
      status: "unavailable",
      detail: "It did not answer.",
    };
    const values = parse(metricsText([ok("us", BUSY), down]));
    expect([...values].filter(([key]) => key.includes('region="eu"'))).toEqual([
      ['sluice_region_up{region="eu"}', 0],
    ]);
    expect([...parse(metricsText([down]))]).toEqual([['sluice_region_up{region="eu"}', 0]]);
  });

  test("what is not known has no line", () => {
    const fresh: RegionOverview = {
      ...BUSY,
      lastSampleAt: null,
      countedAt: null,
      recent: { ...BUSY.recent, firstAttemptP95: null, rateLimitedShare: null, requests: 0 },
    };
    const text = metricsText([ok("us", fresh)]);
    parse(text);
    for (const name of ["first_attempt_p95", "rate_limited_ratio", "sample_age", "counted_age"]) {
      expect(text).not.toContain(name);
    }
    expect(text).not.toContain('within_target_ratio{region="us",class="routine"}');
  });

  test("a region whose claims are stopped says so, and a reason that nobody knew is written safely", () => {
    const stopped: RegionOverview = {
      ...BUSY,
      draining: { since: AS_OF, reason: "a drill" },
      held: [{ why: 'a "new"\nreason\\', count: 1, oldestMs: 1_000 }],
    };
    const values = parse(metricsText([ok("eu", stopped), ok("us", BUSY)]));
    expect(values.get('sluice_claims_stopped{region="eu"}')).toBe(1);
    expect(values.get('sluice_held{region="eu",reason="a \\"new\\"\\nreason\\\\"}')).toBe(1);
    expect(values.get('sluice_held{region="us",reason="tenant_paused"}')).toBe(6);
  });
});
