/** Lengths of time as people type them: `90s`, `30m`, `4h`, `7d`. Nothing else is guessed. */
import { UsageError } from "../command.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Milliseconds.
 * @throws UsageError naming the option
 */
export function readDuration(option: string, text: string): number {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)([smhd])$/.exec(text.trim());
  const unitMs = UNIT_MS[match?.[2] ?? ""];
  if (match === null || unitMs === undefined) {
    throw new UsageError(`${option} "${text.slice(0, 20)}" is no length of time (90s, 30m, 4h, 7d)`);
  }
  return Math.round(Number(match[1]) * unitMs);
}
