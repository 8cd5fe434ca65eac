/**
 * One read for all who ask the same at the same time. Nothing is kept: the next question after the answer is a new read,
 * so no answer is older than its own `asOf` says.
 */

/** Next loads modules more than once per process, so the running reads live on globalThis. */
const shared = globalThis as typeof globalThis & { sluiceRunningReads?: Map<string, Promise<unknown>> };

/** `key` must name the question completely. */
export function singleFlight<T>(key: string, read: () => Promise<T>): Promise<T> {
  shared.sluiceRunningReads ??= new Map();
  const running = shared.sluiceRunningReads;
  const known = running.get(key) as Promise<T> | undefined;
  if (known !== undefined) return known;
  const started = read().finally(() => running.delete(key));
  running.set(key, started);
  return started;
}
