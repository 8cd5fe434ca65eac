/**
 * The control API under /_control/, for tests, chaos and bench that run in other processes.
 * Must never be counted as a request, never show a secret, and never answer a web page.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { AnswerSyntaxError, MAX_SCRIPT_ANSWERS } from "./answers.ts";
import { MAX_RECORD_LIMIT } from "./records.ts";
import type { Receiver } from "./types.ts";

const MAX_CONTROL_BODY_BYTES = 1024 * 1024;
export const MAX_REQUESTS_PER_PAGE = 5_000;
const MAX_TEXT_CHARS = 2048;

const text = z.string().min(1).max(MAX_TEXT_CHARS);
const scriptAnswer = z.union([
  z.number(),
  z.string(),
  z.strictObject({
    status: z.number(),
    retryAfter: z
      .union([
        z.number(),
        z.string(),
        z.strictObject({ dateInSeconds: z.number(), form: z.enum(["imf", "rfc850", "asctime"]).optional() }),
      ])
      .optional(),
    effect: z.boolean().optional(),
    delayMs: z.number().optional(),
    message: z.string().optional(),
  }),
]);
const scriptCommand = z.strictObject({
  target: text,
  answers: z.array(scriptAnswer).max(MAX_SCRIPT_ANSWERS),
  per: z.enum(["request", "key"]).optional(),
});
const recordingCommand = z.strictObject({
  recordLimit: z.number().int().min(0).max(MAX_RECORD_LIMIT).optional(),
  hashBodies: z.boolean().optional(),
  keepBodies: z.boolean().optional(),
});
const secretCommand = z.strictObject({
  destination: text,
  secret: z.strictObject({ secrets: z.array(text).min(1).max(8), header: text.optional() }).nullable(),
});
const requestsQuery = z.strictObject({
  path: text.optional(),
  destination: text.optional(),
  key: text.optional(),
  webhookId: text.optional(),
  tenant: text.optional(),
  region: text.optional(),
  afterSequence: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_REQUESTS_PER_PAGE).default(MAX_REQUESTS_PER_PAGE),
});
const statsQuery = z.strictObject({ destination: text.optional() });

type Call = { readonly query: Readonly<Record<string, string>>; readonly body: unknown };
type Handler = (receiver: Receiver, call: Call) => unknown;

const HANDLERS: Readonly<Record<string, Handler>> = {
  "GET healthz": () => ({
    ok: true,
    pid: process.pid,
    upMs: performance.now(),
    cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
    rssBytes: process.memoryUsage.rss(),
  }),
  "GET totals": (receiver) => receiver.totals(),
  "GET stats": (receiver, { query }) => {
    const { destination } = statsQuery.parse(query);
    if (destination !== undefined) return receiver.stats(destination);
    return { totals: receiver.totals(), destinations: receiver.allStats() };
  },
  "GET requests": (receiver, { query }) => ({ requests: receiver.requests(requestsQuery.parse(query)) }),
  "POST reset": (receiver) => {
    receiver.reset();
    return { ok: true };
  },
  "POST script": (receiver, { body }) => {
    const { target, answers, per } = scriptCommand.parse(body);
    receiver.script(target, answers, per === undefined ? {} : { per });
    return { ok: true };
  },
  "POST recording": (receiver, { body }) => {
    const given = recordingCommand.parse(body);
    // A field left out stays as it is; undefined would overwrite it.
    return receiver.setRecording(
      Object.fromEntries(Object.entries(given).filter(([, v]) => v !== undefined)),
    );
  },
  "POST secret": (receiver, { body }) => {
    const { destination, secret } = secretCommand.parse(body);
    const header = secret?.header === undefined ? {} : { header: secret.header };
    receiver.setSecret(destination, secret && { secrets: secret.secrets, ...header });
    return { ok: true };
  },
};

class BodyTooLarge extends Error {}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_CONTROL_BODY_BYTES) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return bytes === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}

function problemOf(error: unknown): [number, string] {
  if (error instanceof z.ZodError) return [422, z.prettifyError(error)];
  if (error instanceof AnswerSyntaxError || error instanceof RangeError) return [422, error.message];
  if (error instanceof SyntaxError) return [400, "the body is not JSON"];
  if (error instanceof BodyTooLarge) return [413, `the body is over ${MAX_CONTROL_BODY_BYTES} bytes`];
  return [500, error instanceof Error ? error.message : "unknown error"];
}

/** Returns the function that answers every request under /_control/. */
export function createControl(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", receiver.url);
    const name = `${request.method} ${url.pathname.slice("/_control/".length)}`;
    const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
    // A browser names its page here; no page has business with this API.
    if (request.headers.origin !== undefined) return send(response, 403, { error: "not for browsers" });
    if (handler === undefined)
      return send(response, 404, { error: `no such control: ${name.slice(0, 100)}` });
    const body = await readBody(request);
    send(response, 200, handler(receiver, { query: Object.fromEntries(url.searchParams), body }));
  };
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const [status, message] = problemOf(error);
      if (!response.headersSent && !response.destroyed) send(response, status, { error: message });
    });
  };
}
