/**
 * The shapes that the receiver shows to its readers: records, counters, filters, scripts and the receiver itself.
 * Types only: nothing here may run, so that the client can share it with the server without loading the server.
 */
import type { AnswerKind, ScriptAnswer } from "./answers.ts";

/** What the signature check of one request said; `unchecked` when no secret is known for the destination. */
export type SignatureResult = "valid" | "invalid" | "stale" | "absent" | "unchecked";

/** What the request did to the business: the effect was applied by it, had been applied before, or neither. */
export type EffectResult = "applied" | "repeated" | "none";

/** How the exchange ended: still open, answered in full, cut by the receiver, or given up by the sender. */
export type ExchangeEnd = "open" | "finished" | "cut" | "aborted";

/** One request as it was seen. Times are milliseconds since 1970 with a fraction; texts are bounded. */
export type RequestRecord = {
  /** 1 for the first request since start or reset, rising by one in order of arrival. */
  readonly sequence: number;
  /** Number of the TCP connection that carried it: equal numbers mean a reused connection. */
  readonly connection: number;
  readonly arrivedAtMs: number;
  /** When the answer (or the hang-up) was given, null while it is not. */
  answeredAtMs: number | null;
  /** When the exchange was over for both sides, null while it is not. */
  endedAtMs: number | null;
  readonly method: string;
  /** Path and query as requested. */
  readonly path: string;
  readonly destination: string;
  readonly key: string | null;
  readonly webhookId: string | null;
  readonly webhookTimestamp: string | null;
  /** The `sluice-attempt` header as a number, null when absent or not a whole number. */
  readonly attempt: number | null;
  readonly tenant: string | null;
  readonly region: string | null;
  readonly eventType: string | null;
  readonly contentType: string | null;
  readonly traceparent: string | null;
  readonly signatureHeader: string | null;
  signature: SignatureResult;
  bodyBytes: number;
  /** Hex; null while the body is incomplete or when hashing is switched off. */
  bodySha256: string | null;
  /** Only with `keepBodies`, and only within the limit on kept bytes. */
  bodyBase64: string | null;
  answer: AnswerKind | null;
  /** Status given, null when no status line was sent. */
  status: number | null;
  /** The Retry-After header as sent. */
  retryAfter: string | null;
  /** The earliest moment that a readable Retry-After allowed for the next request. */
  notBeforeMs: number | null;
  effect: EffectResult;
  end: ExchangeEnd;
};

/** Exact counters of one destination name since start or reset. */
export type DestinationStats = {
  readonly destination: string;
  readonly requests: number;
  readonly distinctKeys: number;
  readonly effects: number;
  /** Requests that were given the previous result of their key. */
  readonly repeated: number;
  /** Requests without a key of 1 to 1024 characters. */
  readonly withoutKey: number;
  /** Requests that have arrived and are not answered yet. */
  readonly currentConcurrency: number;
  readonly peakConcurrency: number;
  readonly firstArrivalMs: number | null;
  readonly lastArrivalMs: number | null;
  readonly bodyBytes: number;
  /** Status -> answers given. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Exchanges by how they ended; what is missing to `requests` is still open. */
  readonly finished: number;
  readonly cut: number;
  readonly aborted: number;
  readonly validSignatures: number;
  /** Signatures that were invalid, stale or absent where a secret is known. */
  readonly badSignatures: number;
  /** Requests by their `sluice-region` header. */
  readonly regions: { readonly us: number; readonly eu: number; readonly other: number };
};

/** Sums over all destinations, and what the limits have cost. */
export type ReceiverTotals = Omit<DestinationStats, "destination"> & {
  readonly destinations: number;
  readonly connections: number;
  /** Records given up because of the limit on stored records. */
  readonly recordsDropped: number;
  /** Keys given up because of the limit on stored keys: while 0, keys and effects are exact. */
  readonly keysForgotten: number;
};

/** Which records to return; all given fields must match. */
export type RequestFilter = {
  /** Path without its query. */
  readonly path?: string;
  readonly destination?: string;
  readonly key?: string;
  readonly webhookId?: string;
  readonly tenant?: string;
  readonly region?: string;
  /** Only records with a higher sequence. */
  readonly afterSequence?: number;
  /** At most this many, oldest first. */
  readonly limit?: number;
};

/** How much of each request is stored. */
export type Recording = {
  /** Stored request records, the oldest are given up first; 0 stores none and costs nothing. */
  readonly recordLimit: number;
  readonly hashBodies: boolean;
  readonly keepBodies: boolean;
};

/** Live secrets of a destination; with `header` the signature is `<header>: ts.hex(hmac(ts.body))`. */
export type KnownSecret = { readonly secrets: readonly string[]; readonly header?: string };

export type ScriptOptions = {
  /** Whether a step is used up by each request of the target or by each request of one key. Default: request. */
  readonly per?: "request" | "key";
};

export type ReceiverOptions = {
  /** 0 (default) takes a free port. */
  readonly port?: number;
  readonly host?: "127.0.0.1" | "::1";
  /** Secrets by destination name; what `setSecret` stored comes first. */
  readonly secretFor?: (destination: string) => KnownSecret | readonly string[] | string | undefined;
  /** Milliseconds since 1970, fractions welcome. */
  readonly now?: () => number;
  /** How long an idle connection is kept, default 65 s. */
  readonly keepAliveTimeoutMs?: number;
  readonly recording?: Partial<Recording>;
  /** Stored keys over all destinations, the oldest are given up first. Default 500,000. */
  readonly keyLimit?: number;
};

/** The receiver as its own process sees it. Every reader returns copies: changing them changes nothing. */
export type Receiver = {
  readonly url: string;
  readonly port: number;
  /** Stops listening, gives open requests `graceMs` (default 0), then closes every connection. */
  close(graceMs?: number): Promise<void>;
  /** Forgets counters, records, keys and scripts. Secrets and recording stay. Requests still open count as before it. */
  reset(): void;
  /** Answers in order for a path ("/ok/a") or a destination name ("a"); the last one repeats for ever, [] removes it. */
  script(target: string, answers: readonly ScriptAnswer[], options?: ScriptOptions): void;
  /** Counters of one destination, all zero for one never seen. */
  stats(destination: string): DestinationStats;
  allStats(): DestinationStats[];
  totals(): ReceiverTotals;
  /** Stored records, oldest first. */
  requests(filter?: RequestFilter): RequestRecord[];
  setRecording(recording: Partial<Recording>): Recording;
  /** Replaces the known secrets of a destination; null forgets them. */
  setSecret(destination: string, secret: KnownSecret | null): void;
  /** Resolves with the first counters that satisfy the predicate; rejects with the last ones after `timeoutMs`. */
  waitFor(
    destination: string,
    predicate: (stats: DestinationStats) => boolean,
    timeoutMs?: number,
  ): Promise<DestinationStats>;
};
