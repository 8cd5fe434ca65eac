/**
 * What a path or a script says: a pure reading of text into plans and answers.
 * Must never look at a request, a clock or a counter: the same text always gives the same plan.
 */

export type AnswerKind = "reply" | "hangup" | "reset" | "truncate" | "never" | "drip" | "huge" | "raw";
export type HttpDateForm = "imf" | "rfc850" | "asctime";

export type RetryAfter =
  | { readonly as: "seconds"; readonly seconds: number }
  | { readonly as: "date"; readonly inSeconds: number; readonly form: HttpDateForm }
  | { readonly as: "text"; readonly text: string };

/** One answer to one request. */
export type Answer = {
  readonly kind: AnswerKind;
  readonly status: number;
  readonly retryAfter: RetryAfter | null;
  readonly location: string | null;
  readonly message: string | null;
  /** Whether the business effect is applied before the answer is given. */
  readonly effect: boolean;
  readonly delayMs: number;
  /** Body length of `drip` and `huge`. */
  readonly bytes: number;
  /** Pause between two bytes of `drip`. */
  readonly everyMs: number;
  readonly gzip: boolean;
};

/** A limit that the merchant itself keeps, checked when the request arrives and before its key. */
export type MerchantLimit =
  | { readonly kind: "rate"; readonly perSecond: number; readonly burst: number }
  | { readonly kind: "concurrency"; readonly limit: number };

/** What a path selects. While the fault is on it is given; after that, and without one, the request succeeds. */
export type Plan = {
  readonly destination: string;
  readonly path: string;
  readonly fault: Answer | null;
  /** How often the fault is given, per key or in all; Infinity is for ever. */
  readonly times: number;
  readonly per: "request" | "key";
  readonly limit: MerchantLimit | null;
  readonly script: readonly Answer[] | null;
  /** Service time of every answer except a refusal by `limit`. */
  readonly serviceMs: number;
  readonly ignoreKey: boolean;
  readonly requireSignature: boolean;
};

/** An answer as scripts write it: a status, a word of the table in README.md, or fields. */
export type ScriptAnswer =
  | number
  | string
  | {
      readonly status: number;
      /** A number is seconds, a text is sent as it is. */
      readonly retryAfter?:
        | number
        | string
        | { readonly dateInSeconds: number; readonly form?: HttpDateForm };
      /** Applies the effect although the status is not 2xx, or leaves it although it is. */
      readonly effect?: boolean;
      readonly delayMs?: number;
      readonly message?: string;
    };

/** The text is no path or no answer of the table; the message says which part. */
export class AnswerSyntaxError extends Error {
  override readonly name = "AnswerSyntaxError";
}

export const UNKNOWN_DESTINATION = "(unknown)";
export const MAX_SCRIPT_ANSWERS = 10_000;
const MAX_DELAY_MS = 600_000;
const MAX_SECONDS = 10_000_000_000;
const MAX_HUGE_MB = 4096;
const MAX_DRIP_BYTES = 100_000;
const MAX_TIMES = 1_000_000;
const MAX_PER_SECOND = 100_000;
const MAX_TEXT_CHARS = 512;
const DEFAULT_HUGE_MB = 500;
const DEFAULT_DRIP_BYTES = 600;
const DEFAULT_DRIP_EVERY_MS = 100;
const MIB = 1024 * 1024;
const NAME = /^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/;
// What node:http accepts as a header value.
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const PARAMETERS = new Set([
  "auth",
  "bytes",
  "encoding",
  "every",
  "form",
  "key",
  "mb",
  "message",
  "ms",
  "per",
  "status",
  "times",
  "to",
  "value",
]);

const OK: Answer = {
  kind: "reply",
  status: 200,
  retryAfter: null,
  location: null,
  message: null,
  effect: true,
  delayMs: 0,
  bytes: 0,
  everyMs: 0,
  gzip: false,
};

/** A plain reply; 2xx applies the effect, nothing else does. */
export function reply(status: number, more: Partial<Answer> = {}): Answer {
  return { ...OK, status, effect: status >= 200 && status <= 299, ...more };
}

