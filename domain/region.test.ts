import { describe, expect, it } from "vitest";
import { SluiceError } from "./errors.ts";
import { isRegion, parseRegion, REGIONS } from "./region.ts";

describe("region", () => {
  it("REG-2 accepts each region in lower and upper case, and stores lower case", () => {
    expect(REGIONS).toEqual(["us", "eu"]);
    for (const region of REGIONS) {
      expect(parseRegion(region)).toBe(region);
      expect(parseRegion(region.toUpperCase())).toBe(region);
    }
  });

  it.each(["", "Us", " us", "us ", "apac", "US,EU", "constructor", "\u017Fu"])(
    "REG-2 refuses %j with a typed error instead of guessing",
    (text) => {
      expect(() => parseRegion(text)).toThrowError(SluiceError);
      expect(() => parseRegion(text)).toThrowError(expect.objectContaining({ code: "bad_region" }));
    },
  );

  it("REG-2 knows a stored region from anything else", () => {
    expect(isRegion("eu")).toBe(true);
    expect(isRegion("EU")).toBe(false);
    expect(isRegion(null)).toBe(false);
  });
});
