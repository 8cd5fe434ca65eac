/**
 * One request from its arrival to its end: counts it, reads the body, decides the answer, and records all of it.
 * Must count the arrival before anything can fail, and apply an effect at most once per key.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type Answer, type Plan, reply } from "./answers.ts";
import type { Destination, KeyEntry, Script } from "./destination.ts";
import { type Performance, perform } from "./perform.ts";
import type { Records } from "./records.ts";
import { checkSignature, signatureHeaderOf } from "./signature.ts";
import type { EffectResult, ExchangeEnd, KnownSecret, RequestRecord, SignatureResult } from "./types.ts";

export const MAX_BODY_BYTES = 1024 * 1024;
const MAX_KEY_CHARS = 1024;
const MAX_TEXT_CHARS = 2048;
const NOTHING = Buffer.alloc(0);
const SUCCESS = reply(200);

/** Where requests with one path and query lead; without a plan they are all given `refusal`. */
export type Route = {
  readonly plan: Plan | null;
  readonly refusal: Answer;
  readonly destination: Destination;
  readonly script: Script | null;
};

/** What an exchange needs from the server around it. */
export type ExchangeHost = {
  readonly records: Records;
  readonly now: () => number;
  readonly secretOf: (destination: string) => KnownSecret | undefined;
  readonly connectionOf: (request: IncomingMessage) => number;
  /** Called after every change of a counter. */
  readonly changed: () => void;
};

function text(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  const whole = typeof value === "string" ? value : value.join(", ");
  return whole.length > MAX_TEXT_CHARS ? whole.slice(0, MAX_TEXT_CHARS) : whole;
}

function attemptOf(value: string | null): number | null {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
}

export class Exchange {
  readonly response: ServerResponse;
  private readonly host: ExchangeHost;
  private readonly request: IncomingMessage;
  private readonly route: Route;
  private readonly destination: Destination;
  private readonly headers: IncomingHttpHeaders;
  private readonly secret: KnownSecret | undefined;
  private readonly record: RequestRecord | null;
  private readonly refuseSeconds: number;
  private readonly keepsChunks: boolean;
  private chunks: Buffer[] = [];
  private bodyBytes = 0;
  private answered = false;
  private left = false;
  private cut = false;
  private performance: Performance | null = null;

  constructor(host: ExchangeHost, request: IncomingMessage, response: ServerResponse, route: Route) {
    const arrivedAtMs = host.now();
    this.host = host;
    this.request = request;
    this.response = response;
    this.route = route;
    this.destination = route.destination;
    this.headers = request.headers;
    host.records.arrive(route.destination, arrivedAtMs, text(this.headers["sluice-region"]));
    const limit = route.plan?.limit ?? null;
    this.refuseSeconds = limit === null ? 0 : this.destination.refuseSeconds(limit, arrivedAtMs);
    this.secret = host.secretOf(route.destination.name);
    const { recordLimit, hashBodies, keepBodies } = host.records.recording;
    this.record = recordLimit > 0 ? this.open(arrivedAtMs) : null;
    this.keepsChunks = this.secret !== undefined || (recordLimit > 0 && (hashBodies || keepBodies));
    response.on("close", () => this.end());
    request.on("data", (chunk: Buffer) => this.read(chunk));
    request.on("end", () => this.decide());
    host.changed();
  }

  private open(arrivedAtMs: number): RequestRecord {
    const { headers, request } = this;
    const record: RequestRecord = {
      sequence: this.host.records.nextSequence(),
      connection: this.host.connectionOf(request),
      arrivedAtMs,
      answeredAtMs: null,
      endedAtMs: null,
      method: request.method ?? "",
      path: text(request.url) ?? "",
      destination: this.destination.name,
      key: text(headers["idempotency-key"]),
      webhookId: text(headers["webhook-id"]),
      webhookTimestamp: text(headers["webhook-timestamp"]),
      attempt: attemptOf(text(headers["sluice-attempt"])),
      tenant: text(headers["sluice-tenant"]),
      region: text(headers["sluice-region"]),
      eventType: text(headers["sluice-event-type"]),
      contentType: text(headers["content-type"]),
      traceparent: text(headers.traceparent),
      signatureHeader: text(signatureHeaderOf(this.secret, headers)),
      signature: "unchecked",
      bodyBytes: 0,
      bodySha256: null,
      bodyBase64: null,
      answer: null,
      status: null,
      retryAfter: null,
      notBeforeMs: null,
      effect: "none",
      end: "open",
    };
    this.host.records.store(record);
    return record;
  }

  private read(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    this.destination.bodyBytes += chunk.length;
    if (this.bodyBytes > MAX_BODY_BYTES) {
      this.chunks = [];
      // The rest is not read: the connection ends with this answer.
      if (!this.answered) this.give(reply(413, { message: `body over ${MAX_BODY_BYTES} bytes` }), null, true);
    } else if (this.keepsChunks) {
      this.chunks.push(chunk);
    }
  }

