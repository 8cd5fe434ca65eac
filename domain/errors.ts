/**
 * The catalogue of every error code: what HTTP status it has, its title, and one sentence of what it means.
 * A code never changes its meaning. Nothing outside this file and errors-control.ts may invent a code, and no message here or in a
 * `detail` may hold a secret or a body.
 */
import { CONTROL_ERRORS } from "./errors-control.ts";
import { REPLAY_ERRORS } from "./errors-replay.ts";

export interface ErrorEntry {
  /** HTTP status when the error reaches the API; start-up errors use 500. */
  readonly status: number;
  readonly title: string;
  readonly summary: string;
}

const OUTBOX_ERRORS = {
  wrong_region: {
    status: 422,
    title: "Wrong region",
    summary: "The delivery names a region that is not the region of this database. Nothing was written.",
  },
  unknown_tenant: {
    status: 422,
    title: "Unknown tenant",
    summary: "No tenant with this id exists in this region. Nothing was written.",
  },
  unknown_destination: {
    status: 422,
    title: "Unknown destination",
    summary: "No destination with this id exists in this region, or it was deleted. Nothing was written.",
  },
  foreign_destination: {
    status: 422,
    title: "Destination of another tenant",
    summary: "The destination exists but belongs to another tenant. Nothing was written.",
  },
  no_destination: {
    status: 422,
    title: "No destination given",
    summary: "A delivery needs at least one destination. Nothing was written.",
  },
  bad_key: {
    status: 422,
    title: "Bad idempotency key",
    summary: "The key is empty, longer than 255 characters, or holds something other than visible ASCII.",
  },
  key_mismatch: {
    status: 409,
    title: "Key used with another body",
    summary: "This key already stands for another body at this destination. The first one is kept unchanged.",
  },
  body_too_large: {
    status: 413,
    title: "Body too large",
    summary: "The body is larger than the limit (256 KiB unless configured). Nothing was written.",
  },
  bad_body: {
    status: 422,
    title: "Bad body",
    summary:
      "The body is neither bytes nor text. It is stored exactly as given, so it must be given as bytes.",
  },
  bad_content_type: {
    status: 422,
    title: "Bad content type",
    summary: "The content type is not a media type that can stand in a header.",
  },
  bad_traceparent: {
    status: 422,
    title: "Bad traceparent",
    summary: "The traceparent is not a W3C trace context header of version 00.",
  },
  bad_event_type: {
    status: 422,
    title: "Bad event type",
    summary:
      "The event type is empty, too long, or holds characters outside letters, digits, dot, dash, underscore.",
  },
  bad_service_class: {
    status: 422,
    title: "Bad service class",
    summary: "The service class is neither urgent nor routine.",
  },
  bad_due_time: {
    status: 422,
    title: "Bad due time",
    summary: "The due time is not a valid moment, or lies further ahead than is allowed.",
  },
  batch_too_large: {
    status: 422,
    title: "Batch too large",
    summary: "The bulk call holds more deliveries than one call may write. Split it. Nothing was written.",
  },
  bad_fact: {
    status: 422,
    title: "Bad business fact for a key",
    summary:
      "A key is made of an event, an entity id and a version; each must be whole text that is not empty.",
  },
} as const satisfies Record<string, ErrorEntry>;

const STARTUP_ERRORS = {
  bad_region: {
    status: 422,
    title: "Unknown region",
    summary: "The text is not the name of a region.",
  },
  region_mismatch: {
    status: 500,
    title: "Database of another region",
    summary:
      "The process was started for one region and the database says that it is another. It does not start.",
  },
  lease_too_short: {
    status: 422,
    title: "Lease shorter than a request can last",
    summary:
      "The lease must be at least the request deadline plus the margin, or one delivery is sent twice at once.",
  },
  bad_policy: {
    status: 422,
    title: "Policy cannot be used",
    summary: "A policy or an override of it does not fit its schema, or its numbers do not fit together.",
  },
  bad_config: {
    status: 500,
    title: "Bad configuration",
    summary: "A setting is missing or has a value that cannot be used. The detail names it.",
  },
  bad_secret: {
    status: 422,
    title: "Secret cannot be used",
    summary: "A signing secret is not whsec_ followed by base64 of 24 to 64 bytes. The value is never shown.",
  },
  database_unreachable: {
    status: 503,
    title: "Database does not answer",
    summary: "No connection to the database could be made in the time allowed.",
  },
  database_time_zone: {
    status: 500,
    title: "Database session is not in UTC",
    summary: "Sessions must run in UTC, or timestamps shift. Start the pool with -c timezone=UTC.",
  },
  schema_outdated: {
    status: 500,
    title: "Schema is behind this build",
    summary: "The database lacks migrations that this build needs. Run the migrate command first.",
  },
  migration_edited: {
    status: 500,
    title: "An applied migration was changed",
    summary:
      "The checksum of a migration differs from the one that was applied. Write a new migration instead.",
  },
  migration_failed: {
    status: 500,
    title: "A migration failed",
    summary: "A migration ended with an error and was rolled back. The detail names it.",
  },
  port_busy: {
    status: 500,
    title: "Port is in use",
    summary: "Another program listens on the port. Stop it or choose another port.",
  },
  disk_full: {
    status: 500,
    title: "Not enough disk",
    summary: "The data folder cannot be written or has too little space left.",
  },
} as const satisfies Record<string, ErrorEntry>;

