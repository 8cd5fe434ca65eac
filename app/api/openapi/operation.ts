/**
 * What one route of the API is, and the few kinds that there are: each kind knows which parameters, headers and errors all
 * routes of it have. Nothing here reads a request or a row.
 */
import type { z } from "zod";
import type { ErrorCode } from "#domain/errors.ts";
import type { Action } from "#domain/permissions.ts";
import type { CommandRoute } from "../command.ts";
import type { CreateRoute } from "../create-command.ts";
import type { AnswerName } from "./answers.ts";

export type Method = "get" | "post" | "patch" | "delete";

export interface Operation {
  readonly method: Method;
  /** `/api/v1/tenants/{id}`, with the names of the folders. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** What a caller must know beside the summary. */
  readonly note?: string;
  readonly action: Action;
  readonly query: z.ZodType;
  readonly body?: Body;
  readonly status: readonly (200 | 201)[];
  /** `file`: CSV or NDJSON, or what `files` says. */
  readonly answer: AnswerName | "file";
  /** Media types of a file that is none of these; null: text. */
  readonly files?: Readonly<Record<string, AnswerName | null>>;
  readonly headers: Headers;
  readonly codes: readonly ErrorCode[];
}

export interface Body {
  readonly schema: z.ZodType;
  /** Fields of the command that stand in the path or in If-Match. */
  readonly without?: readonly string[];
  /** The region's name must be typed. */
  readonly typed?: boolean;
}

export interface Headers {
  readonly ifMatch?: boolean;
  /** Whether the request may, or must, carry a key. */
  readonly idempotencyKey?: "optional" | "required";
  readonly etag?: boolean;
  readonly location?: boolean;
}

const OF_ALL = [
  "unauthenticated",
  "no_role",
  "forbidden",
  "cross_site",
  "sign_in_unavailable",
  "invalid_query",
  "internal",
] as const satisfies readonly ErrorCode[];
const OF_BODY = [
  "unsupported_media_type",
  "bad_json",
  "body_too_large",
  "invalid_body",
] as const satisfies readonly ErrorCode[];
const OF_CHANGE = [
  ...OF_BODY,
  "bad_reason",
  "bad_key",
  "bad_id",
  "not_found",
  "state_conflict",
  "idempotency_mismatch",
  "request_in_progress",
  "overloaded",
  "region_unavailable",
] as const satisfies readonly ErrorCode[];

type Words = Pick<Operation, "path" | "id" | "summary">;

/** A read. Where it is about a region or a row, the caller names `not_found`, `bad_id` or `bad_cursor` in `codes`. */
export function read(
  words: Words,
  query: z.ZodType,
  answer: AnswerName,
  codes: readonly ErrorCode[] = [],
  action: Action = "read",
): Operation {
  return { ...words, method: "get", action, query, answer, status: [200], headers: {}, codes: all(codes) };
}

/** A list as a file. */
export function file(words: Words, query: z.ZodType): Operation {
  const codes = all(["not_found", "bad_id", "region_unavailable"]);
  return {
    ...words,
    method: "get",
    action: "export",
    query,
    answer: "file",
    status: [200],
    headers: {},
    codes,
  };
}

/** A command about a row that exists: the route of the table says what it needs, `schema` is the command's own. */
export function commands(
  words: Words,
  route: Pick<CommandRoute, "action" | "idField" | "versioned">,
  schema: z.ZodType,
  rest: {
    query: z.ZodType;
    method?: Method;
    answer?: AnswerName;
    codes?: readonly ErrorCode[];
  },
): Operation {
  const without = [
    ...(route.idField === null ? [] : [route.idField]),
    ...(route.versioned ? ["version"] : []),
  ];
  const versionCodes = route.versioned ? (["precondition_required", "version_conflict"] as const) : [];
  return {
    ...words,
    method: rest.method ?? "post",
    action: route.action,
    query: rest.query,
    body: { schema, without, typed: route.action === "region_claims" },
    status: [200],
    answer: rest.answer ?? "CommandAnswer",
    headers: { ifMatch: route.versioned, idempotencyKey: "optional", etag: route.versioned },
    codes: all([...OF_CHANGE, ...versionCodes, ...(rest.codes ?? [])]),
  };
}

/** A new row. */
export function creates(
  words: Words,
  route: Pick<CreateRoute, "action">,
  schema: z.ZodType,
  rest: { query: z.ZodType; answer: AnswerName; codes?: readonly ErrorCode[] },
): Operation {
  return {
    ...words,
    method: "post",
    action: route.action,
    query: rest.query,
    body: { schema },
    status: [201],
    answer: rest.answer,
    headers: { idempotencyKey: "optional", etag: true, location: true },
    codes: all([...OF_CHANGE, ...(rest.codes ?? [])]),
  };
}

/** A change of the console's own: views, tokens, grants, a look at a body. */
export function changes(
  words: Words,
  method: Method,
  action: Action,
  rest: {
    query: z.ZodType;
    body: z.ZodType | null;
    status?: 200 | 201;
    answer: AnswerName;
    codes?: readonly ErrorCode[];
  },
): Operation {
  const bodyCodes = rest.body === null ? [] : OF_BODY;
  return {
    ...words,
    method,
    action,
    query: rest.query,
    ...(rest.body === null ? {} : { body: { schema: rest.body } }),
    status: [rest.status ?? 200],
    answer: rest.answer,
    headers: {},
    codes: all([...bodyCodes, ...(rest.codes ?? [])]),
  };
}

function all(codes: readonly ErrorCode[]): ErrorCode[] {
  return [...new Set<ErrorCode>([...OF_ALL, ...codes])];
}

/** For a route whose headers are unlike the others'. */
export function special(operation: Operation): Operation {
  return { ...operation, codes: all([...OF_BODY, ...operation.codes]) };
}
