/**
 * One HTTP exchange over undici: POST, no redirects, one deadline over everything, a bounded response body. It knows
 * headers and bytes, not deliveries, and must never infer success: what broke is reported as broken.
 */
import { Agent, type Dispatcher, Pool } from "undici";
import { type SendingRules, STRICT_RULES } from "#domain/destination-url.ts";
import type { NetworkPhase } from "#domain/outcome.ts";
import type { CutOff } from "./cut-off.ts";
import {
  askedOnce,
  BlockedAddressError,
  createGuardedConnector,
  LookupError,
  type Opening,
  type Resolve,
  systemResolve,
} from "./guarded-connect.ts";
import { type ReadBody, ResponseBody } from "./response-body.ts";
import { systemTimers, type Timer, type Timers } from "./timers.ts";

export { MAX_READ_RESPONSE_BYTES, MAX_STORED_RESPONSE_BYTES } from "./response-body.ts";

/** Well below the 5 s after which common servers (Node, Apache, uvicorn) close an idle connection. */
const KEEP_ALIVE_MS = 3_000;
/** A handshake across an ocean takes its time; Node's own 250 ms would give up a receiver that is only far away. */
const NEXT_ADDRESS_MS = 2_500;
/** undici's word for a request that it refuses to write. */
const INVALID_REQUEST = "UND_ERR_INVALID_ARG";

export interface ExchangeRequest {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Name, value, name, value... */
  readonly headers: string[];
  readonly body: Buffer;
  /** From now until the last byte that is read. */
  readonly deadlineMs: number;
}

export type ExchangeResult =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly retryAfter: string | null;
      readonly contentType: string | null;
      readonly body: Buffer;
      readonly bodyBytes: number;
      readonly truncated: boolean;
      /** What was unusual about the body's encoding. */
      readonly bodyNote: string | null;
    }
  | {
      readonly kind: "network";
      readonly code: string;
      readonly phase: NetworkPhase;
      /** It broke without a byte of an answer on a connection that had been used before. */
      readonly keptConnection: boolean;
    }
  | { readonly kind: "timeout"; readonly phase: NetworkPhase }
  | { readonly kind: "shutdown" }
  /** No connection was made: the address must not be reached. */
  | { readonly kind: "blocked"; readonly address: string }
  /** The request cannot be written down as HTTP (a header with forbidden bytes): nothing was sent. */
  | { readonly kind: "unsendable"; readonly detail: string };

export interface HttpClientOptions {
  /** Where connections may go; default nowhere but to public addresses. */
  readonly rules?: SendingRules;
  readonly resolve?: Resolve;
  /** How long one of several addresses of a name may take before the next one is tried. */
  readonly nextAddressMs?: number;
}

/** What a request goes out through. A client that tells when it opens a connection lets kept ones be told apart. */
export type ExchangeClient = Pick<Dispatcher, "dispatch"> & { readonly opening?: Opening };

/** The process-wide client: HTTP/1.1, kept connections, one request at a time on each, guarded where they are opened. */
export function createHttpClient(
  connectTimeoutMs: number,
  options: HttpClientOptions = {},
): Agent & { readonly opening: Opening } {
  const opening: Opening = { now: false };
  const guard = {
    opening,
    rules: options.rules ?? STRICT_RULES,
    resolve: askedOnce(options.resolve ?? systemResolve),
    nextAddressMs: options.nextAddressMs ?? NEXT_ADDRESS_MS,
    connectTimeoutMs,
  };
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The deadline below covers the whole exchange; two timers more would only cost.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin, pool: Pool.Options) =>
      new Pool(origin, { ...pool, connect: createGuardedConnector(new URL(origin), guard) }),
  });
  return Object.assign(agent, { opening });
}

