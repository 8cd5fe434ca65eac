/** Texts that server and browser must write alike, in whatever zone they run. */
import { describe, expect, test } from "vitest";
import { droppedOf } from "./dropped-chips.tsx";
import {
  formatBytes,
  formatClock,
  formatCount,
  formatExact,
  formatInstant,
  formatMinute,
  isRepeated,
  isTimeZone,
  plural,
  zoneName,
} from "./format.ts";
import { SHARED_PARAMETERS, usableOnly } from "./list-parameters.ts";
import { ageAt, relativeTo } from "./relative.ts";

const ISO = "2026-03-09T23:05:07.042Z";

describe("times", () => {
  test("UTC is written the same in every zone of the process", () => {
    expect(formatClock(ISO, "utc")).toBe("23:05:07");
    expect(formatInstant(ISO, "utc")).toBe("09 Mar 23:05:07");
    expect(formatExact(ISO, "utc")).toBe("09 Mar 2026 23:05:07.042");
    expect(zoneName("utc", ISO)).toBe("UTC");
  });

  test("midnight is 00, not 24", () => {
    expect(formatClock("2026-03-09T00:00:00.000Z", "utc")).toBe("00:00:00");
  });

  test("any IANA zone can be shown, on either clock", () => {
    expect(formatInstant(ISO, "Asia/Kolkata")).toBe("10 Mar 04:35:07");
    expect(zoneName("Asia/Kolkata", ISO)).toBe("GMT+5:30");
    expect(formatClock(ISO, "utc 12h")).toBe("11:05:07 pm");
    expect([formatMinute(ISO, "utc"), formatMinute(ISO, "utc 12h")]).toEqual(["23:05", "11:05 pm"]);
    expect(formatExact(ISO, "Asia/Kolkata 12h")).toBe("10 Mar 2026 04:35:07.042 am");
    expect([isTimeZone("Asia/Kolkata"), isTimeZone("Mars/Olympus"), isTimeZone("")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("a clock time that a zone has twice is known as such, and no other", () => {
    const twice = ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"];
    expect(twice.map((iso) => isRepeated(iso, "Europe/London"))).toEqual([true, true]);
    expect(twice.map((iso) => zoneName("Europe/London", iso))).toEqual(["BST", "GMT"]);
    expect(twice.map((iso) => isRepeated(iso, "utc"))).toEqual([false, false]);
    expect(isRepeated("2026-10-25T02:30:00.000Z", "Europe/London")).toBe(false);
    expect(isRepeated("2026-04-04T15:15:00.000Z", "Australia/Lord_Howe")).toBe(true);
  });

  test("a moment is told against the time of the answer, never against the browser's clock", () => {
    expect(relativeTo("2026-03-09T23:07:12.042Z", ISO)).toBe("in 2 m 5 s");
    expect(relativeTo("2026-03-09T23:05:04.042Z", ISO)).toBe("3 s ago");
    expect(ageAt("2026-03-09T23:06:00.000Z", ISO)).toBe(0);
  });
});

test("counts and sizes", () => {
  expect([
    formatCount(1204),
    plural(1, "tenant"),
    plural(3, "tenant"),
    plural(2, "delivery", "deliveries"),
  ]).toEqual(["1,204", "1 tenant", "3 tenants", "2 deliveries"]);
  expect([formatBytes(61), formatBytes(1_024), formatBytes(3_145_728)]).toEqual([
    "61 B",
    "1.0 KiB",
    "3.0 MiB",
  ]);
});

describe("address parameters", () => {
  const params = new URLSearchParams("region=mars&tenant=northwind-pay&cursor=a%20b&colour=blue");

  test("what means nothing is named with its value, what means something is not", () => {
    expect(droppedOf(params, SHARED_PARAMETERS)).toEqual([
      { name: "region", value: "mars" },
      { name: "cursor", value: "a b" },
      { name: "colour", value: "blue" },
    ]);
  });

  test("only what means something is asked of the API, and names of Object.prototype mean nothing", () => {
    expect(usableOnly(Object.fromEntries(params), SHARED_PARAMETERS)).toEqual({ tenant: "northwind-pay" });
    expect(droppedOf(new URLSearchParams("constructor=1"), SHARED_PARAMETERS)).toHaveLength(1);
  });
});
