/** What makes two commands the same request, and which headers are understood. */
import { describe, expect, it, vi } from "vitest";
import { readKey, readPolicyVersion, readVersion, requestHash } from "./command-headers.ts";

vi.mock("server-only", () => ({}));

function request(headers: Record<string, string> = {}, path = "/api/v1/tenants/x/pause?region=us"): Request {
  return new Request(`http://console.example${path}`, { method: "POST", headers });
}

function hash(body: unknown, version?: number, path?: string): string {
  return Buffer.from(requestHash(request({}, path), version, body)).toString("hex");
}

describe("If-Match", () => {
  it.each([
    ['"1"', 1],
    [' "42" ', 42],
    ['"999999999"', 999_999_999],
  ])("%s is a version", (header, version) => {
    expect(readVersion(request({ "if-match": header }))).toBe(version);
  });

  it.each(["", "*", "1", '"0"', '"-1"', '"1.5"', 'W/"1"', '"1", "2"', '"1234567890"', '"x"'])(
    "%j is none",
    (header) => {
      expect(() => readVersion(request({ "if-match": header }))).toThrow(/^precondition_required/);
    },
  );

  it("is missed when it is not there", () => {
    expect(() => readVersion(request())).toThrow(/^precondition_required/);
    expect(() => readPolicyVersion(request())).toThrow(/^precondition_required/);
  });

  it("of a policy may be 0, the built-in one", () => {
    expect(readPolicyVersion(request({ "if-match": '"0"' }))).toBe(0);
    expect(readPolicyVersion(request({ "if-match": '"12"' }))).toBe(12);
    for (const header of ["0", '"00"', '"-1"', 'W/"0"', "*"]) {
      expect(() => readPolicyVersion(request({ "if-match": header }))).toThrow(/^precondition_required/);
    }
  });
});

describe("Idempotency-Key", () => {
  it("is visible ASCII of at most 255 characters, or not there at all", () => {
    expect(readKey(request())).toBeNull();
    expect(readKey(request({ "idempotency-key": "a".repeat(255) }))).toHaveLength(255);
    for (const key of ["", "a b", "a".repeat(256), "ü"]) {
      expect(() => readKey(request({ "idempotency-key": key })), key).toThrow(/^bad_key/);
    }
  });
});

describe("the same request", () => {
  const body = { reason: "x", end: { forMs: 1 } };

  it("is the same whatever the order of the fields, in any depth", () => {
    expect(hash({ end: { forMs: 1 }, reason: "x" }, 1)).toBe(hash(body, 1));
    expect(hash({ a: [{ b: 1, c: 2 }] })).toBe(hash({ a: [{ c: 2, b: 1 }] }));
  });

  it.each([
    ["another version", hash(body, 2)],
    ["no version", hash(body)],
    ["another value", hash({ ...body, reason: "y" }, 1)],
    ["one field more", hash({ ...body, ticket: null }, 1)],
    ["a number as text", hash({ ...body, end: { forMs: "1" } }, 1)],
    ["another region", hash(body, 1, "/api/v1/tenants/x/pause?region=eu")],
    ["another row", hash(body, 1, "/api/v1/tenants/y/pause?region=us")],
    ["another verb", hash(body, 1, "/api/v1/tenants/x/resume?region=us")],
  ])("is another one with %s", (_words, other) => {
    expect(other).not.toBe(hash(body, 1));
  });

  it("is another one with the other half of a character, for none of them becomes a replacement", () => {
    const texts = ["\ud800", "\udc00", "\ufffd"];
    expect(new Set(texts.map((text) => hash({ text }))).size).toBe(texts.length);
    expect(new Set(texts.map((text) => hash({ [text]: 1 }))).size).toBe(texts.length);
  });
});