  private checkBody(): SignatureResult {
    const body = this.chunks.length === 1 ? (this.chunks[0] ?? NOTHING) : Buffer.concat(this.chunks);
    this.chunks = [];
    const signature =
      this.secret === undefined
        ? "unchecked"
        : checkSignature(this.secret, this.headers, body, this.host.now());
    this.destination.countSignature(signature);
    const { record } = this;
    if (record !== null) {
      record.bodyBytes = this.bodyBytes;
      record.signature = signature;
      if (this.keepsChunks && this.host.records.recording.hashBodies)
        record.bodySha256 = hash("sha256", body);
      if (this.keepsChunks) this.host.records.keepBody(record, body);
    }
    return signature;
  }

  private decide(): void {
    if (this.answered) return;
    const signature = this.checkBody();
    const given = this.headers["idempotency-key"];
    const key = typeof given === "string" && given !== "" && given.length <= MAX_KEY_CHARS ? given : null;
    if (key === null) this.destination.withoutKey++;
    const { plan } = this.route;
    const refusal = this.refusal(key, signature);
    if (plan === null || refusal !== null) {
      this.give(refusal ?? this.route.refusal, null);
      return;
    }
    const entry = key === null ? null : this.host.records.seeKey(this.destination, key);
    this.give(this.choose(plan, entry), entry);
  }

  /** Why the request is not let through to its key, null when it is. */
  private refusal(key: string | null, signature: SignatureResult): Answer | null {
    const { plan } = this.route;
    if (plan === null) return this.route.refusal;
    if (this.request.method !== "POST") return reply(405, { message: "only POST" });
    if (this.refuseSeconds > 0) {
      return reply(429, { retryAfter: { as: "seconds", seconds: this.refuseSeconds } });
    }
    if (key === null && !plan.ignoreKey) {
      return reply(422, {
        message: `an Idempotency-Key header of 1 to ${MAX_KEY_CHARS} characters is needed`,
      });
    }
    if (plan.requireSignature && signature !== "valid") {
      return reply(401, { message: `signature ${signature}` });
    }
    return null;
  }

  /** The answer of the script or the path. A key with an effect gets its result, unless the fault hides results. */
  private choose(plan: Plan, entry: KeyEntry | null): Answer {
    const { destination, script } = this.route;
    const done = entry !== null && entry.effect > 0 && !plan.ignoreKey;
    const previous = done && entry.resultStatus !== 200 ? reply(entry.resultStatus) : SUCCESS;
    if (script !== null) {
      if (done) return previous;
      const step = script.per === "key" && entry !== null ? entry.scriptStep++ : script.next++;
      return script.answers[Math.min(step, script.answers.length - 1)] ?? SUCCESS;
    }
    const { fault } = plan;
    if (fault === null || (done && !fault.effect)) return previous;
    const counter = plan.per === "key" && entry !== null ? entry : destination;
    if (counter.faults >= plan.times) return previous;
    counter.faults++;
    return fault;
  }

  private applyEffect(answer: Answer, entry: KeyEntry | null): EffectResult {
    if (!answer.effect) return "none";
    const { destination } = this;
    if (entry !== null && entry.effect > 0 && this.route.plan?.ignoreKey !== true) {
      destination.repeated++;
      return "repeated";
    }
    destination.effects++;
    if (entry !== null) {
      entry.effect = destination.effects;
      entry.resultStatus = answer.status <= 299 ? answer.status : 200;
    }
    return "applied";
  }

  private give(answer: Answer, entry: KeyEntry | null, closes = false): void {
    this.answered = true;
    const effect = this.applyEffect(answer, entry);
    if (this.record !== null) this.record.effect = effect;
    const refused = entry === null && this.route.plan?.ignoreKey !== true;
    this.performance = perform(this, {
      answer,
      effect,
      effectNumber: entry?.effect ?? this.destination.effects,
      waitMs: answer.delayMs + (refused ? 0 : (this.route.plan?.serviceMs ?? 0)),
      closes,
    });
    this.host.changed();
  }

  now(): number {
    return this.host.now();
  }

  /** Notes what is being answered; called once, before the first byte. `status` null means that none is sent. */
  note(answer: Answer, status: number | null, retryAfter: string | null, notBeforeMs: number | null): void {
    if (status !== null) this.destination.countStatus(status);
    const { record } = this;
    if (record === null) return;
    record.answeredAtMs = this.host.now();
    record.answer = answer.kind;
    record.status = status;
    record.retryAfter = retryAfter;
    record.notBeforeMs = notBeforeMs;
  }

  /**
   * Ends the concurrency of the request; called before the last byte is written. So the time counted lies inside the
   * time that the sender was busy, and a sender that keeps its cap is never seen above it.
   */
  leave(): void {
    if (this.left) return;
    this.left = true;
    this.host.records.leave(this.destination);
  }

  /** Closes the connection from this side, with FIN or with RST. */
  hangUp(how: "fin" | "rst"): void {
    this.cut = true;
    this.leave();
    if (how === "rst") this.request.socket.resetAndDestroy();
    else this.request.socket.destroy();
  }

  private end(): void {
    this.performance?.stop();
    this.leave();
    let end: ExchangeEnd = "aborted";
    if (this.cut) end = "cut";
    else if (this.response.writableFinished) end = "finished";
    this.destination.countEnd(end);
    if (this.record !== null) {
      this.record.end = end;
      this.record.endedAtMs = this.host.now();
      this.record.bodyBytes = this.bodyBytes;
    }
    this.host.changed();
  }
}
