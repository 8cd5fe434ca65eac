/** Waiting on a condition in tests, in place of a fixed sleep. */
import { setTimeout as delay } from "node:timers/promises";

export interface WaitOptions {
  /** Longest wait. Default 10 s. */
  timeoutMs?: number;
  /** Pause between looks. Default 10 ms. */
  intervalMs?: number;
  /** What is waited for; stands in the error. */
  what?: string;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_INTERVAL_MS = 10;

/**
 * Calls `condition` until it returns something truthy, and returns that.
 * An error that it throws counts as "not yet"; the last one is the cause of the time-out's error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<NonNullable<Awaited<T>>> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as NonNullable<Awaited<T>>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain for ${options.what ?? "a condition"}.`, { cause });
    }
    await delay(options.intervalMs ?? DEFAULT_INTERVAL_MS);
  }
}
