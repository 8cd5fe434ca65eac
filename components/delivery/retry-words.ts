/** How the delay before the next attempt came about, as sentences. Everything is told from what the attempt stored. */

import type { AttemptEntry } from "#db/console/read-attempts.ts";
import { formatAge } from "#domain/queue-age.ts";

const READ: Readonly<Record<string, string>> = {
  seconds: "read as seconds",
  date: "read as an HTTP date",
  absent: "not sent",
  invalid: "not understood",
  past: "a moment in the past",
  zero: "zero",
  negative: "negative",
};

/** One line of the explanation; `raw` is shown in the mono face, as it came. */
export interface RetryLine {
  label: string;
  raw?: string;
  text: string;
}

/** Empty for an attempt that set no next due time. */
export function retryLines(attempt: AttemptEntry): RetryLine[] {
  const lines: RetryLine[] = [];
  const { retryAfter, clamped, fallback, jitterMs, delayMs } = attempt;
  if (retryAfter !== null) {
    const read = READ[retryAfter.read ?? ""] ?? retryAfter.read ?? "not read";
    const asked = retryAfter.askedMs === null ? "" : `, asks for ${exactly(retryAfter.askedMs)}`;
    lines.push({ label: "Retry-After", raw: retryAfter.raw, text: `${read}${asked}` });
  }
  if (fallback && attempt.kind === "http" && attempt.nextDueAt !== null) {
    lines.push({ label: "Backoff", text: "the policy's own, since no usable Retry-After came" });
  }
  if (isUnanswered(attempt)) {
    lines.push({
      label: "Backoff",
      text: "the policy's own, its jitter included: no answer came that could ask for more",
    });
  }
  if (clamped !== null) {
    lines.push({
      label: "Clamped",
      text: clamped === "max" ? "cut down to the policy's maximum" : "raised to the policy's minimum",
    });
  }
  if (jitterMs !== null && jitterMs > 0) lines.push({ label: "Jitter", text: `${exactly(jitterMs)} added` });
  if (delayMs !== null && delayMs > 0 && attempt.nextDueAt !== null) {
    lines.push({ label: "Delay", text: `${exactly(delayMs)} after the answer was recorded` });
  }
  return lines;
}

/** A try without an answer carries no evidence of a header; its delay is the policy's alone. */
function isUnanswered({ kind, decision, status, retryAfter, fallback, nextDueAt }: AttemptEntry): boolean {
  const waits = kind === "http" && decision === "delayed" && nextDueAt !== null;
  return waits && status === null && retryAfter === null && !fallback;
}

const WHOLE_FROM_MS = 60_000;

/** Short delays to the millisecond, so that they can be compared with the times beside them. */
function exactly(ms: number): string {
  return ms < WHOLE_FROM_MS ? `${(ms / 1_000).toFixed(3)} s` : formatAge(ms);
}
