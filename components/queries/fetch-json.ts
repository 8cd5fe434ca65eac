/**
 * The one way the browser reads the API. It turns a problem answer into an error that can be shown,
 * and a missing answer into another; it never invents a value.
 */

import { noteServerDate } from "./server-clock.ts";

/** RFC 9457 problem as the API sends it. */
export interface Problem {
  title: string;
  detail: string;
  status: number;
  code: string;
  correlationId: string;
}

/** The console answered, and said no. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

/** The console itself did not answer. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/**
 * Reads one resource.
 * @throws ProblemError when the API refuses, UnreachableError when no answer came.
 */
export async function fetchJson<T>(path: string, signal: AbortSignal): Promise<T> {
  return JSON.parse(await fetchText(path, signal)) as T;
}

/**
 * Reads one resource as it was sent, for showing: read into values a large number would lose digits.
 * @throws ProblemError, UnreachableError as fetchJson
 */
export async function fetchText(path: string, signal: AbortSignal): Promise<string> {
  const response = await request(path, signal);
  const text = await response.text();
  if (response.ok) return text;
  throw new ProblemError(readProblem(text, response));
}

async function request(path: string, signal: AbortSignal): Promise<Response> {
  const sentMs = Date.now();
  try {
    const response = await fetch(path, {
      signal,
      headers: { accept: "application/json" },
      cache: "no-store",
    });
    noteServerDate(response.headers.get("date"), sentMs, Date.now());
    return response;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new UnreachableError("The console did not answer.");
  }
}

/** The problem that an answer carries, or one that says as much as is known. */
export function readProblem(text: string, response: Response): Problem {
  const fallback: Problem = {
    title: "The console could not answer",
    detail: `It answered with status ${response.status}.`,
    status: response.status,
    code: "unknown",
    correlationId: response.headers.get("x-request-id") ?? "none",
  };
  try {
    return { ...fallback, ...(JSON.parse(text) as Partial<Problem>) };
  } catch {
    return fallback;
  }
}
