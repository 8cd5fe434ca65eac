/**
 * The edge of every route that changes something: what answer.ts does, plus a body that is JSON, bounded and strict, and
 * a record of those who were refused. The version and the reason are the command's to check.
 */
import "server-only";
import type { z } from "zod";
import { auditDenied } from "#db/console/access/audit.ts";
import { consoleDatabase } from "#db/console/console-database.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { type Action, highestRole } from "#domain/permissions.ts";
import { findUnstorable } from "#domain/storable.ts";
import { readPrincipal } from "../access/principal.ts";
import { admit, type Caller, guarded, invalid, issuesOf, json } from "./answer.ts";

/** Largest body of a command. */
export const MAX_BODY_BYTES = 64 * 1024;

export interface ChangeRoute<T extends z.ZodType> {
  action: Action;
  /** Strict: an unknown field is refused. Null: the request has no body. */
  body: T | null;
  /** Status of a success; 200 when absent. */
  status?: number;
}

/**
 * Runs one change and answers it.
 * Refused: 401, 403 (also from another site), 413, 415, 400 for what is not JSON, 422 for a body that does not fit.
 */
export function change<T extends z.ZodType>(
  request: Request,
  route: ChangeRoute<T>,
  work: (caller: Caller, body: z.infer<T>) => Promise<object>,
): Promise<Response> {
  return guarded(request, async (correlationId) => {
    try {
      const caller = await admit(request, route.action, correlationId);
      const body = route.body === null ? null : parseBody(route.body, await readJson(request));
      const result = await work(caller, body as z.infer<T>);
      return json(result, route.status ?? 200, "application/json", correlationId);
    } catch (error) {
      if (isSluiceError(error, "forbidden"))
        await recordDenied(request, route.action, correlationId, error.detail);
      throw error;
    }
  });
}

/**
 * Reads a JSON body of at most 64 KiB whose texts can all be stored.
 * @throws SluiceError those of `readAnyJson`, and `invalid_body` for a text with NUL or half a character, or endless nesting
 */
export async function readJson(request: Request, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const value = await readAnyJson(request, maxBytes);
  const unstorable = findUnstorable(value);
  if (unstorable !== null) throw invalid("invalid_body", [unstorable]);
  return value;
}

/**
 * Reads a JSON body in which any text may stand, such as a payload that is kept as bytes.
 * @throws SluiceError `unsupported_media_type`, `body_too_large`, `bad_json`
 */
export async function readAnyJson(request: Request, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new SluiceError("unsupported_media_type", "Send the body as application/json.");
  }
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new SluiceError("bad_json", "The body is not valid JSON.");
  }
}

/** @throws SluiceError `invalid_body` */
export function parseBody<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid("invalid_body", issuesOf(parsed.error, "field"));
}

/** Stops reading at the limit, whatever the length that was announced. */
async function readText(request: Request, maxBytes: number): Promise<string> {
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > maxBytes) {
      await reader?.cancel();
      throw new SluiceError("body_too_large", `The body is larger than ${maxBytes} bytes.`);
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A refusal that cannot be recorded is still a refusal. */
export async function recordDenied(
  request: Request,
  action: Action,
  correlationId: string,
  detail: string,
): Promise<void> {
  const principal = await readPrincipal(request.headers).catch(() => null);
  if (principal === null) return;
  await auditDenied(
    consoleDatabase().pool,
    {
      actor: principal.actor,
      role: highestRole(principal.grants),
      reason: detail.slice(0, 500),
      correlationId,
    },
    { action, kind: "request", id: `${request.method} ${new URL(request.url).pathname}`.slice(0, 200) },
  ).catch(() => undefined);
}
