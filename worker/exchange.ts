/**
 * One HTTP exchange over undici: POST, no redirects, one deadline over everything, a bounded response body. It knows
 * headers and bytes, not deliveries, and must never infer success: what broke is reported as broken.
 */
import { Agent, type Dispatcher } from "undici";
import type { NetworkPhase } from "#domain/outcome.ts";
import type { CutOff } from "./cut-off.ts";

/** Response bytes that are kept. */
export const MAX_STORED_RESPONSE_BYTES = 16_384;
/** Response bytes that are read, so that the connection can be used again; beyond them it is cut off. */
export const MAX_READ_RESPONSE_BYTES = 262_144;
/** Below the 5 s after which Node's own servers close an idle connection. */
const KEEP_ALIVE_MS = 4_000;
const HAPPY_EYEBALLS_MS = 2_500;
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
    }
  | { readonly kind: "network"; readonly code: string; readonly phase: NetworkPhase }
  | { readonly kind: "timeout"; readonly phase: NetworkPhase }
  | { readonly kind: "shutdown" }
  /** The request cannot be written down as HTTP (a header with forbidden bytes): nothing was sent. */
  | { readonly kind: "unsendable"; readonly detail: string };

/** The process-wide client: HTTP/1.1, kept connections, one request at a time on each. */
export function createHttpClient(connectTimeoutMs: number): Agent {
  return new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The deadline below covers the whole exchange; two timers more would only cost.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs, autoSelectFamilyAttemptTimeout: HAPPY_EYEBALLS_MS },
  });
}

/** Runs one exchange. Never rejects. `stop` cuts it off as "shutdown". */
export function exchange(
  client: Dispatcher,
  request: ExchangeRequest,
  stop: CutOff,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(request, stop, resolve);
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
  #chunks: Buffer[] = [];
  #stored = 0;
  #read = 0;
  #done = false;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #stop: CutOff;
  readonly #onStop = () => this.cutOff({ kind: "shutdown" });

  constructor(request: ExchangeRequest, stop: CutOff, resolve: (result: ExchangeResult) => void) {
    this.#resolve = resolve;
    this.#stop = stop;
    this.#timer = setTimeout(() => this.cutOff({ kind: "timeout", phase: this.#phase }), request.deadlineMs);
    stop.add(this.#onStop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cut off while it waited for a connection: it must not be sent now.
    if (this.#done) controller.abort(new Error("cut off"));
    this.#phase = "headers";
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
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read += chunk.length;
    if (this.#stored < MAX_STORED_RESPONSE_BYTES) {
      // Copied, so that a slice does not keep the socket's whole buffer alive.
      const kept = Buffer.from(chunk.subarray(0, MAX_STORED_RESPONSE_BYTES - this.#stored));
      this.#chunks.push(kept);
      this.#stored += kept.length;
    }
    if (this.#read > MAX_READ_RESPONSE_BYTES) this.cutOff(this.#response());
  }

  onResponseEnd(): void {
    this.#finish(this.#response());
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    const code = errorCode(error);
    if (code === INVALID_REQUEST && this.#controller === null) {
      this.#finish({ kind: "unsendable", detail: error instanceof Error ? error.message : code });
      return;
    }
    this.#finish({ kind: "network", code, phase: phaseOf(code, this.#phase) });
  }

  /** Ends the exchange now, with this result, and drops the connection. */
  cutOff(result: ExchangeResult): void {
    if (this.#done) return;
    this.#finish(result);
    this.#controller?.abort(new Error("cut off"));
  }

  #response(): ExchangeResult {
    return {
      kind: "response",
      status: this.#status,
      retryAfter: this.#retryAfter,
      contentType: this.#contentType,
      body: this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks),
      bodyBytes: this.#read,
      truncated: this.#read > this.#stored,
    };
  }

  #finish(result: ExchangeResult): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#timer);
    this.#stop.remove(this.#onStop);
    this.#resolve(result);
  }
}

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

const DNS_CODES: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EAI_NODATA",
  "EAI_NONAME",
]);

function phaseOf(code: string, phase: NetworkPhase): NetworkPhase {
  if (DNS_CODES.has(code)) return "dns";
  if (code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_") || code.includes("CERT")) return "tls";
  return phase;
}