/** Runs one exchange. Never rejects. `stop` cuts it off as "shutdown". */
export function exchange(
  client: ExchangeClient,
  request: ExchangeRequest,
  stop: CutOff,
  timers: Timers = systemTimers,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(request, stop, timers, client.opening, resolve);
    if (stop.done) {
      handler.cutOff({ kind: "shutdown" });
      return;
    }
    try {
      client.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: "POST",
          headers: request.headers,
          body: request.body,
        },
        handler,
      );
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #phase: NetworkPhase = "connect";
  #status = 0;
  #retryAfter: string | null = null;
  #contentType: string | null = null;
  #body: ResponseBody | null = null;
  /** The whole answer has come; only the decoding of its body may still go on. */
  #ended = false;
  #done = false;
  #kept = false;
  readonly #opening: Opening | undefined;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #timer: Timer;
  readonly #timers: Timers;
  /** Monotonic time of the deadline. */
  readonly #endsAt: number;
  readonly #stop: CutOff;
  readonly #onStop = () => this.#expire({ kind: "shutdown" });

  constructor(
    request: ExchangeRequest,
    stop: CutOff,
    timers: Timers,
    opening: Opening | undefined,
    resolve: (result: ExchangeResult) => void,
  ) {
    this.#opening = opening;
    this.#resolve = resolve;
    this.#stop = stop;
    this.#timers = timers;
    this.#endsAt = timers.monotonicMs() + request.deadlineMs;
    this.#timer = timers.set(() => this.#expire({ kind: "timeout", phase: this.#phase }), request.deadlineMs);
    stop.add(this.#onStop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A process that was stopped meanwhile may hear of its connection before its timer.
    if (this.#timers.monotonicMs() >= this.#endsAt) this.#expire({ kind: "timeout", phase: this.#phase });
    // Cut off while it waited for a connection: it must not be sent now.
    if (this.#done) controller.abort(new Error("cut off"));
    this.#phase = "headers";
    this.#kept = this.#opening?.now === false;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#phase = "body";
    this.#retryAfter = joined(headers["retry-after"]);
    this.#contentType = joined(headers["content-type"]);
    this.#body = new ResponseBody(joined(headers["content-encoding"]), () => this.cutOff(this.#response()));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.add(chunk);
  }

  onResponseEnd(): void {
    this.#ended = true;
    if (this.#body === null) this.#finish(this.#response());
    else this.#body.end(() => this.#finish(this.#response()));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    if (error instanceof BlockedAddressError) {
      this.#finish({ kind: "blocked", address: error.address });
      return;
    }
    const code = errorCode(error);
    if (code === INVALID_REQUEST && this.#controller === null) {
      this.#finish({ kind: "unsendable", detail: error instanceof Error ? error.message : code });
      return;
    }
    const phase = error instanceof LookupError ? "dns" : phaseOf(code, this.#phase);
    this.#finish({
      kind: "network",
      code,
      phase,
      keptConnection: this.#kept && phase === "headers" && DEAD_SOCKET.has(code),
    });
  }

  /** Ends the exchange now, with this result, and drops the connection. */
  cutOff(result: ExchangeResult): void {
    if (this.#done) return;
    this.#finish(result);
    if (!this.#ended) this.#controller?.abort(new Error("cut off"));
  }

  /** Time is up. An answer that has come to its end stands, however far its decoding is. */
  #expire(result: ExchangeResult): void {
    this.cutOff(this.#ended ? this.#response() : result);
  }

  #response(): ExchangeResult {
    const body = this.#body?.read() ?? NO_BODY;
    return {
      kind: "response",
      status: this.#status,
      retryAfter: this.#retryAfter,
      contentType: this.#contentType,
      body: body.stored,
      bodyBytes: body.bytes,
      truncated: body.truncated,
      bodyNote: body.note,
    };
  }

  #finish(result: ExchangeResult): void {
    if (this.#done) return;
    this.#done = true;
    this.#timers.clear(this.#timer);
    this.#stop.remove(this.#onStop);
    this.#body?.close();
    this.#resolve(result);
  }
}

const NO_BODY: ReadBody = { stored: Buffer.alloc(0), bytes: 0, truncated: false, note: null };

function joined(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

function errorCode(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < 4 && current instanceof Error; depth++) {
    const code = (current as NodeJS.ErrnoException).code;
    if (typeof code === "string") return code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return error instanceof Error ? error.name : "unknown";
}

/** How a connection shows that the other side had given it up. */
const DEAD_SOCKET: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const DNS_CODES: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EAI_NODATA",
  "EAI_NONAME",
]);

/** Words of OpenSSL and Node for a handshake or a certificate that failed. */
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$)|CERT/;

function phaseOf(code: string, phase: NetworkPhase): NetworkPhase {
  if (DNS_CODES.has(code)) return "dns";
  return phase === "connect" && TLS_CODE.test(code) ? "tls" : phase;
}