function whole(text: string | undefined | null, name: string, min: number, max: number): number {
  if (text === undefined || text === null || !/^\d{1,11}$/.test(text)) {
    throw new AnswerSyntaxError(`${name} must be a whole number`);
  }
  const value = Number(text);
  if (value < min || value > max) throw new AnswerSyntaxError(`${name} must be between ${min} and ${max}`);
  return value;
}

function perSecond(text: string | undefined): number {
  const value = text !== undefined && /^\d{1,6}(\.\d{1,4})?$/.test(text) ? Number(text) : 0;
  if (value <= 0 || value > MAX_PER_SECOND) {
    throw new AnswerSyntaxError(`rps must be above 0 and at most ${MAX_PER_SECOND}`);
  }
  return value;
}

function headerText(text: string, name: string): string {
  if (text.length > MAX_TEXT_CHARS || !HEADER_TEXT.test(text)) {
    throw new AnswerSyntaxError(`${name} is too long or cannot be a header`);
  }
  return text;
}

function oneOf<T extends string>(text: string | null, name: string, allowed: readonly T[], fallback: T): T {
  if (text === null) return fallback;
  const found = allowed.find((value) => value === text);
  if (found === undefined) throw new AnswerSyntaxError(`${name} must be one of ${allowed.join(", ")}`);
  return found;
}

const DATE_FORMS = ["imf", "rfc850", "asctime"] as const;

type Query = URLSearchParams;
/** What one first segment says: how many segments it used, the rest is the destination name. */
type Reading = {
  readonly used: number;
  readonly fault?: Answer;
  readonly times?: number;
  readonly limit?: MerchantLimit;
  readonly script?: readonly Answer[];
  /** The name is the whole path, so that it cannot be mistaken for the path that led here. */
  readonly wholePath?: boolean;
};

function number(query: Query, name: string, fallback: number, min: number, max: number): number {
  const text = query.get(name);
  return text === null ? fallback : whole(text, name, min, max);
}

function readThrottle(s: readonly string[], query: Query): Reading {
  const status = number(query, "status", 429, 400, 599);
  switch (s[1]) {
    case "seconds": {
      const seconds = whole(s[2], "seconds", 0, MAX_SECONDS);
      return { used: 3, fault: reply(status, { retryAfter: { as: "seconds", seconds } }) };
    }
    case "date": {
      const inSeconds = whole(s[2], "seconds", 0, MAX_SECONDS);
      const form = oneOf(query.get("form"), "form", DATE_FORMS, "imf");
      return { used: 3, fault: reply(status, { retryAfter: { as: "date", inSeconds, form } }) };
    }
    case "malformed": {
      const text = headerText(query.get("value") ?? "soon", "value");
      return { used: 2, fault: reply(status, { retryAfter: { as: "text", text } }) };
    }
    case "none":
      return { used: 2, fault: reply(status) };
    default:
      throw new AnswerSyntaxError("/429/ is followed by seconds, date, malformed or none");
  }
}

function readStatus(min: number, max: number): (s: readonly string[], query: Query) => Reading {
  return (s, query) => {
    const message = query.get("message");
    const status = whole(s[1], "code", min, max);
    const more = message === null ? {} : { message: headerText(message, "message") };
    return { used: 2, fault: reply(status, more) };
  };
}

function readRedirect(s: readonly string[], query: Query): Reading {
  const status = whole(s[1], "code", 300, 399);
  const name = s.length > 2 ? s.slice(2).join("/") : s.join("/");
  const location = headerText(query.get("to") ?? `/redirected/${name}`, "to");
  return { used: 2, fault: reply(status, { location }) };
}

function readHuge(_s: readonly string[], query: Query): Reading {
  const bytes = number(query, "mb", DEFAULT_HUGE_MB, 1, MAX_HUGE_MB) * MIB;
  const gzip = oneOf(query.get("encoding"), "encoding", ["identity", "gzip"], "identity") === "gzip";
  const status = number(query, "status", 200, 200, 599);
  return { used: 1, fault: reply(status, { kind: "huge", bytes, gzip }) };
}

