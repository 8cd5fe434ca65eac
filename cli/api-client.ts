/**
 * One request to the console's API with a service token, for every verb that goes there. It must never take an answer that
 * did not come for a refusal, and no message of it may hold the token.
 */
import { randomUUID } from "node:crypto";
import type { ApiSettings } from "./api-config.ts";
import { Refused } from "./command.ts";

/** Nothing reached the console when a request ended in one of these. */
const NEVER_ARRIVED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The API said no. */
export class ApiRefusal extends Refused {
  override readonly name = "ApiRefusal";
  readonly status: number;
  /** Of the problem; empty when the answer was none. */
  readonly code: string;
  readonly detail: string;

  constructor(status: number, code: string, detail: string) {
    super(`the API says ${status} ${code}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** The API said nothing that can be understood. */
export class ApiSilence extends Refused {
  override readonly name = "ApiSilence";
  /** False: it is certain that the request was not seen. */
  readonly mayHaveArrived: boolean;

  constructor({ url }: ApiSettings, what: string, mayHaveArrived: boolean, cause?: unknown) {
    super(`the console at ${new URL(url).origin} ${what}`, { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

export interface Sent {
  readonly body: object;
  /** Goes into If-Match. */
  readonly version?: number | undefined;
  /** Names the request; a fresh one when it is left out. */
  readonly key?: string;
}

/**
 * Calls a path below /api/v1/ and gives its JSON, or the text of a file.
 * @throws ApiRefusal with the problem's own words; ApiSilence when no answer came in time, or none of an API
 */
export async function callApi(
  api: ApiSettings,
  method: "GET" | "POST",
  path: string,
  sent?: Sent,
  as: "json" | "file" = "json",
): Promise<unknown> {
  const { status, text } = await exchange(api, method, path, sent, as);
  const ok = status >= 200 && status < 300;
  if (ok && as === "file") return text;
  const answer = parse(text);
  if (ok && answer === undefined) throw new ApiSilence(api, "does not answer as an API", true);
  if (ok) return answer;
  const { code = "", detail = "nothing more" } = (answer ?? {}) as { code?: string; detail?: string };
  throw new ApiRefusal(status, code, detail);
}

async function exchange(
  api: ApiSettings,
  method: string,
  path: string,
  sent: Sent | undefined,
  as: "json" | "file",
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(`${api.url}/api/v1/${path}`, {
      method,
      signal: AbortSignal.timeout(api.timeoutMs),
      redirect: "error",
      headers: {
        authorization: `Bearer ${api.token}`,
        accept: as === "json" ? "application/json" : "*/*",
        ...(sent === undefined
          ? {}
          : { "content-type": "application/json", "idempotency-key": sent.key ?? randomUUID() }),
        ...(sent?.version === undefined ? {} : { "if-match": `"${sent.version}"` }),
      },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent.body) }),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const why = reasonOf(error, api.timeoutMs);
    throw new ApiSilence(api, `does not answer (${why})`, !NEVER_ARRIVED.has(why), error);
  }
}

/** The system's word for it; fetch itself only says that it failed. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return `nothing within ${timeoutMs / 1_000} s`;
  const { cause } = error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (typeof code === "string") return code;
  // Its own message may hold what was sent.
  return cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "unknown") : error.name;
}

/** Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
