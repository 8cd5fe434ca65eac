/**
 * Reads the URL of a destination, strictly: whatever two programs could read in two ways is refused. Used when a
 * destination is saved and again before each request, so that the two never disagree. No reason given here may hold
 * the URL: customers put secrets into its path and query.
 */
import { SluiceError } from "./errors.ts";
import {
  type AddressKind,
  type AllowedRange,
  classifyAddress,
  isAllowListed,
  isPortListed,
  parseAllowList,
} from "./ip-address.ts";

/** What this installation lets requests go to. */
export interface SendingRules {
  /** Addresses that are allowed although they are not public. */
  readonly allow: readonly AllowedRange[];
  /** Whether http, without TLS, is allowed at all. */
  readonly plainHttp: boolean;
}

/** Nothing but https to public addresses. */
export const STRICT_RULES: SendingRules = { allow: [], plainHttp: false };

export interface DestinationUrl {
  /** Scheme, host and port as a client wants them, without a slash at the end. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Name or address; IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
}

export type UrlReading =
  | { readonly kind: "ok"; readonly url: DestinationUrl }
  /** Cannot be requested, whatever it resolves to. */
  | { readonly kind: "bad"; readonly detail: string }
  /** A literal address, or a name, that must not be reached. `address` says which and why. */
  | { readonly kind: "blocked"; readonly address: string };

export type RefusedKind = Exclude<AddressKind, "public"> | "port";

/** Longest URL, in characters; the table has the same bound. */
export const MAX_URL_CHARS = 2048;
const MAX_HOSTNAME_CHARS = 253;
/** Space, controls, and what URL would quietly drop or turn round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff\\]/;
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]{0,20}):/;
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;
/** Below this, ports belong to services of the system: mail, shells, directories. */
const FIRST_FREE_PORT = 1024;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** From 1024 up, the ports that browsers refuse (the Fetch standard's "bad ports"): other protocols answer there. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];

/** Reads a URL under the rules. Never throws. */
export function readDestinationUrl(text: string, rules: SendingRules): UrlReading {
  const parsed = parse(text, rules);
  if (typeof parsed === "string") return { kind: "bad", detail: parsed };
  const refused = refusedHost(parsed.hostname, parsed.port, rules);
  return refused === null ? { kind: "ok", url: parsed } : { kind: "blocked", address: refused };
}

/**
 * For whoever writes a destination. It looks at the text only: what a name resolves to is checked with each connection.
 * @throws SluiceError `bad_destination_url`; `data.why` is `bad_url` or `blocked_address`, the detail holds no URL
 */
export function checkDestinationUrl(text: string, rules: SendingRules): DestinationUrl {
  const reading = readDestinationUrl(text, rules);
  if (reading.kind === "ok") return reading.url;
  if (reading.kind === "bad") {
    throw new SluiceError("bad_destination_url", reading.detail, { why: "bad_url" });
  }
  throw new SluiceError("bad_destination_url", `the address ${reading.address} is not allowed`, {
    why: "blocked_address",
  });
}

/**
 * Null when nothing speaks against the host of a URL as it is written; else the host and why. What a name resolves to is
 * another question, for `refusedKind`.
 */
export function refusedHost(hostname: string, port: number, rules: SendingRules): string | null {
  if (isLocalName(hostname)) {
    const kinds = LOOPBACK_ADDRESSES.map((address) => refusedKind(address, port, rules));
    return kinds.includes(null) ? null : describeRefusal(hostname, "loopback");
  }
  const kind = isLiteral(hostname) ? refusedKind(hostname, port, rules) : null;
  return kind === null ? null : describeRefusal(hostname, kind);
}

/** Null when a connection to this address and port is allowed; else the kind of the address, or that it is the port. */
export function refusedKind(address: string, port: number, rules: SendingRules): RefusedKind | null {
  if (isAllowListed(rules.allow, address, port)) return null;
  const kind = classifyAddress(address);
  if (kind !== "public") return kind;
  // A port that only the allow-list opens is open at its addresses, not everywhere.
  return isWebPort(port) ? null : "port";
}

/**
 * @param settings.allow an allow-list as in `parseAllowList`
 * @param settings.plainHttp "true" or "false"; absent is false
 * @throws SluiceError `bad_config` naming the wrong part
 */
export function parseSendingRules(settings: {
  readonly allow?: string | undefined;
  readonly plainHttp?: string | undefined;
}): SendingRules {
  const plain = settings.plainHttp || "false";
  if (plain !== "true" && plain !== "false") {
    throw new SluiceError("bad_config", "whether plain http is allowed is neither true nor false");
  }
  return { allow: parseAllowList(settings.allow ?? ""), plainHttp: plain === "true" };
}

function parse(text: string, rules: SendingRules): DestinationUrl | string {
  if (text.length > MAX_URL_CHARS) return `the URL is longer than ${MAX_URL_CHARS} characters`;
  if (AMBIGUOUS.test(text)) return "the URL holds a space, a control character or a backslash";
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return "the URL cannot be read";
  if (scheme !== "https" && scheme !== "http") return `the scheme ${scheme}: is not allowed`;
  const authority = AUTHORITY.exec(text)?.[1];
  if (authority === undefined || !URL.canParse(text)) return "the URL cannot be read";
  if (authority.includes("@")) return "the URL carries credentials";
  if (text.includes("#")) return "the URL has a fragment, which no server would ever see";
  if (scheme === "http" && !rules.plainHttp) return "the scheme http: is not allowed here, only https:";
  const url = new URL(text);
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  if (hostname === "" || hostname.length > MAX_HOSTNAME_CHARS || hostname.startsWith(".")) {
    return "the URL has no usable host";
  }
  if (url.port === "0") return "the port is 0";
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port);
  if (!isWebPort(port) && !isPortListed(rules.allow, port)) return `the port ${port} is not allowed`;
  return { origin: url.origin, path: `${url.pathname}${url.search}`, hostname, port };
}

/** How a refused address is written in evidence, e.g. `169.254.169.254 (link_local)`. */
export function describeRefusal(address: string, kind: RefusedKind): string {
  return `${address} (${kind})`;
}

/** Names that stand for this machine whatever a resolver says, RFC 6761. */
function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname);
}

/** URL has already turned every spelling of an IPv4 address into four decimal numbers. */
function isLiteral(hostname: string): boolean {
  return hostname.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

function isWebPort(port: number): boolean {
  return WEB_PORTS.has(port) || (port >= FIRST_FREE_PORT && !BAD_PORTS.has(port));
}