function readDrip(_s: readonly string[], query: Query): Reading {
  const bytes = number(query, "bytes", DEFAULT_DRIP_BYTES, 1, MAX_DRIP_BYTES);
  const everyMs = number(query, "every", DEFAULT_DRIP_EVERY_MS, 1, MAX_DELAY_MS);
  return { used: 1, fault: reply(200, { kind: "drip", bytes, everyMs }) };
}

const READERS: Readonly<Record<string, (s: readonly string[], query: Query) => Reading>> = {
  ok: () => ({ used: 1 }),
  redirected: () => ({ used: 1, wholePath: true }),
  status: readStatus(200, 599),
  reject: readStatus(400, 499),
  always: readStatus(400, 599),
  "429": readThrottle,
  hangup: () => ({ used: 1, fault: reply(200, { kind: "hangup" }), times: 1 }),
  reset: () => ({ used: 1, fault: reply(200, { kind: "reset", effect: false }) }),
  truncate: () => ({ used: 1, fault: reply(200, { kind: "truncate" }) }),
  slow: (s) => ({ used: 2, fault: reply(200, { delayMs: whole(s[1], "ms", 0, MAX_DELAY_MS) }) }),
  drip: readDrip,
  huge: readHuge,
  redirect: readRedirect,
  never: () => ({ used: 1, fault: reply(200, { kind: "never", effect: false }) }),
  raw: (_s, query) => ({
    used: 1,
    fault: reply(number(query, "status", 200, 200, 599), { kind: "raw" }),
  }),
  limit: (s) => ({
    used: 3,
    limit: { kind: "rate", perSecond: perSecond(s[1]), burst: whole(s[2], "burst", 1, MAX_PER_SECOND) },
  }),
  concurrency: (s) => ({
    used: 2,
    limit: { kind: "concurrency", limit: whole(s[1], "n", 1, MAX_PER_SECOND) },
  }),
  script: (s) => ({ used: 2, script: parseScript((s[1] ?? "").split(",")) }),
};

function checkParameters(query: Query): void {
  for (const name of query.keys()) {
    // A mistyped parameter would otherwise silently change what a test proves.
    if (!PARAMETERS.has(name)) throw new AnswerSyntaxError(`unknown parameter ${name.slice(0, 40)}`);
  }
}

/**
 * Reads a request target (path and query) into its plan.
 * @throws AnswerSyntaxError when the path is not in the table of README.md or a parameter is wrong.
 */
export function parsePath(target: string): Plan {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1));
  const segments = path.slice(1).split("/");
  const head = segments[0] ?? "";
  const reader = Object.hasOwn(READERS, head) ? READERS[head] : undefined;
  if (reader === undefined || !path.startsWith("/")) throw new AnswerSyntaxError(`no such path: /${head}`);
  checkParameters(query);
  const reading = reader(segments, query);
  const rest = segments.slice(reading.used).join("/");
  if (rest === "" && reading.script !== undefined) throw new AnswerSyntaxError("a script needs a name");
  const destination = reading.wholePath || rest === "" ? segments.join("/") : rest;
  if (!NAME.test(destination)) {
    throw new AnswerSyntaxError("a destination name holds letters, digits, and . _ ~ - / only");
  }
  const times = query.get("times");
  const forEver = times === "always" || (times === null && reading.times === undefined);
  return {
    destination,
    path,
    fault: reading.fault ?? null,
    times: forEver ? Number.POSITIVE_INFINITY : number(query, "times", reading.times ?? 0, 0, MAX_TIMES),
    per: oneOf(query.get("per"), "per", ["request", "key"], reading.script ? "request" : "key"),
    limit: reading.limit ?? null,
    script: reading.script ?? null,
    serviceMs: number(query, "ms", 0, 0, MAX_DELAY_MS),
    ignoreKey: oneOf(query.get("key"), "key", ["honour", "ignore"], "honour") === "ignore",
    requireSignature: oneOf(query.get("auth"), "auth", ["record", "require"], "record") === "require",
  };
}

