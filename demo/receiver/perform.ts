/**
 * Gives one answer on one response: plain, slow, dripping, huge, cut off or never.
 * Must stop all its timers and writes when the exchange ends, and must not decide anything.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import { gzipSync } from "node:zlib";
import { type Answer, formatHttpDate, type RetryAfter } from "./answers.ts";
import type { EffectResult } from "./types.ts";

const BLOCK_BYTES = 64 * 1024;
const GZIP_BLOCK_BYTES = 1024 * 1024;
const TRUNCATED_LENGTH = 1000;
const BLOCK = Buffer.alloc(BLOCK_BYTES, "x");
let gzipBlock: Buffer | null = null;

/** NUL, bytes that are never UTF-8, a cut sequence, an encoded surrogate: what a text column refuses. */
export const RAW_BODY: Buffer = Buffer.from([
  ...Buffer.from("raw\0"),
  ...[0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x80, 0x00],
  ...Buffer.from("end\r\n\u001b[31m\0"),
]);

/** The side of an exchange that an answer is given on. */
export type Stage = {
  readonly response: ServerResponse;
  now(): number;
  note(answer: Answer, status: number | null, retryAfter: string | null, notBeforeMs: number | null): void;
  leave(): void;
  hangUp(how: "fin" | "rst"): void;
};

export type Part = {
  readonly answer: Answer;
  readonly effect: EffectResult;
  readonly effectNumber: number;
  readonly waitMs: number;
  /** The connection ends with this answer. */
  readonly closes: boolean;
};

/** A running answer; `stop` is called when the exchange has ended. */
export type Performance = { stop(): void };

/** Starts the answer. Returns null when nothing of it is left to stop. */
export function perform(stage: Stage, part: Part): Performance | null {
  if (part.waitMs === 0) return act(stage, part);
  let running: Performance | null = null;
  const timer = setTimeout(() => {
    running = act(stage, part);
  }, part.waitMs);
  return {
    stop() {
      clearTimeout(timer);
      running?.stop();
    },
  };
}

function act(stage: Stage, part: Part): Performance | null {
  const { answer } = part;
  switch (answer.kind) {
    case "reply":
    case "raw":
      replyWhole(stage, part);
      return null;
    case "hangup":
      stage.note(answer, null, null, null);
      stage.hangUp("fin");
      return null;
    case "reset":
      stage.note(answer, null, null, null);
      stage.hangUp("rst");
      return null;
    case "truncate":
      truncate(stage, part);
      return null;
    case "drip":
      return drip(stage, part);
    case "huge":
      return huge(stage, part);
    case "never":
      return null;
  }
}

function readRetryAfter(asked: RetryAfter | null, nowMs: number): [string, number | null] | null {
  if (asked === null) return null;
  if (asked.as === "seconds") return [String(asked.seconds), nowMs + asked.seconds * 1000];
  if (asked.as === "text") return [asked.text, null];
  const atMs = Math.ceil((nowMs + asked.inSeconds * 1000) / 1000) * 1000;
  return [formatHttpDate(atMs, asked.form), atMs];
}

function replyBody(part: Part): Buffer | string {
  const { answer } = part;
  if (answer.kind === "raw") return RAW_BODY;
  if (answer.effect) return `{"effect":${part.effectNumber}}`;
  return JSON.stringify({ error: answer.message ?? STATUS_CODES[answer.status] ?? "unknown" });
}

function headersOf(part: Part, more: string[]): string[] {
  const headers = ["content-type", "application/json", "x-effect", part.effect, ...more];
  if (part.answer.location !== null) headers.push("location", part.answer.location);
  if (part.answer.status === 405) headers.push("allow", "POST");
  if (part.closes) headers.push("connection", "close");
  return headers;
}

function replyWhole(stage: Stage, part: Part): void {
  const { answer } = part;
  const { response } = stage;
  const retryAfter = readRetryAfter(answer.retryAfter, stage.now());
  stage.note(answer, answer.status, retryAfter?.[0] ?? null, retryAfter?.[1] ?? null);
  stage.leave();
  const empty = answer.status === 204 || answer.status === 304;
  const body = empty ? "" : replyBody(part);
  const headers = headersOf(part, empty ? [] : ["content-length", String(Buffer.byteLength(body))]);
  if (retryAfter !== null) headers.push("retry-after", retryAfter[0]);
  if (answer.kind === "raw") headers.push("x-raw", "\xff\xfe\x80");
  response.writeHead(answer.status, headers);
  response.end(body);
}

function truncate(stage: Stage, part: Part): void {
  const { answer } = part;
  stage.note(answer, answer.status, null, null);
  stage.response.writeHead(answer.status, headersOf(part, ["content-length", String(TRUNCATED_LENGTH)]));
  stage.response.write('{"effect":', () => stage.hangUp("fin"));
}

function drip(stage: Stage, part: Part): Performance {
  const { answer } = part;
  const { response } = stage;
  stage.note(answer, answer.status, null, null);
  response.writeHead(answer.status, headersOf(part, ["content-length", String(answer.bytes)]));
  response.flushHeaders();
  let left = answer.bytes;
  const timer = setInterval(() => {
    left--;
    if (left > 0) {
      response.write(".");
      return;
    }
    clearInterval(timer);
    stage.leave();
    response.end(".");
  }, answer.everyMs);
  return { stop: () => clearInterval(timer) };
}

function huge(stage: Stage, part: Part): Performance {
  const { answer } = part;
  const { response } = stage;
  stage.note(answer, answer.status, null, null);
  if (answer.gzip) gzipBlock ??= gzipSync(Buffer.alloc(GZIP_BLOCK_BYTES, "x"));
  // Gzip members may follow each other, so one small block repeated decodes to any size.
  const block = answer.gzip && gzipBlock !== null ? gzipBlock : BLOCK;
  const blockBytes = answer.gzip ? GZIP_BLOCK_BYTES : BLOCK_BYTES;
  response.writeHead(answer.status, headersOf(part, answer.gzip ? ["content-encoding", "gzip"] : []));
  let left = answer.bytes;
  let stopped = false;
  const pump = () => {
    while (left > 0 && !stopped) {
      left -= blockBytes;
      if (!response.write(block)) {
        response.once("drain", pump);
        return;
      }
    }
    if (stopped) return;
    stage.leave();
    response.end();
  };
  pump();
  return {
    stop() {
      stopped = true;
    },
  };
}
