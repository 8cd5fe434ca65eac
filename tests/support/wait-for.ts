/**
 * Waiting on a condition in tests, in place of a fixed sleep. No wait here may be one that a slow machine can lose: it ends
 * when the condition holds, and its limit only says when nothing will come any more.
 */
import { setTimeout as delay } from "node:timers/promises";

export interface WaitOptions {
  /** Longest wait. Default a minute: a test that passes does not wait for it. */
  timeoutMs?: number;
  /** Pause between looks. Default 10 ms. */
  intervalMs?: number;
  /** What is waited for; stands in the error. */
  what?: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_INTERVAL_MS = 10;

/**
 * The bound for what is promised "at once" or "within a second", told apart from what comes only by a wait of its own (a lease
 * of 30 s, a gate or a rate of minutes). A machine that is five times slower and stands still for 2 s stays far below it.
 */
export const PROMPT_MS = 20_000;

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
