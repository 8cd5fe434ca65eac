/** DLQ-2: what makes two dead letters one cause, and what tells two causes apart. */
import { describe, expect, it } from "vitest";
import { fingerprintOf, MAX_MESSAGE_CHARS, normaliseMessage } from "./fingerprint.ts";

const LEDGER = "01890000-0000-7000-8000-000000000001";
const MIRROR = "01890000-0000-7000-8000-000000000002";

describe("normalised messages", () => {
  it.each([
    ["numbers", "line 17, column 4: unexpected end", "line #, column #: unexpected end"],
    ["amounts and decimals", "amount 12.50 is above 9000", "amount #.# is above #"],
    ["a UUID with dashes", "hold 01890000-0000-7000-8000-00000000000a is unknown", "hold # is unknown"],
    ["a UUID without", "hold 01890000000070008000000000000abc is unknown", "hold # is unknown"],
    ["a UUID in capitals", "hold 0189ABCD-0000-7000-8000-00000000000A is unknown", "hold # is unknown"],
    ["quoted names", 'field "beneficiary" is missing', "field # is missing"],
    ["single-quoted names", "field 'beneficiary' is missing", "field # is missing"],
    ["case", "Bad Request", "bad request"],
    ["white space and line ends", "  bad \r\n\t request  ", "bad request"],
    ["JSON of an answer", '{"error":"bad amount","id":7}', "{error:bad amount,id:#}"],
    ["JSON with white space", ' {\n "error": "bad  amount" }', "{ error: bad amount }"],
    ["names inside of JSON", '{"error":"field \\"iban\\" is bad"}', "{error:field # is bad}"],
    ["request ids", '{"error":"bad","request":"req_a8f3bc"}', "{error:bad,request:#}"],
    ["times", "at 2026-11-30T21:00:00.123Z it failed", "at #:#:#.# it failed"],
    ["tokens without a digit", "token abcdefghijklmnopqrstuvwxyz is old", "token # is old"],
    ["nothing", "", ""],
    ["only white space", " \n ", ""],
    ["other scripts", "ung\u00fcltiger Betrag 5 \u20ac", "ung\u00fcltiger betrag # \u20ac"],
    ["error codes of the network", "ECONNREFUSED", "econnrefused"],
  ])("%s: %j -> %j", (_, message, normalised) => {
    expect(normaliseMessage(message)).toBe(normalised);
  });

  it("is the same for two entries of one cause, and not for two causes", () => {
    const of = (message: string) =>
      fingerprintOf({ reason: "rejected", status: 422, destinationId: LEDGER, message });
    expect(of("hold 17 cannot be read")).toBe(of("hold 4711 cannot be read"));
    expect(of("hold 17 cannot be read")).not.toBe(of("hold 17 was released already"));
    expect(of('{"error":"unreadable"}')).not.toBe(of('{"error":"unknown account"}'));
  });

  it("looks at the beginning only, so that a long answer costs nothing", () => {
    const long = "x".repeat(MAX_MESSAGE_CHARS);
    expect(normaliseMessage(`${long}a`)).toBe(normaliseMessage(`${long}b`));
  });

  it("does not change where ids of another length shift the end of a message that was cut", () => {
    const cut = (id: string) =>
      `hold ${id} cannot be read, ${"because of the field amount ".repeat(9)}`.slice(0, 200);
    expect(normaliseMessage(cut("7"))).toBe(normaliseMessage(cut("1234567890")));
  });
});

describe("fingerprints", () => {
  const cause = { reason: "rejected", status: 422, destinationId: LEDGER, message: "bad body" } as const;

  it("differ by reason, code and destination", () => {
    const all = [
      cause,
      { ...cause, reason: "attempts_exhausted" },
      { ...cause, status: 400 },
      { ...cause, status: null },
      { ...cause, destinationId: MIRROR },
    ] as const;
    expect(new Set(all.map(fingerprintOf)).size).toBe(all.length);
  });

  it("begin with reason and code, hold nothing of the message, and fit their column", () => {
    const text = fingerprintOf({ ...cause, message: "secret-marker" });
    expect(text).toMatch(/^rejected:422:[0-9a-f]{16}$/);
    expect(fingerprintOf({ ...cause, status: null })).toMatch(/^rejected:-:[0-9a-f]{16}$/);
    expect(
      fingerprintOf({ ...cause, reason: "attempts_exhausted", message: "x".repeat(9_999) }).length,
    ).toBeLessThan(64);
  });
});
