/** Fault 24 on the screen: indenting changes white space and nothing else. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { indentJson, MAX_INDENT_CHARS } from "./json-text.ts";

it("keeps every digit, every escape, repeated members and their order", () => {
  const text = '{"id":12345678901234567890,"z":1.0,"a":[1e2,{}],"a":"\\u0041 {,} \\"x\\"","e":[]}';
  expect(indentJson(text)).toBe(
    [
      "{",
      '  "id": 12345678901234567890,',
      '  "z": 1.0,',
      '  "a": [',
      "    1e2,",
      "    {}",
      "  ],",
      '  "a": "\\u0041 {,} \\"x\\"",',
      '  "e": []',
      "}",
    ].join("\n"),
  );
});

it("what is no JSON, too long or too deep comes back as it was", () => {
  const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
  for (const text of ["", "<b>no</b>", '{"a":1', `"${"x".repeat(MAX_INDENT_CHARS)}"`, deep])
    expect(indentJson(text)).toBe(text);
});

it("any JSON means the same after it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
    }),
  );
});
