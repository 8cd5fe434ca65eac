/** RETRY-7: how a delay came about is told from the stored evidence, nothing left out and nothing made up. */
import { expect, test } from "vitest";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import { retryLines } from "./retry-words.ts";

const attempt: AttemptEntry = {
  id: "att_1",
  kind: "http",
  number: 1,
  cycle: 1,
  lane: "first",
  replay: null,
  worker: null,
  dueAt: "2026-11-30T12:00:00.000Z",
  startedAt: "2026-11-30T12:00:00.000Z",
  durationMs: 5,
  outcome: "rate_limited",
  decision: "delayed",
  reason: "rate_limited",
  status: 429,
  errorCode: null,
  errorDetail: null,
  countedFailure: false,
  retryAfter: null,
  clamped: null,
  fallback: false,
  jitterMs: null,
  delayMs: null,
  nextDueAt: null,
  response: null,
  recordedAt: "2026-11-30T12:00:00.005Z",
};

test("seconds with jitter", () => {
  const lines = retryLines({
    ...attempt,
    retryAfter: { raw: "3", read: "seconds", askedMs: 3_000 },
    jitterMs: 412,
    delayMs: 3_412,
    nextDueAt: "2026-11-30T12:00:03.412Z",
  });
  expect(lines).toEqual([
    { label: "Retry-After", raw: "3", text: "read as seconds, asks for 3.000 s" },
    { label: "Jitter", text: "0.412 s added" },
    { label: "Delay", text: "3.412 s after the answer was recorded" },
  ]);
});

test("a header that is not understood falls back and says so, with the header as it came", () => {
  const lines = retryLines({
    ...attempt,
    retryAfter: { raw: "soon", read: "invalid", askedMs: null },
    fallback: true,
    delayMs: 61_000,
    nextDueAt: "2026-11-30T12:01:01.000Z",
  });
  expect(lines.map(({ label, text }) => [label, text])).toEqual([
    ["Retry-After", "not understood"],
    ["Backoff", "the policy's own, since no usable Retry-After came"],
    ["Delay", "1 m 1 s after the answer was recorded"],
  ]);
});

test("a clamp is named in its direction", () => {
  const asks = { raw: "999999", read: "seconds", askedMs: 999_999_000 };
  expect(retryLines({ ...attempt, retryAfter: asks, clamped: "max" })).toContainEqual({
    label: "Clamped",
    text: "cut down to the policy's maximum",
  });
  expect(retryLines({ ...attempt, clamped: "min" })).toContainEqual({
    label: "Clamped",
    text: "raised to the policy's minimum",
  });
});

test("a lost lease explains no backoff", () => {
  expect(
    retryLines({ ...attempt, kind: "lease_expired", fallback: true, delayMs: 0, nextDueAt: attempt.dueAt }),
  ).toEqual([]);
});

test("a try without an answer says that the delay is the policy's own", () => {
  const timeout = { ...attempt, outcome: "timeout", reason: "timeout", status: null, delayMs: 5_100 };
  expect(retryLines({ ...timeout, nextDueAt: "2026-11-30T12:00:05.100Z" }).map(({ label }) => label)).toEqual(
    ["Backoff", "Delay"],
  );
});
