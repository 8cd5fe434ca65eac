/** The part of the error catalogue that is about controls. errors.ts joins the parts; its rules hold here too. */
import type { ErrorEntry } from "./errors.ts";

export const CONTROL_ERRORS = {
  bad_reason: {
    status: 422,
    title: "Reason missing or too short",
    summary: "A change needs a reason of 10 to 500 characters. It is kept in the audit.",
  },
  bad_pause: {
    status: 422,
    title: "Pause without a usable end",
    summary:
      "Every pause of a tenant or destination has an end that lies ahead and within the longest pause allowed.",
  },
  bad_limit: {
    status: 422,
    title: "Limit cannot be used",
    summary:
      "A limit is empty (inherits) or a number within its bounds. Zero, negative and nonsense are refused: to send nothing, use pause.",
  },
  bad_step: {
    status: 422,
    title: "Raise too large or too soon",
    summary:
      "A limit is raised step by step: at most to twice the value in force, two minutes apart, and over many 429 answers only knowingly.",
  },
  precondition_required: {
    status: 428,
    title: "Version missing",
    summary: "The change must name the version it is based on, in If-Match.",
  },
  request_in_progress: {
    status: 409,
    title: "The same request is still going on",
    summary: "A request with this Idempotency-Key has not ended yet. Ask again after Retry-After.",
  },
} as const satisfies Record<string, ErrorEntry>;
