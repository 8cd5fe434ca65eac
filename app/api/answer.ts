/**
 * The edge that every route stands behind: who asks, what they may see, a correlation id, JSON that nobody caches, and
 * problem+json for errors. A handler gets its scope from here and hands it to the function that reads; there is no way
 * to answer without it. An unexpected error is logged here in full and answered without its text.
 */
import "server-only";
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { z } from "zod";
import { ERRORS, type ErrorCode, isSluiceError, SluiceError } from "#domain/errors.ts";
import { type AccessScope, type Action, refusal, scopeOf } from "#domain/permissions.ts";
import { isRequestId, PROBLEM_CONTENT_TYPE, problemBody } from "#domain/problem.ts";
import { findUnstorable } from "#domain/storable.ts";
import { ownOrigins, signIn } from "../access/auth.ts";
import { refuseCrossSite } from "../access/cross-site.ts";
import { type Principal, readPrincipal } from "../access/principal.ts";

const log = pino({ name: "sluice-console" });

/** One wrong query parameter or body field. */
export interface QueryIssue {
  pointer: string;
  detail: string;
}

/** Who asks, and where they may do what the route does. */
export interface Caller {
  principal: Principal;
  /** Regions and tenants in which the action is allowed; hand it to the function that reads or writes. */
  scope: AccessScope;
  correlationId: string;
}

/**
 * Runs one read and answers it. `read` throws SluiceError for everything it refuses.
 * Without a credential it is 401, without the permission 403; what lies outside the scope is 404, by `read` itself.
 */
export function answer(
  request: Request,
  action: Action,
  read: (caller: Caller) => Promise<object>,
): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const caller = await admit(request, action, correlationId);
    return json(await read(caller), 200, "application/json", correlationId);
  });
}

/**
 * Turns every error of `work` into a problem.
 * Routes use `answer` or `change`; only the sign-in itself, which comes before there is a caller, stands on this alone.
 */
export async function guarded(
  request: Request,
  work: (correlationId: string) => Promise<Response>,
): Promise<Response> {
  const correlationId = correlationIdOf(request);
  try {
    return await work(correlationId);
  } catch (error) {
    if (isSluiceError(error)) {
      if (error.status >= 500) log.error({ err: error, correlationId }, "request refused");
      return problem(error.code, error.detail, correlationId, error.data);
    }
    log.error({ err: error, correlationId, path: new URL(request.url).pathname }, "request failed");
    return problem("internal", ERRORS.internal.summary, correlationId);
  }
}

/**
 * Who asks, when they may do this somewhere.
 * @throws SluiceError `cross_site`, `unauthenticated`, `no_role`, `forbidden`
 */
export async function admit(request: Request, action: Action, correlationId: string): Promise<Caller> {
  const ambient = !request.headers.has("authorization");
  refuseCrossSite(request, ownOrigins(signIn().settings), ambient && request.headers.has("cookie"));
  const principal = await readPrincipal(request.headers);
  if (principal === null) {
    throw new SluiceError("unauthenticated", "Sign in, or send a service token as Authorization: Bearer.");
  }
  if (principal.grants.length === 0) {
    throw new SluiceError("no_role", `${principal.name} has no role. An administrator can grant one.`);
  }
  const scope = scopeOf(principal.grants, action);
  if (Object.keys(scope).length === 0) throw refusal(action);
  return { principal, scope, correlationId };
}

/**
 * Reads the query string against a strict schema. A parameter given twice is refused, not picked from.
 * @throws SluiceError `invalid_query`
 */
export function parseQuery<T extends z.ZodType>(schema: T, request: Request): z.infer<T> {
  const params = new URL(request.url).searchParams;
  const names = [...params.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw invalid("invalid_query", [{ pointer: twice, detail: "is given more than once" }]);
  const unstorable = findUnstorable(Object.fromEntries(params));
  if (unstorable !== null) throw invalid("invalid_query", [unstorable]);
  const parsed = schema.safeParse(Object.fromEntries(params));
  if (parsed.success) return parsed.data;
  throw invalid("invalid_query", issuesOf(parsed.error, "parameter"));
}

/** What a schema found wrong, as pointers; an unknown name is named. */
export function issuesOf(error: z.ZodError, kind: "parameter" | "field"): QueryIssue[] {
  return error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          pointer: [...issue.path, key].join("/"),
          detail: `is not a ${kind} of this resource`,
        }))
      : [{ pointer: issue.path.join("/"), detail: issue.message }],
  );
}

export function invalid(code: "invalid_query" | "invalid_body", errors: QueryIssue[]): SluiceError {
  const detail = errors.map((issue) => `${issue.pointer} ${issue.detail}`.trimStart()).join("; ");
  return new SluiceError(code, detail, { errors });
}

/** An RFC 9457 answer. `extra` are its extension members; `retryAfterMs` among them becomes a header too. */
export function problem(
  code: ErrorCode,
  detail: string,
  correlationId: string,
  extra: Readonly<Record<string, unknown>> = {},
): Response {
  const { status } = ERRORS[code];
  const body = problemBody(code, detail, correlationId, extra);
  const response = json(body, status, PROBLEM_CONTENT_TYPE, correlationId);
  if (status === 401) response.headers.set("www-authenticate", 'Bearer realm="sluice"');
  if (typeof extra.retryAfterMs === "number") {
    response.headers.set("retry-after", String(Math.ceil(extra.retryAfterMs / 1_000)));
  }
  return response;
}

/** The caller's request id where it has a sane shape, else a new one. */
export function correlationIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return isRequestId(given) ? given : randomUUID();
}

/** An answer that nobody stores. */
export function json(body: object, status: number, type: string, correlationId: string): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": "no-store",
      "x-request-id": correlationId,
    },
  });
}
