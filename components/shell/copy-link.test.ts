/** A copied link shows tomorrow what it shows now, where the page can do that; elsewhere it says that it will not. */
import { expect, test } from "vitest";
import { absoluteAddress, rangeMs } from "./copy-link.ts";

const NOW_MS = Date.parse("2026-03-09T23:05:07.042Z");

test("a relative range becomes from and to, and the other filters stay", () => {
  const { href, note } = absoluteAddress("http://console/deliveries?region=us&range=6h&state=dead", NOW_MS);
  expect(Object.fromEntries(new URL(href).searchParams)).toEqual({
    region: "us",
    state: "dead",
    from: "2026-03-09T17:05:07.042Z",
    to: "2026-03-09T23:05:07.042Z",
  });
  expect(note).toContain("09 Mar 2026 17:05:07 to 09 Mar 2026 23:05:07 UTC");
});

test("an address without a range, or with a fixed one, is copied as it is", () => {
  for (const href of [
    "http://console/deliveries?region=us",
    "http://console/audit?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&range=1h",
    "http://console/deliveries?range=soon",
  ]) {
    expect(absoluteAddress(href, NOW_MS)).toEqual({ href, note: "" });
  }
});

test("a chart's range stays relative, and the person is told", () => {
  const copied = absoluteAddress("http://console/?range=1h", NOW_MS);
  expect(copied.href).toBe("http://console/?range=1h");
  expect(copied.note).toContain("stays relative");
});

test("ranges of minutes, hours and days", () => {
  expect([rangeMs("15m"), rangeMs("24h"), rangeMs("7d"), rangeMs("1y"), rangeMs(null)]).toEqual([
    900_000,
    86_400_000,
    604_800_000,
    null,
    null,
  ]);
});
