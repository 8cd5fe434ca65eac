import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSluiceError } from "./errors.ts";
import { fromPublicId, PUBLIC_ID_PREFIXES, toPublicId, uuidV7, uuidV7Floor, uuidV7TimeMs } from "./ids.ts";

const T0_MS = Date.UTC(2026, 10, 30, 12, 0, 0);
const timeMs = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const tenBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

describe("ids", () => {
  it("ID-1 makes the layout of RFC 9562: 48 bits of time, version 7, variant 10", () => {
    const allOnes = uuidV7(T0_MS, (n) => new Uint8Array(n).fill(0xff));
    const allZeros = uuidV7(T0_MS, (n) => new Uint8Array(n));
    const time = T0_MS.toString(16).padStart(12, "0");
    expect(allOnes).toBe(`${time.slice(0, 8)}-${time.slice(8)}-7fff-bfff-ffffffffffff`);
    expect(allZeros).toBe(`${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`);
  });

  it("ID-1 gives back its millisecond and lies between the floors of its neighbours", () => {
    fc.assert(
      fc.property(timeMs, tenBytes, (ms, bytes) => {
        const id = uuidV7(ms, () => bytes);
        expect(uuidV7TimeMs(id)).toBe(ms);
        expect(id >= uuidV7Floor(ms)).toBe(true);
        if (ms < 2 ** 48 - 1) {
          expect(id < uuidV7Floor(ms + 1)).toBe(true);
        }
      }),
    );
  });

  it("ID-1 does not repeat with real randomness inside one millisecond", () => {
    const ids = new Set(Array.from({ length: 5000 }, () => uuidV7(T0_MS, (n) => randomBytes(n))));
    expect(ids.size).toBe(5000);
  });

  it("ID-1 refuses times that cannot stand in an id", () => {
    for (const ms of [-1, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => uuidV7Floor(ms)).toThrowError(RangeError);
    }
    expect(uuidV7TimeMs(uuidV7Floor(T0_MS + 0.75))).toBe(T0_MS);
  });

  it("ID-4 turns into one public text and back", () => {
    fc.assert(
      fc.property(fc.constantFrom(...PUBLIC_ID_PREFIXES), timeMs, tenBytes, (prefix, ms, bytes) => {
        const uuid = uuidV7(ms, () => bytes);
        const text = toPublicId(prefix, uuid);
        expect(text).toMatch(new RegExp(`^${prefix}_[0-9a-f]{32}$`));
        expect(fromPublicId(prefix, text)).toBe(uuid);
        expect(toPublicId(prefix, uuid.toUpperCase())).toBe(text);
      }),
    );
  });

  it.each([
    "",
    "dlv_",
    "dst_0199aa00000070008000000000000000",
    "dlv_0199AA00000070008000000000000000",
    "dlv_0199aa00-0000-7000-8000-000000000000",
    "dlv_0199aa0000007000800000000000000",
    "dlv_0199aa000000700080000000000000001",
    "dlv_0199aa00000070008000000000000000\n",
    "0199aa00-0000-7000-8000-000000000000",
  ])("ID-4 refuses %j as a delivery id with a typed error", (text) => {
    let caught: unknown;
    try {
      fromPublicId("dlv", text);
    } catch (error) {
      caught = error;
    }
    expect(isSluiceError(caught, "bad_id")).toBe(true);
  });

  it("ID-1 reads the time of version 7 only", () => {
    expect(() => uuidV7TimeMs("8f14e45f-ceea-467a-9c1d-3f0e7b7d0a11")).toThrowError(/bad_id/);
    expect(() => toPublicId("dlv", "not-a-uuid")).toThrowError(/bad_id/);
  });
});
