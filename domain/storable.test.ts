/** What no column can hold is found before a statement fails over it, wherever in the body it stands. */
import { describe, expect, it } from "vitest";
import { findUnstorable, isStorableText, MAX_BODY_DEPTH } from "./storable.ts";

function nested(depth: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe("a body", () => {
  it("with any other character can be stored, control characters, emoji and bidi marks too", () => {
    const texts = { a: "tab\t bell\u0007", b: ["😀", "\u202e", "\ufffd", ""], c: { d: 1, e: null, f: true } };
    expect(findUnstorable(texts)).toBeNull();
    expect(findUnstorable("text")).toBeNull();
    expect(findUnstorable(null)).toBeNull();
  });

  it.each([
    [{ reason: "a\0b" }, "reason"],
    [{ checklist: { order: { evidence: "\ud800" } } }, "checklist/order/evidence"],
    [{ ids: ["x", "\udc00y"] }, "ids/1"],
    ["\0", ""],
  ])("%j is refused where it stands", (body, pointer) => {
    expect(findUnstorable(body)).toEqual({ pointer, detail: "holds a character that cannot be stored" });
  });

  it("nested without end is refused, and nobody runs out of stack over it", () => {
    expect(findUnstorable(nested(MAX_BODY_DEPTH))).toBeNull();
    expect(findUnstorable(nested(MAX_BODY_DEPTH + 1))).not.toBeNull();
    expect(findUnstorable({ end: nested(30_000) })).toMatchObject({ pointer: "end" });
  });

  it("text is storable when it is whole", () => {
    expect(isStorableText("ü😀")).toBe(true);
    expect(isStorableText("😀".slice(0, 1))).toBe(false);
  });
});
