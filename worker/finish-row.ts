/**
 * (delivery, attempt, decision) -> the row that is recorded. Pure. Texts are cleaned and bounded here, because one NUL
 * or lone surrogate would make Postgres refuse the whole batch; response bytes stay bytes.
 */

import type { FinishRow } from "#db/queue/finish.ts";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { fingerprintOf } from "#domain/fingerprint.ts";
import { type Outcome, outcomeWord, requestMade } from "#domain/outcome.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import type { Decision } from "#domain/retry-policy.ts";
import type { Attempt } from "./send-webhook.ts";

/** Longest text that is stored with an attempt. */
export const MAX_TEXT_CHARS = 500;
const MAX_CONTENT_TYPE_CHARS = 255;
const MESSAGE_BYTES = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Whatever came from outside -> text that Postgres takes and a page can show. */
export function cleanText(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed().replace(CONTROL, "\ufffd");
}

export function toFinishRow(
  delivery: ClaimedDelivery,
  attempt: Attempt,
  decision: Decision,
  policy: RetryPolicy,
  ids: { readonly attemptId: string; readonly workerId: string },
): FinishRow {
  const { outcome } = attempt;
  const status = outcome.kind === "response" ? outcome.status : undefined;
  return {
    id: delivery.id,
    lease_token: delivery.token,
    attempt_id: ids.attemptId,
    worker_id: ids.workerId,
    started_ms: attempt.startedMs,
    duration_ms: attempt.durationMs,
    outcome: outcomeWord(outcome, policy),
    decision: decision.to,
    reason: decision.to === "delivered" ? undefined : decision.reason,
    status,
    ...errorOf(outcome),
    sent: requestMade(outcome),
    failure: decision.counters.failures === 1,
    rejection: decision.counters.rejections === 1,
    throttle: decision.counters.throttles === 1,
    opens_gate: decision.gate === null && requestMade(outcome),
    ...evidenceOf(decision),
    ...responseOf(attempt),
    fingerprint:
      decision.to === "dead"
        ? fingerprintOf({
            reason: decision.reason,
            status: status ?? null,
            destinationId: delivery.destinationId,
            message: messageOf(outcome),
          })
        : undefined,
  };
}

/** The same row without anything that came from outside, for a row whose evidence Postgres refuses. */
export function withoutEvidence(row: FinishRow): FinishRow {
  return {
    ...row,
    error_code: row.error_code === undefined ? undefined : "evidence_dropped",
    error_detail: "the evidence of this attempt could not be stored",
    retry_after_raw: undefined,
    content_type: undefined,
    body: undefined,
  };
}

function errorOf(outcome: Outcome): Pick<FinishRow, "error_code" | "error_detail"> {
  switch (outcome.kind) {
    case "network":
      return { error_code: cleanText(outcome.code, MAX_TEXT_CHARS), error_detail: `while: ${outcome.phase}` };
    case "timeout":
      return { error_code: "deadline", error_detail: outcome.phase ? `while: ${outcome.phase}` : undefined };
    case "shutdown":
      return { error_code: "shutdown", error_detail: "shutdown, outcome unknown" };
    case "bad_destination":
    case "config_error":
      return {
        error_code: outcome.kind,
        error_detail: outcome.detail === undefined ? undefined : cleanText(outcome.detail, MAX_TEXT_CHARS),
      };
    case "blocked":
      return { error_code: "blocked_address", error_detail: cleanText(outcome.address, MAX_TEXT_CHARS) };
    default:
      return {};
  }
}

function evidenceOf(decision: Decision): Partial<FinishRow> {
  const evidence = decision.retryAfter;
  return {
    delay_ms: decision.to === "delayed" ? decision.delayMs : undefined,
    ...(evidence === null
      ? {}
      : {
          retry_after_raw: evidence.raw === null ? undefined : cleanText(evidence.raw, MAX_TEXT_CHARS),
          retry_after_read: evidence.readAs,
          // A header may ask for longer than a bigint holds.
          retry_after_asked_ms:
            evidence.askedMs === null
              ? undefined
              : Math.min(Math.round(evidence.askedMs), Number.MAX_SAFE_INTEGER),
          retry_after_clamped: evidence.clamped ?? undefined,
          fallback: evidence.fallback,
          jitter_ms: Math.round(evidence.jitterMs),
        }),
  };
}

function responseOf(attempt: Attempt): Partial<FinishRow> {
  const { outcome } = attempt;
  if (outcome.kind !== "response") return {};
  const body = outcome.bodyExcerpt;
  return {
    content_type:
      attempt.contentType === null ? undefined : cleanText(attempt.contentType, MAX_CONTENT_TYPE_CHARS),
    body: body === undefined || body.length === 0 ? undefined : Buffer.from(body).toString("base64"),
    body_bytes: outcome.bodyBytes ?? 0,
    truncated: outcome.bodyTruncated ?? false,
  };
}

function messageOf(outcome: Outcome): string {
  if (outcome.kind === "network") return outcome.code;
  if (outcome.kind === "response" && outcome.bodyExcerpt !== undefined) {
    return cleanText(
      Buffer.from(outcome.bodyExcerpt.subarray(0, MESSAGE_BYTES)).toString("utf8"),
      MAX_TEXT_CHARS,
    );
  }
  if (outcome.kind === "config_error" || outcome.kind === "bad_destination") return outcome.detail ?? "";
  return "";
}
