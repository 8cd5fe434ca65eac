/**
 * Calls each read and keeps how long it took from the request to the last byte. A call that is not answered with 200, or of
 * which a region says nothing, counts as the longest that is waited for, and is told: a wrong answer must never count as a
 * quick one, and one of thousands of calls must not end the run.
 */
import { percentile, round } from "../lib/stats.ts";
import { type ConsoleProcess, type Person, signIn } from "./console-process.ts";
import type { Read } from "./reads.ts";

const CALL_TIMEOUT_MS = 10_000;

export interface Timed {
  readonly name: string;
  readonly calls: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** The first call of a console that has just been started: it loads its code and opens its connections then. */
  readonly coldMs: number;
  /** Of the last answer. */
  readonly bytes: number;
  /** Calls that were not answered as they should; each counts with `CALL_TIMEOUT_MS`. */
  readonly failures: number;
  /** What the last of them was; null: none. */
  readonly failure: string | null;
}

interface Call {
  readonly ms: number;
  readonly text: string;
  readonly failure: string | null;
}

/** Calls of one read after the other in turns, so that a slow moment of the machine does not fall on one read alone. */
export async function timeReads(
  console: ConsoleProcess,
  person: Person,
  reads: readonly Read[],
  calls: number,
): Promise<Timed[]> {
  const cookie = await signIn(console.url, person);
  const times = reads.map(() => [] as number[]);
  const first: number[] = [];
  const bytes: number[] = [];
  const failures = reads.map(() => [] as string[]);
  const cursors: (string | null)[] = reads.map(() => null);
  for (let call = 0; call <= calls; call++) {
    for (const [index, read] of reads.entries()) {
      const path = pathOf(read, call, cursors[index] ?? null);
      const { ms, text, failure } = await timeCall(console.url, cookie, path);
      if (failure !== null) failures[index]?.push(failure);
      if (call === 0) first.push(ms);
      else times[index]?.push(ms);
      bytes[index] = text.length;
      cursors[index] = read.paged === true && cursors[index] === null ? cursorOf(text) : null;
    }
  }
  return reads.map(({ name }, index) => {
    const own = times[index] ?? [];
    return {
      name,
      calls: own.length,
      p50Ms: round(percentile(own, 0.5), 1),
      p95Ms: round(percentile(own, 0.95), 1),
      maxMs: round(Math.max(...own), 1),
      coldMs: round(first[index] ?? Number.NaN, 1),
      bytes: bytes[index] ?? 0,
      failures: failures[index]?.length ?? 0,
      failure: failures[index]?.at(-1) ?? null,
    };
  });
}

function pathOf(read: Read, call: number, cursor: string | null): string {
  const path = read.path(call);
  if (cursor === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
}

/** The cursor of the next page, wherever it stands in the answer. */
function cursorOf(text: string): string | null {
  return /"next":"([^"]+)"/.exec(text)?.[1] ?? null;
}

async function timeCall(origin: string, cookie: string, path: string): Promise<Call> {
  const failed = (what: string): Call => ({ ms: CALL_TIMEOUT_MS, text: "", failure: `${path}: ${what}` });
  const begunAt = performance.now();
  try {
    const response = await fetch(`${origin}${path}`, {
      headers: { cookie },
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const text = await response.text();
    const ms = performance.now() - begunAt;
    if (!response.ok) return failed(`answered with ${response.status}: ${text.slice(0, 200)}`);
    if (text.includes('"status":"unavailable"')) return failed("a region did not answer");
    return { ms, text, failure: null };
  } catch (error) {
    return failed(String(error));
  }
}
