/**
 * Sends one request the way Sluice does, for the receiver's own tests.
 * Must use real sockets through undici, as the sender itself does.
 */
import { type Dispatcher, request } from "undici";

const REQUEST_TIMEOUT_MS = 10_000;

export type Posted = {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: string;
};

export type PostOptions = {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: Dispatcher.HttpMethod;
  readonly signal?: AbortSignal;
  readonly dispatcher?: Dispatcher;
};

/** Starts a request with this key (null leaves the header away) and returns when the answer's headers are there. */
export function start(
  url: string,
  key: string | null,
  options: PostOptions = {},
): Promise<Dispatcher.ResponseData> {
  const method = options.method ?? "POST";
  return request(url, {
    method,
    headers: { ...(key === null ? {} : { "idempotency-key": key }), ...options.headers },
    body: method === "POST" ? (options.body ?? '{"hold":1}') : null,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.dispatcher ? { dispatcher: options.dispatcher } : {}),
  });
}

/** The same, with the whole body read. */
export async function post(url: string, key: string | null, options: PostOptions = {}): Promise<Posted> {
  const answer = await start(url, key, options);
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

/** Statuses of requests sent one after the other. */
export async function statuses(url: string, keys: readonly string[]): Promise<number[]> {
  const seen: number[] = [];
  for (const key of keys) seen.push((await post(url, key)).status);
  return seen;
}
