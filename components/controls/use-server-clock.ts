"use client";
/**
 * The server's time while a dialog is open: the answer's own time plus what has passed since. A browser whose clock is
 * wrong shows the same as one whose clock is right.
 */
import { useEffect, useState } from "react";

/**
 * @param asOf the time of an answer, UTC
 * @param receivedAtMs when it came, by this browser's clock
 */
export function serverNowMs(asOf: string, receivedAtMs: number, browserNowMs: number = Date.now()): number {
  return Date.parse(asOf) + Math.max(0, browserNowMs - receivedAtMs);
}

/** Ticks every `everyMs`. */
export function useServerClock(asOf: string, receivedAtMs: number, everyMs = 1_000): number {
  const [nowMs, setNowMs] = useState(() => serverNowMs(asOf, receivedAtMs));
  useEffect(() => {
    const update = () => setNowMs(serverNowMs(asOf, receivedAtMs));
    update();
    const timer = setInterval(update, everyMs);
    return () => clearInterval(timer);
  }, [asOf, receivedAtMs, everyMs]);
  return nowMs;
}
