/**
 * Timers and monotonic time as a port: whatever waits in dispatching, waits here, so that a simulation can be the clock. Nothing that
 * waits for a due time may hold a slot, a socket or a lease meanwhile.
 */

/** A timer that was set; only whoever made it knows what it is. */
export type Timer = object;

export interface Timers {
  /** Calls `fire` once, after at least `afterMs` milliseconds, unless it is cleared before. */
  set(fire: () => void, afterMs: number): Timer;
  clear(timer: Timer): void;
  /** Milliseconds that only ever rise, for durations. */
  monotonicMs(): number;
}

/** The process's own timers. */
export const systemTimers: Timers = {
  set: (fire, afterMs) => setTimeout(fire, afterMs),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
  monotonicMs: () => performance.now(),
};

/**
 * Resolves after `ms` milliseconds.
 * @throws the signal's reason, at once, when it is aborted
 */
export function sleep(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      timers.clear(timer);
      reject(signal?.reason);
    };
    const timer = timers.set(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * What `work` resolves to, or null when that takes longer than `ms`; the work itself goes on.
 * @throws what `work` rejects with in time
 */
export function within<T>(timers: Timers, ms: number, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = timers.set(() => resolve(null), ms);
    work.then(resolve, reject).finally(() => timers.clear(timer));
  });
}