const API_ERRORS = {
  not_found: {
    status: 404,
    title: "Not found",
    summary: "No such row, or it lies outside what you may see.",
  },
  bad_id: { status: 400, title: "Bad id", summary: "The text is not an id of the expected kind." },
  bad_cursor: { status: 400, title: "Bad cursor", summary: "The paging cursor was not made by this list." },
  invalid_query: {
    status: 422,
    title: "Query not understood",
    summary: "A query parameter is unknown or has a value that cannot be used.",
  },
  invalid_body: {
    status: 422,
    title: "Request body not understood",
    summary: "The request body has an unknown field, lacks one, or has a value that cannot be used.",
  },
  bad_json: { status: 400, title: "Not JSON", summary: "The request body is not valid JSON." },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    summary: "The request body must be application/json.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    summary: "The resource exists but not for this method.",
  },
  bad_path: {
    status: 400,
    title: "Path not understood",
    summary: "The path holds a percent sign that stands for no character.",
  },
  unauthenticated: {
    status: 401,
    title: "Not signed in",
    summary: "The request carries no valid credential.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    summary: "Your role or scope does not include this action.",
  },
  state_conflict: {
    status: 409,
    title: "State does not allow this",
    summary: "The row is in a state in which this action has no meaning.",
  },
  version_conflict: {
    status: 412,
    title: "Changed by someone else",
    summary: "The row has another version than the one the change was based on. Reload and decide again.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency-Key used with another request",
    summary: "This Idempotency-Key already answered a request with another body.",
  },
  empty_selection: {
    status: 400,
    title: "Nothing selected",
    summary: "An empty filter never means everything. Name at least one row or one condition.",
  },
  too_many_requests: {
    status: 429,
    title: "Too many requests",
    summary: "The caller is over its request limit. Retry-After says when to come back.",
  },
  region_unavailable: {
    status: 503,
    title: "Region does not answer",
    summary: "The database of this region did not answer in time. Its numbers are unknown, not zero.",
  },
  overloaded: {
    status: 503,
    title: "Too busy",
    summary: "No connection or worker was free in time. Nothing was changed. Try again after Retry-After.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    summary: "Something failed that should not. It was logged.",
  },
} as const satisfies Record<string, ErrorEntry>;

const DELIVERY_ERRORS = {
  illegal_transition: {
    status: 409,
    title: "State change not allowed",
    summary: "The table of allowed transitions has no step from the one state to the other.",
  },
  bad_destination_url: {
    status: 422,
    title: "Destination address cannot be used",
    summary:
      "The URL is malformed, has credentials, a forbidden scheme or port, or points to a blocked address.",
  },
  bad_signature: {
    status: 401,
    title: "Signature does not match",
    summary: "No signature in the request matches the body, the id, the timestamp and a live secret.",
  },
  bad_envelope: {
    status: 422,
    title: "Envelope header missing or wrong",
    summary: "A received webhook lacks its id, key or tenant, or names another tenant than the endpoint's.",
  },
  stale_timestamp: {
    status: 401,
    title: "Timestamp outside the tolerance",
    summary: "The signed timestamp is too old or too far ahead, which a replayed request would be.",
  },
} as const satisfies Record<string, ErrorEntry>;

const ACCESS_ERRORS = {
  bad_credentials: {
    status: 401,
    title: "E-mail or password is wrong",
    summary: "No local account has this e-mail and password. Which of the two is wrong is not said.",
  },
  no_role: {
    status: 403,
    title: "No role",
    summary: "You are signed in, but nobody has granted you a role yet, or your last grant has ended.",
  },
  cross_site: {
    status: 403,
    title: "Request from another site",
    summary: "A browser sent this from a page that is not the console's own. Nothing was done.",
  },
  sign_in_refused: {
    status: 403,
    title: "Sign-in refused",
    summary: "The identity is known, but may not use this console.",
  },
  sign_in_unavailable: {
    status: 503,
    title: "Sign-in cannot be checked",
    summary: "The console's own database, which holds accounts and sessions, does not answer.",
  },
  account_exists: {
    status: 409,
    title: "Account exists",
    summary: "There is already an account with this e-mail address.",
  },
  token_exists: {
    status: 409,
    title: "Token exists",
    summary: "A service token of this name is still valid. Revoke it or choose another name.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** Every code with its status, title and summary. docs/errors lists the same codes; a test compares them. */
export const ERRORS = {
  ...OUTBOX_ERRORS,
  ...STARTUP_ERRORS,
  ...API_ERRORS,
  ...DELIVERY_ERRORS,
  ...ACCESS_ERRORS,
  ...CONTROL_ERRORS,
  ...REPLAY_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** True when `value` is a code of the catalogue. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERRORS, value);
}

/**
 * The one error class of the project. `code` says which promise was broken, `detail` says what exactly, and
 * `data` holds the facts a caller may need (ids, limits); never a secret and never a body.
 */
export class SluiceError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, detail: string, data?: Record<string, unknown>, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options);
    this.name = "SluiceError";
    this.code = code;
    this.detail = detail;
    this.data = data;
  }

  /** HTTP status of the code. */
  get status(): number {
    return ERRORS[this.code].status;
  }
}

/**
 * True when `error` is a SluiceError, optionally of one code. Looks at the shape, not the class: a bundler may
 * load this module twice, and `instanceof` is then false for a real one.
 */
export function isSluiceError(error: unknown, code?: ErrorCode): error is SluiceError {
  if (!(error instanceof Error) || error.name !== "SluiceError") {
    return false;
  }
  const found = (error as { code?: unknown }).code;
  return isErrorCode(found) && (code === undefined || found === code);
}