const WORDS: Readonly<Record<string, (argument: string | undefined) => Answer>> = {
  ok: () => OK,
  hangup: () => reply(200, { kind: "hangup" }),
  reset: () => reply(200, { kind: "reset", effect: false }),
  truncate: () => reply(200, { kind: "truncate" }),
  never: () => reply(200, { kind: "never", effect: false }),
  raw: () => reply(200, { kind: "raw" }),
  slow: (ms) => reply(200, { delayMs: whole(ms, "slow", 0, MAX_DELAY_MS) }),
  drip: () => reply(200, { kind: "drip", bytes: DEFAULT_DRIP_BYTES, everyMs: DEFAULT_DRIP_EVERY_MS }),
  huge: (mb) =>
    reply(200, {
      kind: "huge",
      bytes: (mb === undefined ? DEFAULT_HUGE_MB : whole(mb, "huge", 1, MAX_HUGE_MB)) * MIB,
    }),
};

function parseWord(text: string): Answer {
  const colon = text.indexOf(":");
  const word = colon < 0 ? text : text.slice(0, colon);
  const argument = colon < 0 ? undefined : text.slice(colon + 1);
  const make = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (make !== undefined) return make(argument);
  const status = whole(word, "status", 200, 599);
  if (argument === undefined) return reply(status);
  return reply(status, { retryAfter: retryAfterOf(argument) });
}

function retryAfterOf(asked: number | string): RetryAfter {
  if (typeof asked === "number" || /^\d{1,10}$/.test(asked)) {
    return { as: "seconds", seconds: whole(String(asked), "retryAfter", 0, MAX_SECONDS) };
  }
  return { as: "text", text: headerText(asked, "retryAfter") };
}

/**
 * Reads one answer of a script: 429, "429:3" (Retry-After: 3), "hangup", "slow:500", or fields.
 * @throws AnswerSyntaxError
 */
export function parseAnswer(answer: ScriptAnswer): Answer {
  if (typeof answer === "number") return reply(whole(String(answer), "status", 200, 599));
  if (typeof answer === "string") return parseWord(answer);
  const asked = answer.retryAfter;
  let retryAfter: RetryAfter | null = null;
  if (typeof asked === "object") {
    const inSeconds = whole(String(asked.dateInSeconds), "dateInSeconds", 0, MAX_SECONDS);
    retryAfter = { as: "date", inSeconds, form: asked.form ?? "imf" };
  } else if (asked !== undefined) {
    retryAfter = retryAfterOf(asked);
  }
  const plain = reply(whole(String(answer.status), "status", 200, 599));
  return {
    ...plain,
    retryAfter,
    effect: answer.effect ?? plain.effect,
    delayMs: answer.delayMs === undefined ? 0 : whole(String(answer.delayMs), "delayMs", 0, MAX_DELAY_MS),
    message: answer.message === undefined ? null : headerText(answer.message, "message"),
  };
}

/**
 * Reads a whole script, at most MAX_SCRIPT_ANSWERS answers.
 * @throws AnswerSyntaxError
 */
export function parseScript(answers: readonly ScriptAnswer[]): Answer[] {
  if (answers.length > MAX_SCRIPT_ANSWERS) {
    throw new AnswerSyntaxError(`a script holds at most ${MAX_SCRIPT_ANSWERS} answers`);
  }
  return answers.map(parseAnswer);
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** A moment (milliseconds since 1970, rounded up to the second) in one of the three forms of RFC 9110. */
export function formatHttpDate(atMs: number, form: HttpDateForm): string {
  const date = new Date(Math.ceil(atMs / 1000) * 1000);
  const imf = date.toUTCString(); // Mon, 30 Nov 2026 12:02:00 GMT
  if (form === "imf") return imf;
  const [weekday = "", day = "", month = "", year = "", time = ""] = imf.split(" ");
  if (form === "rfc850") return `${DAYS[date.getUTCDay()]}, ${day}-${month}-${year.slice(-2)} ${time} GMT`;
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}
