/**
 * Bytes of a body as text that can be shown: decoded as UTF-8, what is no UTF-8 replaced, and a hex dump beside it where
 * text alone would mislead. It only decodes; it must never parse, and its result is text and never markup.
 */

/** Most bytes of a body that are shown. */
export const MAX_SHOWN_BYTES = 64 * 1024;
/** Most bytes of them that are dumped in hex. */
export const MAX_HEX_BYTES = 4 * 1024;
const BYTES_PER_LINE = 16;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const BINARY_SIGNS = /[\x00-\x08\x0e-\x1f]/;

export interface BodyText {
  /** Every byte that is no UTF-8 is U+FFFD here. */
  readonly text: string;
  /** False: bytes were replaced, or it holds control characters that no text has. */
  readonly isText: boolean;
  /** Offset, bytes in hex, and printable ASCII; null for what is text. */
  readonly hex: string | null;
}

/** @param truncated the bytes are the beginning of more: a character that the cut went through is left out, not replaced */
export function bodyText(bytes: Uint8Array, truncated: boolean): BodyText {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: truncated });
  const isText = isUtf8(bytes, truncated) && !BINARY_SIGNS.test(text);
  return { text, isText, hex: isText ? null : hexDump(bytes.subarray(0, MAX_HEX_BYTES)) };
}

/** "00000010  68 65 6c 6c 6f ...  |hello|", a line for each 16 bytes. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_LINE) {
    const part = [...bytes.subarray(at, at + BYTES_PER_LINE)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const plain = part
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."))
      .join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(BYTES_PER_LINE * 3 - 1)}  |${plain}|`);
  }
  return lines.join("\n");
}

function isUtf8(bytes: Uint8Array, truncated: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: truncated });
    return true;
  } catch {
    return false;
  }
}
