/** Ages and ends in a dialog count from the server's clock, whatever the browser's says. */
import { describe, expect, it } from "vitest";
import { serverNowMs } from "./server-clock.ts";

const AS_OF = "2026-11-30T14:03:10.000Z";
const AS_OF_MS = Date.parse(AS_OF);
const HOUR_MS = 3_600_000;

describe("the server's time in a dialog", () => {
  it.each([0, HOUR_MS, -HOUR_MS])(
    "is the answer's plus what has passed, with a browser %d ms off",
    (offMs) => {
      const receivedAtMs = AS_OF_MS + offMs;
      expect(serverNowMs(AS_OF, receivedAtMs, receivedAtMs + 8_000)).toBe(AS_OF_MS + 8_000);
    },
  );

  it("never goes back before the answer, when the browser's clock is set back meanwhile", () => {
    expect(serverNowMs(AS_OF, AS_OF_MS, AS_OF_MS - HOUR_MS)).toBe(AS_OF_MS);
  });
});
