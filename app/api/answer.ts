/**
 * The edge that every route stands behind: a correlation id, JSON that nobody caches, and problem+json for errors.
 * An unexpected error is logged here in full and answered without its text.
 */
import "server-only";
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { z } from "zod";
import { ERRORS, type ErrorCode, isSluiceError, SluiceError } from "#domain/errors.ts";

const log = pino({ name: "sluice-console" });
const REQUEST_ID_SHAPE = /^[\w.-]{1,64}$/;
const PROBLEM_TYPE_PREFIX = "urn:sluice:error:";

/** One wrong query parameter. */
export interface QueryIssue {
  pointer: string;
  detail: string;
}

/** Runs one read and answers it. `read` throws SluiceError for everything it refuses. */
export async function answer(request: Request, read: () => Promise<object>): Promise<Response> {
  const correlationId = correlationIdOf(request);
  try {
    return json(await read(), 200, "application/json", correlationId);
  } catch (error) {
    if (isSluiceError(error)) return problem(error.code, error.detail, correlationId, error.data);
    log.error({ err: error, correlationId, path: new URL(request.url).pathname }, "request failed");
    return problem("internal", ERRORS.internal.summary, correlationId);
  }
}

/**
 * Reads the query string against a strict schema. A parameter given twice is refused, not picked from.
 * @throws SluiceError `invalid_query`
 */
export function parseQuery<T extends z.ZodType>(schema: T, request: Request): z.infer<T> {
  const params = new URL(request.url).searchParams;
  const names = [...params.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalidQuery([{ pointer: twice, detail: "is given more than once" }]);
  const parsed = schema.safeParse(Object.fromEntries(params));
  if (parsed.success) return parsed.data;
  throw invalidQuery(
    parsed.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => ({ pointer: key, detail: "is not a parameter of this resource" }))
        : [{ pointer: issue.path.join("/"), detail: issue.message }],
    ),
  );
}

function invalidQuery(errors: QueryIssue[]): SluiceError {
  const detail = errors.map((issue) => `${issue.pointer} ${issue.detail}`).join("; ");
  return new SluiceError("invalid_query", detail, { errors });
}

/** An RFC 9457 answer. `extra` are its extension members. */
export function problem(
  code: ErrorCode,
  detail: string,
  correlationId: string,
  extra: Readonly<Record<string, unknown>> = {},
): Response {
  const { status, title } = ERRORS[code];
  const body = {
    ...extra,
    type: `${PROBLEM_TYPE_PREFIX}${code}`,
    title,
    status,
    code,
    detail,
    correlationId,
  };
  return json(body, status, "application/problem+json", correlationId);
}

/** The caller's request id where it has a sane shape, else a new one. */
export function correlationIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

function json(body: object, status: number, type: string, correlationId: string): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": "no-store",
      "x-request-id": correlationId,
    },
  });
}
