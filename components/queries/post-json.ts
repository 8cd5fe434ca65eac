/** The one way the browser sends a change to the API. */
import { ProblemError, readProblem, UnreachableError } from "./fetch-json.ts";

/**
 * Sends a body as JSON and reads the answer.
 * @throws ProblemError when the API refuses, UnreachableError when no answer came.
 */
export async function postJson<T>(path: string, body: object): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
    });
  } catch {
    throw new UnreachableError("The console did not answer.");
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  throw new ProblemError(readProblem(text, response));
}
