import { describe, expect, it } from "vitest";
import { ERRORS, isErrorCode, isSluiceError, SluiceError } from "./errors.ts";

describe("error catalogue", () => {
  it("gives every code a usable status, a title and a whole sentence", () => {
    const entries = Object.entries(ERRORS);
    expect(entries.length).toBeGreaterThan(30);
    for (const [code, entry] of entries) {
      expect(code, code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(entry.status, code).toBeGreaterThanOrEqual(400);
      expect(entry.status, code).toBeLessThanOrEqual(599);
      expect(entry.title, code).toMatch(/^[A-Z]/);
      expect(entry.summary, code).toMatch(/^[A-Z].{15,}\.$/);
    }
  });

  it("has no two codes with the same title", () => {
    const titles = Object.values(ERRORS).map((entry) => entry.title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it("carries code, detail, data, cause and status", () => {
    const cause = new Error("below");
    const error = new SluiceError("body_too_large", "300000 bytes", { maxBytes: 262144 }, { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe("body_too_large: 300000 bytes");
    expect(error).toMatchObject({
      code: "body_too_large",
      detail: "300000 bytes",
      data: { maxBytes: 262144 },
    });
    expect(error.status).toBe(413);
    expect(error.cause).toBe(cause);
  });

  it("recognises its own errors, also from another copy of the module, and nothing else", () => {
    expect(isSluiceError(new SluiceError("not_found", "x"))).toBe(true);
    expect(isSluiceError(new SluiceError("not_found", "x"), "bad_id")).toBe(false);
    const fromOtherCopy = Object.assign(new Error("x"), { name: "SluiceError", code: "bad_id", detail: "x" });
    expect(isSluiceError(fromOtherCopy, "bad_id")).toBe(true);
    expect(isSluiceError(Object.assign(new Error("x"), { code: "bad_id" }))).toBe(false);
    expect(isSluiceError("not_found")).toBe(false);
    expect(isErrorCode("toString")).toBe(false);
  });
});
