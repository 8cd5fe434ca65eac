/**
 * Talks to a receiver in another process through its control API.
 * Must stay a thin shape of that API: no cache, no retry, nothing that could hide what the receiver says.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";
import type { ScriptAnswer } from "./answers.ts";
import type {
  DestinationStats,
  KnownSecret,
  ReceiverTotals,
  Recording,
  RequestFilter,
  RequestRecord,
  ScriptOptions,
} from "./types.ts";

const CONTROL_TIMEOUT_MS = 30_000;
const DEFAULT_WAIT_MS = 60_000;
const WAIT_EVERY_MS = 25;
const PAGE = 5_000;

export type ReceiverHealth = {
  readonly ok: boolean;
  readonly pid: number;
  readonly upMs: number;
  /** CPU that the process has used, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
};

/** The same words as the receiver in its own process, each as a promise. */
export type ReceiverClient = {
  readonly url: string;
  health(): Promise<ReceiverHealth>;
  reset(): Promise<void>;
  script(target: string, answers: readonly ScriptAnswer[], options?: ScriptOptions): Promise<void>;
  stats(destination: string): Promise<DestinationStats>;
  allStats(): Promise<DestinationStats[]>;
  totals(): Promise<ReceiverTotals>;
  /** All stored records that match, read page by page, oldest first. */
  requests(filter?: RequestFilter): Promise<RequestRecord[]>;
  setRecording(recording: Partial<Recording>): Promise<Recording>;
  setSecret(destination: string, secret: KnownSecret | null): Promise<void>;
  waitFor(
    destination: string,
    predicate: (stats: DestinationStats) => boolean,
    timeoutMs?: number,
  ): Promise<DestinationStats>;
  /** Closes the client's own connections. */
  close(): Promise<void>;
};

/** The control API refused or failed; the message holds its status and its words. */
export class ReceiverControlError extends Error {
  override readonly name = "ReceiverControlError";
}

function createCaller(url: string, agent: Agent) {
  return async <T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> => {
    const answer = await request(`${url}/_control/${path}`, {
      method,
      dispatcher: agent,
      headersTimeout: CONTROL_TIMEOUT_MS,
      bodyTimeout: CONTROL_TIMEOUT_MS,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (answer.statusCode !== 200) {
      throw new ReceiverControlError(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    }
    return (await answer.body.json()) as T;
  };
}

function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString();
}

/** @param url what `Receiver.url` or the ready line says, without a path */
export function createReceiverClient(url: string): ReceiverClient {
  const agent = new Agent({ connections: 4, allowH2: false });
  const call = createCaller(url, agent);
  const stats = (destination: string) => call<DestinationStats>("GET", `stats?${queryOf({ destination })}`);
  return {
    url,
    health: () => call("GET", "healthz"),
    reset: async () => void (await call("POST", "reset")),
    script: async (target, answers, options = {}) =>
      void (await call("POST", "script", { target, answers, ...options })),
    stats,
    allStats: async () => (await call<{ destinations: DestinationStats[] }>("GET", "stats")).destinations,
    totals: () => call("GET", "totals"),
    async requests(filter = {}) {
      const wanted = filter.limit ?? Number.POSITIVE_INFINITY;
      const found: RequestRecord[] = [];
      let afterSequence = filter.afterSequence ?? 0;
      while (found.length < wanted) {
        const limit = Math.min(PAGE, wanted - found.length);
        const query = queryOf({ ...filter, afterSequence, limit });
        const { requests } = await call<{ requests: RequestRecord[] }>("GET", `requests?${query}`);
        found.push(...requests);
        if (requests.length < limit) break;
        afterSequence = requests.at(-1)?.sequence ?? afterSequence;
      }
      return found;
    },
    setRecording: (recording) => call("POST", "recording", recording),
    setSecret: async (destination, secret) => void (await call("POST", "secret", { destination, secret })),
    async waitFor(destination, predicate, timeoutMs = DEFAULT_WAIT_MS) {
      const untilMs = performance.now() + timeoutMs;
      for (;;) {
        const seen = await stats(destination);
        if (predicate(seen)) return seen;
        if (performance.now() >= untilMs) {
          throw new Error(`receiver: waited ${timeoutMs} ms in vain, last seen ${JSON.stringify(seen)}`);
        }
        await pause(WAIT_EVERY_MS);
      }
    },
    close: () => agent.close(),
  };
}
