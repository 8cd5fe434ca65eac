/**
 * Opens the connections that requests go out on, and refuses those that must not be made. The check sits where the
 * socket is opened: a literal address is checked before, the addresses of a name between lookup and connect (so that
 * what was checked is what is connected to), and the peer itself before the first byte of a request. It must never
 * cost anything on a connection that is kept.
 */
import { promises as dns, type LookupAddress } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";
import { describeRefusal, refusedHost, refusedKind, type SendingRules } from "#domain/destination-url.ts";

/** Every address of a name, in the order in which they should be tried. Rejects with a DNS error code. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** True while a new connection is handed to its first request, which undici writes within that call. */
export interface Opening {
  now: boolean;
}

export interface GuardOptions {
  readonly opening: Opening;
  readonly rules: SendingRules;
  readonly connectTimeoutMs: number;
  /** How long one of several addresses may take before the next is tried too. */
  readonly nextAddressMs: number;
  readonly resolve: Resolve;
}

/** A connection that must not be made; no byte of a request was written. */
export class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
  readonly code = "SLUICE_BLOCKED_ADDRESS";
  /** The address and its kind, e.g. `169.254.169.254 (link_local)`. */
  readonly address: string;

  constructor(address: string) {
    super(`connections to ${address} are not allowed`);
    this.address = address;
  }
}

/** A name that could not be resolved. */
export class LookupError extends Error {
  override readonly name = "LookupError";
  readonly code: string;

  constructor(code: string) {
    super(`the name could not be resolved (${code})`);
    this.code = code;
  }
}

/** Most addresses of one name that are looked at; a name has a handful. */
const MAX_ADDRESSES = 32;
const DEFAULT_PORT = { "https:": 443, "http:": 80 } as const;

/**
 * The connector of one origin, as undici wants it. Its callback gets BlockedAddressError, LookupError, or what the
 * system says.
 */
export function createGuardedConnector(origin: URL, options: GuardOptions): buildConnector.connector {
  const port = Number(origin.port) || DEFAULT_PORT[origin.protocol as keyof typeof DEFAULT_PORT];
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: options.nextAddressMs,
    // Whatever the environment says: a certificate that nobody vouches for is not the receiver's.
    rejectUnauthorized: true,
    lookup: guardedLookup(port, options),
  } as buildConnector.BuildOptions);
  return (request, callback) => {
    const hostname = request.hostname.replace(/^\[|\]$/g, "");
    // A literal address never reaches the lookup.
    const refused = refusedHost(hostname, port, options.rules);
    if (refused !== null) {
      const error = new BlockedAddressError(refused);
      queueMicrotask(() => callback(error, null));
      return;
    }
    // The socket goes back to undici, which ends it when nobody waits for it any more.
    return connect(request, (...[error, socket]) => {
      if (error !== null) callback(error, null);
      else checkPeer(socket, port, options, callback);
    });
  };
}

/** Asks the system, as every other program on this machine does. */
export const systemResolve: Resolve = (hostname) => dns.lookup(hostname, { all: true });

/**
 * Asks for a name once, however many connections want it at the same moment: each question to the system holds a thread,
 * and one dead name must not hold them all. Nothing is remembered beyond the answer.
 */
export function askedOnce(resolve: Resolve): Resolve {
  // Bounded by the slots: there are no more connections in the making.
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  return (hostname) => {
    const running = asked.get(hostname);
    if (running !== undefined) return running;
    const lookup = resolve(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, lookup);
    return lookup;
  };
}

/** Node asks with `all: true` since version 20 and then wants a list; a single address would break every request. */
function guardedLookup(port: number, { rules, resolve }: GuardOptions): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const given = found.slice(0, MAX_ADDRESSES);
        const addresses = given.filter(({ address }) => refusedKind(address, port, rules) === null);
        const first = addresses[0];
        if (first === undefined) callback(whyNone(given, port, rules), []);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(new LookupError(codeOf(error)), []),
    );
  };
}

function whyNone(given: readonly LookupAddress[], port: number, rules: SendingRules): Error {
  const address = given[0]?.address;
  if (address === undefined) return new LookupError("ENODATA");
  return new BlockedAddressError(describeRefusal(address, refusedKind(address, port, rules) ?? "reserved"));
}

/** Whatever came between the check and the connection (an address that the system rewrites): the peer decides. */
function checkPeer(
  socket: Socket,
  port: number,
  { rules, opening }: GuardOptions,
  callback: buildConnector.Callback,
): void {
  const peer = socket.remoteAddress;
  // Already closed again: the request finds out by itself.
  const kind = peer === undefined ? null : refusedKind(peer, port, rules);
  if (kind === null) {
    opening.now = true;
    try {
      callback(null, socket);
    } finally {
      opening.now = false;
    }
    return;
  }
  socket.on("error", () => undefined).destroy();
  callback(new BlockedAddressError(describeRefusal(peer ?? "", kind)), null);
}

function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === "string" ? code : "EAI_FAIL";
}
