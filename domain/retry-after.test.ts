import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RETRY_AFTER_KINDS, readHttpDate, readRetryAfter } from "./retry-after.ts";

interface Row {
  header: string | null;
  seconds?: number;
  fallback?: boolean;
  clamped?: "max";
}

const table = JSON.parse(readFileSync(new URL("./testdata/retry-after.json", import.meta.url), "utf8")) as {
  now: string;
  minSeconds: number;
  maxSeconds: number;
  cases: Row[];
};
const NOW_MS = Date.parse(table.now);
const ZONES = [
  { zone: "UTC", offsetMinutes: 0 },
  { zone: "America/New_York", offsetMinutes: 300 },
];

/** A process reads TZ once, when it starts, so each zone gets a child of its own that reads the whole table. */
const READ_TABLE = `
  const { readRetryAfter } = await import(process.argv[1]);
  const { nowMs, headers } = JSON.parse(process.argv[2]);
  const readings = headers.map((header) => readRetryAfter(header, nowMs));
  console.log(JSON.stringify({ offsetMinutes: new Date(nowMs).getTimezoneOffset(), readings }));
`;

function inZone(zone: string): { offsetMinutes: number; readings: ReturnType<typeof readRetryAfter>[] } {
  const moduleUrl = new URL("./retry-after.ts", import.meta.url).href;
  const input = JSON.stringify({ nowMs: NOW_MS, headers: table.cases.map((row) => row.header) });
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", READ_TABLE, moduleUrl, input], {
    env: { TZ: zone, NODE_ENV: "test" },
    encoding: "utf8",
    timeout: 30_000,
  });
  expect(child.stderr).toBe("");
  return JSON.parse(child.stdout);
}

describe.each(ZONES)("RETRY-4 the Retry-After table in $zone", ({ zone, offsetMinutes }) => {
  const result = inZone(zone);

  it("runs in that zone and has every row", () => {
    expect(result.offsetMinutes).toBe(offsetMinutes);
    expect(result.readings).toHaveLength(table.cases.length);
    expect(table.cases.length).toBeGreaterThanOrEqual(36);
  });

  it.each(table.cases.map((row, index) => ({ row, index, name: JSON.stringify(row.header) })))(
    "$name",
    ({ row, index }) => {
      const { delayMs } = result.readings[index] ?? { delayMs: Number.NaN };
      if (row.fallback) {
        expect(delayMs).toBeNull();
        return;
      }
      const clampedMs = Math.min(
        Math.max(delayMs ?? Number.NaN, table.minSeconds * 1000),
        table.maxSeconds * 1000,
      );
      expect(clampedMs).toBe((row.seconds ?? Number.NaN) * 1000);
      expect((delayMs ?? 0) > table.maxSeconds * 1000).toBe(row.clamped === "max");
    },
  );
});

