/** How long the steps of a batch's curves are. Pure. A curve has a bounded number of points, however long the batch ran. */

export const MAX_REPLAY_POINTS = 240;
/** Nice lengths, the shortest first. A batch may run for a week. */
const STEPS_MS = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] as const;

/** The shortest step with which a span has no more than MAX_REPLAY_POINTS points. Milliseconds. */
export function replayStepMs(spanMs: number): number {
  // One more: the span begins and ends within a step.
  const fits = STEPS_MS.find((stepMs) => Math.ceil(Math.max(0, spanMs) / stepMs) + 1 <= MAX_REPLAY_POINTS);
  return fits ?? Math.ceil(spanMs / (MAX_REPLAY_POINTS - 1) / 3_600_000) * 3_600_000;
}
