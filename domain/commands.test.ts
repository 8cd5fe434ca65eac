/** What a command must carry before anybody looks at a row: tables of what passes and what does not. */
import { describe, expect, it } from "vitest";
import { DestinationCommand, ErasePayload, kindOfId, OpenGate, readCommand } from "./commands.ts";
import { readLimitText, SetDestinationLimits, SetTenantLimits, SetWeight } from "./commands-limits.ts";
import {
  isTooLongForRole,
  MAX_PAUSE_MS,
  MIN_PAUSE_MS,
  PauseTenant,
  pauseEndMs,
  ResumeTenant,
  refusePauseEnd,
} from "./commands-pause.ts";

const HEX = "0123456789abcdef0123456789abcdef";
const REASON = "a reason that says why";
const TENANT = { tenantId: `ten_${HEX}`, version: 3, reason: REASON };
const DESTINATION = { destinationId: `dst_${HEX}`, version: 3, reason: REASON };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function codeOf(work: () => unknown): string {
  try {
    work();
    return "passed";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

describe("CTL-4 every change", () => {
  it.each([
    [{}, "passed"],
    [{ ticket: "OPS-12" }, "passed"],
    [{ ticket: null }, "passed"],
    [{ ticket: "" }, "invalid_body"],
    [{ reason: undefined }, "bad_reason"],
    [{ reason: "short" }, "bad_reason"],
    [{ reason: `   ${"x".repeat(9)}   ` }, "bad_reason"],
    [{ reason: "x".repeat(501) }, "bad_reason"],
    [{ version: undefined }, "invalid_body"],
    [{ version: 0 }, "invalid_body"],
    [{ version: 1.5 }, "invalid_body"],
    [{ version: "3" }, "invalid_body"],
    [{ destinationId: `ten_${HEX}` }, "invalid_body"],
    [{ destinationId: `dst_${HEX.toUpperCase()}` }, "invalid_body"],
    [{ until: "tomorrow" }, "invalid_body"],
  ])("with %j: %s", (change, code) => {
    expect(codeOf(() => readCommand(DestinationCommand, { ...DESTINATION, ...change }))).toBe(code);
  });

  it("keeps a reason without the spaces around it, and reads the same twice", () => {
    const once = readCommand(DestinationCommand, { ...DESTINATION, reason: `  ${REASON}  ` });
    expect(once.reason).toBe(REASON);
    expect(readCommand(DestinationCommand, once)).toEqual(once);
  });

  it("erasing needs no version, opening a gate needs the opening that was seen", () => {
    expect(codeOf(() => readCommand(ErasePayload, { payloadId: `pay_${HEX}`, reason: REASON }))).toBe(
      "passed",
    );
    expect(codeOf(() => readCommand(OpenGate, DESTINATION))).toBe("invalid_body");
    const gateUntil = "2026-11-30T12:00:00.000Z";
    expect(codeOf(() => readCommand(OpenGate, { ...DESTINATION, gateUntil }))).toBe("passed");
  });
});

describe("CTL-1 the end of a pause", () => {
  it.each([
    [{ forMs: MIN_PAUSE_MS }, "passed"],
    [{ forMs: MAX_PAUSE_MS }, "passed"],
    [{ until: "2026-11-30T12:00:00Z" }, "passed"],
    [{ until: "2026-11-30T12:00:00+02:00" }, "passed"],
    [{ until: "2026-11-30T12:00:00" }, "bad_pause"],
    [{ until: "soon" }, "bad_pause"],
    [{ forMs: MIN_PAUSE_MS - 1 }, "bad_pause"],
    [{ forMs: MAX_PAUSE_MS + 1 }, "bad_pause"],
    [{ forMs: Number.NaN }, "bad_pause"],
    [{ forMs: "3600000" }, "bad_pause"],
    [{}, "bad_pause"],
    [null, "bad_pause"],
    [undefined, "bad_pause"],
  ])("%j: %s", (end, code) => {
    expect(codeOf(() => readCommand(PauseTenant, { ...TENANT, end }))).toBe(code);
  });

  it("is counted from the database's now, or is a moment", () => {
    expect(pauseEndMs({ forMs: 5_000 }, 1_000)).toBe(6_000);
    expect(pauseEndMs({ until: "1970-01-01T00:00:09Z" }, 1_000)).toBe(9_000);
  });

  it.each([
    ["operator", 0, "refused"],
    ["operator", -HOUR_MS, "refused"],
    ["support", 4 * HOUR_MS, "passed"],
    ["support", 4 * HOUR_MS + 1, "role"],
    ["operator", 7 * DAY_MS, "passed"],
    ["operator", 7 * DAY_MS + 1, "role"],
    ["admin", MAX_PAUSE_MS, "passed"],
    ["admin", MAX_PAUSE_MS + 1, "refused"],
    ["viewer", HOUR_MS, "role"],
  ] as const)("%s, %d ms ahead: %s", (role, aheadMs, verdict) => {
    const nowMs = 1_000_000;
    expect(refusePauseEnd(nowMs + aheadMs, nowMs, role) === null).toBe(verdict === "passed");
    expect(isTooLongForRole(nowMs + aheadMs, nowMs, role)).toBe(verdict === "role");
  });

  it("a resume begins at a fifth unless it says otherwise", () => {
    expect(readCommand(ResumeTenant, TENANT).share).toBe(0.2);
    expect(readCommand(ResumeTenant, { ...TENANT, share: 1 }).share).toBe(1);
    for (const share of [0, -0.1, 1.1, Number.NaN]) {
      expect(
        codeOf(() => readCommand(ResumeTenant, { ...TENANT, share })),
        String(share),
      ).toBe("invalid_body");
    }
  });
});

describe("FAIR-7 limits", () => {
  it.each([
    [
      SetTenantLimits,
      TENANT,
      "concurrencyLimit",
      [null, 1, 100_000],
      [0, -1, 100_001, 1.5, Number.NaN, "5", ""],
    ],
    [SetDestinationLimits, DESTINATION, "concurrencyLimit", [null, 1, 10_000], [0, -1, 10_001, Number.NaN]],
    [
      SetDestinationLimits,
      DESTINATION,
      "ratePerSecond",
      [null, 0.001, 100_000],
      [0, -1, 0.0001, 100_001, Number.NaN],
    ],
    [SetDestinationLimits, DESTINATION, "rateBurst", [1, 100_000], [null, 0, -1, 100_001, 1.5]],
    [SetWeight, TENANT, "weight", [1, 100], [null, 0, -1, 101, 1.5]],
  ] as const)(
    "%#: empty inherits, numbers count, and what sends nothing is told to pause",
    (schema, base, field, good, bad) => {
      for (const value of good) {
        expect(
          codeOf(() => readCommand(schema, { ...base, [field]: value })),
          String(value),
        ).toBe("passed");
      }
      for (const value of bad) {
        expect(() => readCommand(schema, { ...base, [field]: value }), String(value)).toThrow(
          /^bad_limit: .*use pause/,
        );
      }
    },
  );

  it.each([
    ["", null],
    ["  ", null],
    ["inherit", null],
    ["None", null],
    ["5", 5],
    [" 12.5 ", 12.5],
    ["0", 0],
    ["-3", -3],
    ["1e3", Number.NaN],
    ["0x10", Number.NaN],
    ["1,000", Number.NaN],
    ["ten", Number.NaN],
    ["Infinity", Number.NaN],
  ])("typed as %j is read as %s", (text, value) => {
    expect(readLimitText(text)).toEqual(value);
  });
});

describe("ids", () => {
  it("tell their kind", () => {
    expect(kindOfId(`dst_${HEX}`)).toBe("dst");
    expect(kindOfId("acme")).toBeNull();
  });
});