describe("reading Retry-After", () => {
  it.each([
    [null, "absent"],
    ["", "invalid"],
    ["soon", "invalid"],
    ["0", "zero"],
    ["000.00", "zero"],
    ["-5", "negative"],
    ["-0.5", "negative"],
    ["1", "seconds"],
    ["Mon, 30 Nov 2026 12:00:01 GMT", "date"],
    ["Mon, 30 Nov 2026 12:00:00 GMT", "past"],
  ] as const)("RETRY-7 says how it read %j: %s", (header, kind) => {
    expect(readRetryAfter(header, NOW_MS).kind).toBe(kind);
    expect(RETRY_AFTER_KINDS).toContain(kind);
  });

  it.each([
    ["1.0", 1000],
    ["0.000000000000000000001", 1000],
    ["\t 7\t", 7000],
    [`${"0".repeat(5000)}7`, 7000],
    ["9".repeat(16_000), Number.MAX_SAFE_INTEGER],
    ["999999999999999", Number.MAX_SAFE_INTEGER],
    ["9007199254740", 9_007_199_254_740_000],
  ])("RETRY-4 reads seconds of any length: %#", (header, delayMs) => {
    expect(readRetryAfter(header, NOW_MS)).toEqual({ kind: "seconds", delayMs });
  });

  it.each([
    "\u00a0120",
    "120\n",
    "\u0661\u0662\u0660",
    ".5",
    "1.",
    "--5",
    "-",
    "120, 60",
    "Mon, 30 Nov 2026 24:00:00 GMT",
    "Mon, 30 Nov 2026 12:60:00 GMT",
    "Mon, 30 Nov 2026 12:02:61 GMT",
    "Mon, 31 Nov 2026 12:02:00 GMT",
    "Mon, 00 Dec 2026 12:02:00 GMT",
    "Mon, 29 Feb 2027 12:02:00 GMT",
    "Mon, 1 Dec 2026 12:02:00 GMT",
    "Mon, 30 nov 2026 12:02:00 GMT",
    "Mon, 30 Nov 26 12:02:00 GMT",
    "Xyz, 30 Nov 2026 12:02:00 GMT",
    "Mon, 30 Nov 2026 12:02:00 gmt",
    "Mon, 30 Nov 2026 12:02:00 GMT+1",
    "Mon, 30 Nov 2026 12:02:00",
    "Mon  Nov 30 12:02:00 2026",
    "Mon Nov 30 12:02:00 2026 GMT",
    "Tue Dec 1 12:02:00 2026",
  ])("RETRY-5 does not guess: %j is invalid", (header) => {
    expect(readRetryAfter(header, NOW_MS)).toEqual({ kind: "invalid", delayMs: null });
  });

  it("RETRY-4 accepts a one-digit day in asctime, a wrong weekday, and 29 February of leap years", () => {
    expect(readRetryAfter("Tue Dec  1 12:00:00 2026", NOW_MS).delayMs).toBe(86_400_000);
    expect(readRetryAfter("Sun, 01 Dec 2026 12:00:00 GMT", NOW_MS).delayMs).toBe(86_400_000);
    expect(readHttpDate("Tue, 29 Feb 2028 00:00:00 GMT", NOW_MS)).toBe(Date.UTC(2028, 1, 29));
    expect(readHttpDate("Tue, 29 Feb 2100 00:00:00 GMT", NOW_MS)).toBeNull();
    expect(readHttpDate("Sat, 01 Jan 0050 00:00:00 GMT", NOW_MS)).toBe(new Date(0).setUTCFullYear(50, 0, 1));
  });

  it.each([
    ["Monday, 30-Nov-76 12:00:00 GMT", 2076],
    ["Monday, 30-Nov-76 12:00:01 GMT", 1976],
    ["Monday, 01-Jan-77 00:00:00 GMT", 1977],
    ["Monday, 31-Dec-99 23:59:59 GMT", 1999],
    ["Monday, 01-Jan-00 00:00:00 GMT", 2000],
    ["Monday, 29-Feb-60 00:00:00 GMT", 2060],
  ])("RETRY-4 %s means the year %i by the 50-year rule", (header, year) => {
    expect(new Date(readHttpDate(header, NOW_MS) ?? Number.NaN).getUTCFullYear()).toBe(year);
  });

  it("RETRY-4 the 50-year rule crosses a century in both directions", () => {
    const in2099 = Date.UTC(2099, 5, 1);
    expect(new Date(readHttpDate("Friday, 01-Jan-05 00:00:00 GMT", in2099) ?? 0).getUTCFullYear()).toBe(2105);
    expect(new Date(readHttpDate("Friday, 01-Jan-60 00:00:00 GMT", in2099) ?? 0).getUTCFullYear()).toBe(2060);
    expect(
      new Date(readHttpDate("Friday, 01-Jan-05 00:00:00 GMT", Date.UTC(2001, 0, 1)) ?? 0).getUTCFullYear(),
    ).toBe(2005);
  });

  it("RETRY-4 reads every second of any date back in the IMF and asctime forms", () => {
    const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_000_000_000 }), (ahead) => {
        const date = new Date(NOW_MS + ahead * 1000);
        const imf = date.toUTCString();
        expect(readRetryAfter(imf, NOW_MS)).toEqual({ kind: "date", delayMs: ahead * 1000 });
        const [, day, month, year, time] = imf.split(/,? /);
        const asctime = `${days[date.getUTCDay()]} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
        expect(readRetryAfter(asctime, NOW_MS)).toEqual({ kind: "date", delayMs: ahead * 1000 });
      }),
    );
  });

  it("RETRY-5 whatever the text, the answer is a whole positive delay or none", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."0123456789.-+e, \t:GMTonNv") }));
    fc.assert(
      fc.property(text, fc.double({ min: 0, max: 4e12, noNaN: true }), (header, nowMs) => {
        const { kind, delayMs } = readRetryAfter(header, nowMs);
        expect(delayMs === null).toBe(kind !== "seconds" && kind !== "date");
        if (delayMs !== null) {
          expect(Number.isSafeInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
