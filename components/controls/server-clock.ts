/**
 * The server's time while a dialog is open: the answer's own time plus what has passed since. A browser whose clock is
 * wrong shows the same as one whose clock is right. Pure: the browser's time is passed in where it matters.
 */

/**
 * @param asOf the time of an answer, UTC
 * @param receivedAtMs when it came, by this browser's clock
 * @returns milliseconds since 1970 by the server's clock
 */
export function serverNowMs(asOf: string, receivedAtMs: number, browserNowMs: number = Date.now()): number {
  return Date.parse(asOf) + Math.max(0, browserNowMs - receivedAtMs);
}
