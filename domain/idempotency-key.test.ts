import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyFacts, keyFromFacts, MAX_KEY_CHARS, validateKey } from "./idempotency-key.ts";

// Few letters, many separators: collisions of a careless encoding are then found quickly.
const tricky = fc.string({
  unit: fc.constantFrom("a", "b", ":", '"', ",", "\\", "\u00e9"),
  minLength: 1,
  maxLength: 6,
});
const facts: fc.Arbitrary<KeyFacts> = fc.record({ event: tricky, entityId: tricky, version: tricky });

describe("idempotency key", () => {
  it("ID-6 is a fixed function of the facts (value computed with sha256sum)", () => {
    const key = keyFromFacts({
      event: "hold.released",
      entityId: "hold_1",
      version: "2026-11-30T12:00:00.000Z",
    });
    expect(key).toBe("3c5d6b1ee91c2921305081a8565749501d1c848fea0e24efa24f79c3c77d0d27");
  });

  it("ID-6 gives equal keys for equal facts and different keys for different facts", () => {
    fc.assert(
      fc.property(facts, facts, (a, b) => {
        const same = a.event === b.event && a.entityId === b.entityId && a.version === b.version;
        expect(keyFromFacts(a) === keyFromFacts(b)).toBe(same);
      }),
    );
  });

  it("ID-6 does not mix up where one fact ends and the next begins", () => {
    const keys = [
      keyFromFacts({ event: "a", entityId: "b:c", version: "d" }),
      keyFromFacts({ event: "a:b", entityId: "c", version: "d" }),
      keyFromFacts({ event: 'a","b', entityId: "c", version: "d" }),
      keyFromFacts({ event: "a", entityId: 'b","c', version: "d" }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("ID-6 refuses a missing fact instead of hashing 'undefined'", () => {
    const broken = { event: "a", entityId: "b", version: undefined } as unknown as KeyFacts;
    expect(() => keyFromFacts(broken)).toThrowError(/bad_fact: version/);
    expect(() => keyFromFacts({ event: "", entityId: "b", version: "c" })).toThrowError(/bad_fact: event/);
  });

  it.each(["\ud800", "\udc00", "hold_\ud83d", "\ude00\ud83d"])(
    "ID-6 refuses half a character (%j) in any fact: not every program encodes it in the same way",
    (half) => {
      const whole: KeyFacts = { event: "hold.released", entityId: "hold_\u{1F600}", version: "1" };
      expect(keyFromFacts(whole)).toMatch(/^[0-9a-f]{64}$/);
      for (const name of ["event", "entityId", "version"] as const) {
        expect(() => keyFromFacts({ ...whole, [name]: half })).toThrowError(
          new RegExp(`^bad_fact: ${name} holds half a character$`),
        );
      }
    },
  );

  it("ID-4 lets a key made from facts, or any visible ASCII up to the limit, through unchanged", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
          minLength: 1,
          maxLength: MAX_KEY_CHARS,
        }),
        (key) => {
          expect(validateKey(key)).toBe(key);
        },
      ),
    );
    expect(validateKey("x".repeat(255))).toHaveLength(255);
  });

  it.each(["", " ", "a b", "a\n", "\ta", "a\u0000", "caf\u00e9", "\u{1F600}", "x".repeat(256), "a\u007f"])(
    "ID-4 refuses %j, which could not stand in a header byte for byte",
    (key) => {
      expect(() => validateKey(key)).toThrowError(expect.objectContaining({ code: "bad_key" }));
    },
  );

  it("ID-8 does not repeat a refused key in the error", () => {
    expect(() => validateKey("secret key")).toThrowError(
      expect.not.objectContaining({ message: expect.stringContaining("secret") }),
    );
  });
});
