/** The one way the browser takes something away through the API: a DELETE, with a JSON body where a reason is needed. */
import { ProblemError, readProblem, UnreachableError } from "./fetch-json.ts";

/**
 * Sends the request and reads the answer.
 * @throws ProblemError when the API refuses, UnreachableError when no answer came.
 */
export async function deleteJson<T>(path: string, body?: object): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: "DELETE",
      headers: { accept: "application/json", ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      cache: "no-store",
    });
  } catch {
    throw new UnreachableError("The console did not answer.");
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  throw new ProblemError(readProblem(text, response));
}

/** What went wrong in one sentence, for a place beside the button that was pressed. */
export function failureWords(error: unknown): string {
  if (error instanceof ProblemError) {
    const { title, detail, correlationId } = error.problem;
    return `${title}. ${detail} (correlation id ${correlationId})`;
  }
  return "The console did not answer. It may have been done: look again before you repeat it.";
}
