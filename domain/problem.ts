/**
 * The body of an error as RFC 9457 has it, and the request id that it carries. Pure, and small: what stands in front of the API
 * answers in the same shape as the API itself. It must never hold more than the catalogue, the detail and the facts it is given.
 */
import { ERRORS, type ErrorCode } from "./errors.ts";

export const PROBLEM_CONTENT_TYPE = "application/problem+json";
const TYPE_PREFIX = "urn:sluice:error:";
const REQUEST_ID_SHAPE = /^[\w.-]{1,64}$/;

/** `extra` are its extension members; none of them stands in the place of a member of the standard. */
export function problemBody(
  code: ErrorCode,
  detail: string,
  correlationId: string,
  extra: Readonly<Record<string, unknown>> = {},
): object {
  const { status, title } = ERRORS[code];
  return { ...extra, type: `${TYPE_PREFIX}${code}`, title, status, code, detail, correlationId };
}

/** True for what a caller may choose as the id of a request. */
export function isRequestId(text: string | null): text is string {
  return text !== null && REQUEST_ID_SHAPE.test(text);
}
