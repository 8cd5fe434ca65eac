/**
 * The counters, keys and token bucket of one destination name.
 * Must stay exact: everything that is counted is counted here, once, whatever is stored or dropped elsewhere.
 */
import type { Answer, MerchantLimit } from "./answers.ts";
import type { DestinationStats, ExchangeEnd, SignatureResult } from "./types.ts";

/** What is remembered of one idempotency key of one destination. */
export type KeyEntry = {
  readonly destination: Destination;
  readonly key: string;
  /** How often the path's fault was given to this key. */
  faults: number;
  /** Next answer of a script that runs per key. */
  scriptStep: number;
  /** Number of the effect that the key caused, 0 while it caused none. */
  effect: number;
  /** Status of the result that a repeat is given. */
  resultStatus: number;
};

/** Answers in order, used up by each request or by each request of one key; the last one repeats. */
export type Script = { readonly answers: readonly Answer[]; readonly per: "request" | "key"; next: number };

export class Destination {
  readonly name: string;
  readonly keys = new Map<string, KeyEntry>();
  readonly statuses = new Map<number, number>();
  requests = 0;
  distinctKeys = 0;
  effects = 0;
  repeated = 0;
  withoutKey = 0;
  current = 0;
  peak = 0;
  firstArrivalMs: number | null = null;
  lastArrivalMs: number | null = null;
  bodyBytes = 0;
  finished = 0;
  cut = 0;
  aborted = 0;
  validSignatures = 0;
  badSignatures = 0;
  us = 0;
  eu = 0;
  otherRegion = 0;
  /** Faults given to all keys together, for paths that count per request. */
  faults = 0;
  /** Scripts that paths carry themselves, by path: kept here so that a reset forgets how far they are. */
  readonly ownScripts = new Map<string, Script>();
  private tokens = Number.NaN;
  private tokensAtMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  arrive(nowMs: number, region: string | null): void {
    this.requests++;
    this.firstArrivalMs ??= nowMs;
    this.lastArrivalMs = nowMs;
    if (region === "us") this.us++;
    else if (region === "eu") this.eu++;
    else this.otherRegion++;
    this.current++;
    if (this.current > this.peak) this.peak = this.current;
  }

  countStatus(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  countSignature(result: SignatureResult): void {
    if (result === "valid") this.validSignatures++;
    else if (result !== "unchecked") this.badSignatures++;
  }

  countEnd(end: ExchangeEnd): void {
    if (end === "finished") this.finished++;
    else if (end === "cut") this.cut++;
    else if (end === "aborted") this.aborted++;
  }

  /**
   * Asks the merchant's own limit about a request that has just arrived (and is counted in `current`).
   * @returns 0 when it may pass, else the whole seconds after which it may be tried again, at least 1.
   */
  refuseSeconds(limit: MerchantLimit, nowMs: number): number {
    if (limit.kind === "concurrency") return this.current > limit.limit ? 1 : 0;
    // The bucket starts full, and a clock that went back must not take tokens away.
    const earned = (Math.max(0, nowMs - this.tokensAtMs) / 1000) * limit.perSecond;
    const tokens = Number.isNaN(this.tokens) ? limit.burst : Math.min(limit.burst, this.tokens + earned);
    this.tokensAtMs = nowMs;
    // A millionth is forgiven, so that a sender exactly at the rate is not refused for a rounding error.
    const passes = tokens >= 1 - 1e-6;
    this.tokens = passes ? Math.max(0, tokens - 1) : tokens;
    return passes ? 0 : Math.max(1, Math.ceil((1 - tokens) / limit.perSecond));
  }

  stats(): DestinationStats {
    return {
      destination: this.name,
      requests: this.requests,
      distinctKeys: this.distinctKeys,
      effects: this.effects,
      repeated: this.repeated,
      withoutKey: this.withoutKey,
      currentConcurrency: this.current,
      peakConcurrency: this.peak,
      firstArrivalMs: this.firstArrivalMs,
      lastArrivalMs: this.lastArrivalMs,
      bodyBytes: this.bodyBytes,
      statuses: Object.fromEntries(this.statuses),
      finished: this.finished,
      cut: this.cut,
      aborted: this.aborted,
      validSignatures: this.validSignatures,
      badSignatures: this.badSignatures,
      regions: { us: this.us, eu: this.eu, other: this.otherRegion },
    };
  }
}
