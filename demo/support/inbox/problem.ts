/**
 * The endpoint's answers that are not a success, as problem+json (RFC 9457). An error that nobody expected is answered
 * without its text; no answer repeats anything of the body or of a secret.
 */
import { ERRORS, type ErrorCode, isSluiceError, type SluiceError } from "#domain/errors.ts";

const PROBLEM_TYPE_PREFIX = "urn:sluice:error:";
/** How long a sender is asked to wait while the storage is away. */
const STORAGE_RETRY_AFTER_SECONDS = 5;
const MS_PER_SECOND = 1_000;
/** Postgres's classes for data, constraints and names: mistakes of ours, not a storage that is down. */
const OUR_MISTAKE = /^(21|22|23|42)/;

/** A problem as a response; extra headers come on top. */
export function problem(code: ErrorCode, detail: string, headers: Record<string, string> = {}): Response {
  const { status, title } = ERRORS[code];
  const body = { type: `${PROBLEM_TYPE_PREFIX}${code}`, title, status, code, detail };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/problem+json; charset=utf-8",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** What a failure is answered with. @param onError hears of failures that are a mistake of ours */
export function problemOf(error: unknown, onError: (error: unknown) => void): Response {
  if (isSluiceError(error)) return problem(error.code, error.detail, headersFor(error));
  if (isStorageDown(error)) {
    return problem("database_unreachable", "The storage does not answer; nothing was acknowledged.", {
      "retry-after": String(STORAGE_RETRY_AFTER_SECONDS),
    });
  }
  onError(error);
  return problem("internal", ERRORS.internal.summary);
}

function headersFor(error: SluiceError): Record<string, string> {
  const { status, code, data } = error;
  if (status === 401) return { "www-authenticate": 'StandardWebhooks realm="support"' };
  if (status === 405) return { allow: "POST" };
  if (data?.unread === true) return { connection: "close" };
  if (status === 503) return { "retry-after": String(STORAGE_RETRY_AFTER_SECONDS) };
  if (code === "too_many_requests") {
    const waitMs = typeof data?.waitMs === "number" ? data.waitMs : MS_PER_SECOND;
    return { "retry-after": String(Math.max(1, Math.ceil(waitMs / MS_PER_SECOND))) };
  }
  return {};
}

/** The database was not reached, did not answer in time, or gave the transaction up: coming back later helps. */
function isStorageDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return !OUR_MISTAKE.test(code);
  // pg's own time-outs and lost connections have no code, but these words.
  return /timeout|terminat|connection|ended/i.test(error.message);
}
