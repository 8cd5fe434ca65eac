/**
 * The one way the browser sends a command: If-Match with the version that the person saw, and an Idempotency-Key, so that
 * a repeat after a lost answer is the same change and not a second one. It never repeats by itself.
 */
import { ProblemError, readProblem, UnreachableError } from "./fetch-json.ts";

export interface CommandRequest {
  /** Left out: POST. */
  method?: "POST" | "PATCH";
  /** The command's fields without id and version. */
  body: object;
  /** Version of the row as it was shown; left out for a row that has none. */
  version?: number | null;
  /** A fresh one for each submission; the same for a repeat of the same values. */
  idempotencyKey: string;
}

/** Longest wait: the barrier may take ten seconds, and a busy console some more. */
const COMMAND_TIMEOUT_MS = 30_000;

/**
 * Sends one command and reads its answer.
 * @throws ProblemError when the API refuses (412 carries `current`), UnreachableError when no answer came: the change may
 *   have happened, and the same key asks again without doing it twice
 */
export async function sendCommand<T>(path: string, request: CommandRequest): Promise<T> {
  const response = await ask(path, request);
  const text = await response.text().catch(() => {
    throw new UnreachableError("The answer was cut off.");
  });
  if (response.ok) return JSON.parse(text) as T;
  throw new ProblemError(readProblem(text, response));
}

async function ask(
  path: string,
  { method = "POST", body, version, idempotencyKey }: CommandRequest,
): Promise<Response> {
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/json",
    "idempotency-key": idempotencyKey,
  });
  if (version !== undefined && version !== null) headers.set("if-match", `"${version}"`);
  try {
    return await fetch(path, {
      method,
      headers,
      body: JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS),
    });
  } catch {
    throw new UnreachableError("The console did not answer.");
  }
}
