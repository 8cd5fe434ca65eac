/** Bodies as text: what is text stays as it is, what is not is shown as what it is. */
import { describe, expect, it } from "vitest";
import { bodyText, hexDump, MAX_HEX_BYTES } from "./body-text.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("bodies as text", () => {
  it("keeps markup, big numbers and a byte order mark as they came", () => {
    const text = '\ufeff{"id":12345678901234567890,"x":"<script>alert(1)</script>"}\n';
    expect(bodyText(bytes(text), false)).toEqual({ text, isText: true, hex: null });
  });

  it("replaces what is no UTF-8 and adds the bytes in hex", () => {
    const shown = bodyText(new Uint8Array([0x61, 0xff, 0xfe, 0x62]), false);
    expect(shown.text).toBe("a\ufffd\ufffdb");
    expect(shown.isText).toBe(false);
    expect(shown.hex).toMatch(/^00000000 {2}61 ff fe 62 +\|a\.\.b\|$/);
  });

  it("calls control characters binary, but not tabs and line ends", () => {
    expect(bodyText(new Uint8Array([0x61, 0x00]), false).isText).toBe(false);
    expect(bodyText(bytes("a\tb\r\nc"), false).isText).toBe(true);
  });

  it("a cut through a character is no damage", () => {
    const whole = bytes("äöü");
    const cut = whole.subarray(0, 5);
    expect(bodyText(cut, true)).toEqual({ text: "äö", isText: true, hex: null });
    expect(bodyText(cut, false).isText).toBe(false);
  });

  it("dumps a bounded part", () => {
    const { hex } = bodyText(new Uint8Array(MAX_HEX_BYTES * 2), false);
    expect(hex?.split("\n")).toHaveLength(MAX_HEX_BYTES / 16);
    expect(hexDump(new Uint8Array())).toBe("");
  });
});
