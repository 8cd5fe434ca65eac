/**
 * What is read aloud by itself, and when: at most one message in ten seconds, the newest of each kind, so that a screen
 * reader never falls behind what is on the screen. Pure: the time is passed in.
 */

/** Shortest time between two messages. */
export const ANNOUNCE_GAP_MS = 10_000;
/** Kinds that wait; the oldest makes room. */
const MAX_WAITING = 5;

export interface Announcements {
  /** A later message of the same kind takes the place of one that still waits. */
  add: (kind: string, text: string) => void;
  /** The message to read now, or null. */
  take: (nowMs: number) => string | null;
  /** How long until one may be read, in ms; null when none waits. */
  waitMs: (nowMs: number) => number | null;
}

/** An empty queue. */
export function createAnnouncements(): Announcements {
  const waiting = new Map<string, string>();
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    add: (kind, text) => {
      waiting.set(kind, text);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
    },
    take: (nowMs) => {
      const [first] = waiting;
      if (first === undefined || nowMs - lastMs < ANNOUNCE_GAP_MS) return null;
      waiting.delete(first[0]);
      lastMs = nowMs;
      return first[1];
    },
    waitMs: (nowMs) => (waiting.size === 0 ? null : Math.max(0, lastMs + ANNOUNCE_GAP_MS - nowMs)),
  };
}
