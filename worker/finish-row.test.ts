/** The recorded row: every word of an outcome, counters as decided, texts that Postgres takes whatever came from outside. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import type { Outcome } from "#domain/outcome.ts";
import { DEFAULT_POLICY } from "#domain/policy.ts";
import { decide } from "#domain/retry-policy.ts";
import { cleanText, MAX_TEXT_CHARS, toFinishRow, withoutEvidence } from "./finish-row.ts";
import type { Attempt } from "./send-webhook.ts";

const POLICY = DEFAULT_POLICY.routine;
const NOW_MS = Date.UTC(2026, 10, 30, 12);
const IDS = {
  attemptId: "0190aaaa-0000-7000-8000-000000000001",
  workerId: "0190aaaa-0000-7000-8000-000000000002",
};

const DELIVERY: ClaimedDelivery = {
  id: "0190aaaa-0000-7000-8000-000000000003",
  token: "0190aaaa-0000-4000-8000-000000000004",
  tenantId: "0190aaaa-0000-7000-8000-000000000005",
  destinationId: "0190aaaa-0000-7000-8000-000000000006",
  destinationVersion: 1,
  eventType: "test.event",
  idempotencyKey: "key",
  traceparent: null,
  serviceClass: "routine",
  lane: "first",
  replayBatchId: null,
  dueMs: NOW_MS,
  attempts: 0,
  failures: 0,
  rejections: 0,
  throttles: 0,
  throttledMs: 0,
  lostLeases: 0,
  cycle: 1,
  consecutiveGates: 0,
  payloadBytes: 2,
  contentType: "application/json",
  body: Buffer.from("{}"),
};

function rowOf(outcome: Outcome, more: Partial<Attempt> = {}) {
  const decision = decide(DELIVERY, outcome, POLICY, { nowMs: NOW_MS, random: () => 0.5 });
  const attempt: Attempt = { outcome, startedMs: NOW_MS, durationMs: 12, contentType: null, ...more };
  return toFinishRow(DELIVERY, attempt, decision, POLICY, IDS);
}

function response(status: number, retryAfterHeader: string | null = null, body?: Uint8Array): Outcome {
  const evidence =
    body === undefined ? {} : { bodyExcerpt: body, bodyBytes: body.length, bodyTruncated: false };
  return { kind: "response", status, retryAfterHeader, durationMs: 12, ...evidence };
}

describe("toFinishRow", () => {
  it("RETRY-2 records a success without a reason, a failure or a delay", () => {
    const row = rowOf(response(204));
    expect(row).toMatchObject({
      outcome: "delivered",
      decision: "delivered",
      status: 204,
      sent: true,
      opens_gate: true,
    });
    expect([row.failure, row.throttle, row.rejection]).toEqual([false, false, false]);
    expect([row.reason, row.delay_ms, row.fingerprint, row.body]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("RETRY-7 keeps how a Retry-After was read", () => {
    expect(rowOf(response(429, "120"))).toMatchObject({
      outcome: "rate_limited",
      decision: "delayed",
      reason: "rate_limited",
      throttle: true,
      failure: false,
      opens_gate: false,
      retry_after_raw: "120",
      retry_after_read: "seconds",
      retry_after_asked_ms: 120_000,
      fallback: false,
      jitter_ms: 6_000,
      delay_ms: 126_000,
    });
    expect(rowOf(response(429, "soon"))).toMatchObject({
      retry_after_raw: "soon",
      fallback: true,
      jitter_ms: 0,
    });
  });

  it("RETRY-7 keeps a clamp, and an asked time that no bigint holds is cut to one that it does", () => {
    const row = rowOf(response(503, "9".repeat(30)));
    expect(row).toMatchObject({ retry_after_clamped: "max", failure: true, retry_after_raw: "9".repeat(30) });
    expect(Number.isSafeInteger(row.retry_after_asked_ms ?? 0)).toBe(true);
  });

  it("RETRY-10 says of a broken connection where it broke, and counts a failure", () => {
    expect(rowOf({ kind: "network", code: "ECONNRESET", phase: "headers" })).toMatchObject({
      outcome: "network",
      decision: "delayed",
      reason: "network",
      error_code: "ECONNRESET",
      error_detail: "while: headers",
      failure: true,
      sent: true,
    });
    expect(rowOf({ kind: "timeout", phase: "body" })).toMatchObject({
      outcome: "timeout",
      error_code: "deadline",
      error_detail: "while: body",
      failure: true,
    });
  });

  it("fault 48: a shutdown counts no failure and says that the outcome is unknown", () => {
    expect(rowOf({ kind: "shutdown" })).toMatchObject({
      outcome: "shutdown",
      decision: "delayed",
      reason: "shutdown",
      error_detail: "shutdown, outcome unknown",
      failure: false,
      sent: true,
    });
  });

  it.each<[Outcome, string]>([
    [{ kind: "payload_erased" }, "payload_erased"],
    [{ kind: "bad_destination", detail: "the port is 0" }, "bad_destination"],
    [{ kind: "config_error", detail: "secret: no key" }, "config_error"],
    [{ kind: "blocked", address: "169.254.169.254" }, "blocked_address"],
  ])("records %j as dead without a request", (outcome, reason) => {
    const row = rowOf(outcome, { durationMs: 0 });
    expect(row).toMatchObject({
      outcome: reason,
      decision: "dead",
      reason,
      sent: false,
      failure: false,
      opens_gate: false,
    });
    expect(row.fingerprint).toMatch(new RegExp(`^${reason}:-:`));
  });

  it("DLQ-2 gives one cause one fingerprint, and another cause another", () => {
    const reject = (text: string, status = 422) =>
      rowOf(response(status, null, Buffer.from(text))).fingerprint;
    expect(reject("order 17 is unknown")).toBe(reject("order 18 is unknown"));
    expect(reject("order 17 is unknown")).not.toBe(reject("the account is closed"));
    expect(reject("no")).not.toBe(reject("no", 400));
  });

  it("keeps response bytes as they came, and the content type bounded", () => {
    const bytes = Buffer.from([0, 255, 254, 0xed, 0xa0, 0x80, 13]);
    const row = rowOf(response(200, null, bytes), { contentType: `text/\u0000plain${"x".repeat(400)}` });
    expect(Buffer.from(row.body ?? "", "base64")).toEqual(bytes);
    expect(row).toMatchObject({ body_bytes: 7, truncated: false });
    expect(row.content_type).toMatch(/^text\/\ufffdplainx+$/);
    expect(row.content_type).toHaveLength(255);
  });
});

describe("cleanText", () => {
  it.each([
    ["a\u0000b", "a\ufffdb"],
    ["a\ud800b", "a\ufffdb"],
    ["\udc00", "\ufffd"],
    ["tab\tand\nline", "tab\tand\nline"],
    ["\u001b[31m red \u007f", "\ufffd[31m red \ufffd"],
    ["plain", "plain"],
  ])("%j becomes %j", (given, expected) => expect(cleanText(given, MAX_TEXT_CHARS)).toBe(expected));

  it("never leaves half of a pair at the cut", () => {
    expect(cleanText("ab\u{1f600}", 3)).toBe("ab\ufffd");
  });

  it("always gives well-formed text without controls, within its bound", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), fc.nat({ max: 60 }), (text, most) => {
        const clean = cleanText(text, most);
        expect(clean.isWellFormed()).toBe(true);
        expect(clean.length).toBeLessThanOrEqual(most);
        expect([...clean].some((char) => char < " " && !"\t\n\r".includes(char))).toBe(false);
      }),
    );
  });
});

describe("withoutEvidence", () => {
  it("keeps what was decided and drops what came from outside", () => {
    const row = rowOf(response(429, "17", Buffer.from("body")), { contentType: "text/plain" });
    const bare = withoutEvidence(row);
    expect(bare).toMatchObject({
      id: row.id,
      lease_token: row.lease_token,
      decision: "delayed",
      delay_ms: row.delay_ms,
      status: 429,
    });
    expect([bare.body, bare.content_type, bare.retry_after_raw]).toEqual([undefined, undefined, undefined]);
    expect(bare.error_detail).toMatch(/could not be stored/);
  });
});
