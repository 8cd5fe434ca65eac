/**
 * The one deterministic receiver of demo, tests and bench (RECV-5): answers what the path or a script says.
 * Must listen on loopback only, and must never look at anything but the request, its clock and its own memory.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AnswerSyntaxError, type Plan, parsePath, reply } from "./answers.ts";
import { createClock } from "./clock.ts";
import { createControl } from "./control.ts";
import type { Destination, Script } from "./destination.ts";
import { Exchange, type ExchangeHost, type Route } from "./exchange.ts";
import { DEFAULT_KEY_LIMIT, MAX_DESTINATIONS, Records } from "./records.ts";
import type { DestinationStats, KnownSecret, Receiver, ReceiverOptions } from "./types.ts";

const DEFAULT_KEEP_ALIVE_TIMEOUT_MS = 65_000;
const DEFAULT_WAIT_MS = 60_000;
const CLOSE_IDLE_EVERY_MS = 20;
const MAX_ROUTES = 100_000;
const MAX_SECRETS = 50_000;
const LISTEN_BACKLOG = 4096;
const NOT_FOUND = reply(404);
const CONTROL_PREFIX = "/_control/";

/** Paths already read. A route holds its destination, so it may not outlive a reset or a change of scripts. */
function createRoutes(records: Records): { find(target: string): Route; clear(): void } {
  const routes = new Map<string, Route>();
  const nowhere = (status: number, message: string): Route => ({
    plan: null,
    refusal: reply(status, { message }),
    destination: records.unknown(),
    script: null,
  });
  const read = (target: string): Route => {
    let plan: Plan;
    try {
      plan = parsePath(target);
    } catch (error) {
      if (error instanceof AnswerSyntaxError) return nowhere(404, error.message);
      throw error;
    }
    const destination = records.destination(plan.destination);
    if (destination === undefined) {
      return nowhere(507, `there are ${MAX_DESTINATIONS} destinations already: reset the receiver`);
    }
    return { plan, refusal: NOT_FOUND, destination, script: scriptFor(records, plan, destination) };
  };
  return {
    find(target) {
      const known = routes.get(target);
      if (known !== undefined) return known;
      if (routes.size >= MAX_ROUTES) routes.clear();
      const route = read(target);
      routes.set(target, route);
      return route;
    },
    clear: () => routes.clear(),
  };
}

function scriptFor(records: Records, plan: Plan, destination: Destination): Script | null {
  const set = records.scripts.get(plan.path) ?? records.scripts.get(plan.destination);
  if (set !== undefined || plan.script === null) return set ?? null;
  const own = destination.ownScripts.get(plan.path) ?? { answers: plan.script, per: plan.per, next: 0 };
  destination.ownScripts.set(plan.path, own);
  return own;
}

type Waiter = { check(): void };

/** Checks the waiters once after the changes of a turn of the event loop, and only while somebody waits. */
function createWaiters(stats: (destination: string) => DestinationStats) {
  const waiters = new Set<Waiter>();
  let scheduled = false;
  const checkAll = () => {
    scheduled = false;
    for (const waiter of waiters) waiter.check();
  };
  return {
    changed() {
      if (scheduled || waiters.size === 0) return;
      scheduled = true;
      setImmediate(checkAll);
    },
    waitFor(
      destination: string,
      predicate: (stats: DestinationStats) => boolean,
      timeoutMs = DEFAULT_WAIT_MS,
    ): Promise<DestinationStats> {
      return new Promise((resolve, reject) => {
        const finish = (settle: () => void) => {
          clearTimeout(timer);
          waiters.delete(waiter);
          settle();
        };
        const timer = setTimeout(() => {
          const seen = JSON.stringify(stats(destination));
          finish(() => reject(new Error(`receiver: waited ${timeoutMs} ms in vain, last seen ${seen}`)));
        }, timeoutMs);
        const waiter: Waiter = {
          check() {
            try {
              const now = stats(destination);
              if (predicate(now)) finish(() => resolve(now));
            } catch (error) {
              finish(() => reject(error));
            }
          },
        };
        waiters.add(waiter);
        waiter.check();
      });
    },
  };
}

function createSecrets(secretFor: ReceiverOptions["secretFor"]) {
  const stored = new Map<string, KnownSecret>();
  return {
    of(destination: string): KnownSecret | undefined {
      const known = stored.get(destination);
      if (known !== undefined || secretFor === undefined) return known;
      const given = secretFor(destination);
      if (typeof given === "string") return { secrets: [given] };
      return given !== undefined && "secrets" in given ? given : given && { secrets: given };
    },
    set(destination: string, secret: KnownSecret | null): void {
      if (secret === null) {
        stored.delete(destination);
        return;
      }
      if (stored.size >= MAX_SECRETS && !stored.has(destination)) {
        throw new RangeError(`there are ${MAX_SECRETS} secrets already`);
      }
      stored.set(destination, secret);
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: LISTEN_BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // Node closes what is idle now; what becomes idle when its answer is given would be kept for its whole timeout.
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      resolve();
    });
  });
}

function createHttpServer(
  records: Records,
  keepAliveTimeoutMs: number,
): [Server, ExchangeHost["connectionOf"]] {
  const connections = new WeakMap<Socket, number>();
  const server = createServer({
    keepAliveTimeout: keepAliveTimeoutMs,
    // Idle connections end exactly when they are said to: senders are tested against it.
    keepAliveTimeoutBuffer: 0,
    requestTimeout: 0,
  });
  server.on("connection", (socket) => {
    connections.set(socket, records.nextConnection());
  });
  return [server, (request) => connections.get(request.socket) ?? 0];
}

/**
 * Starts a receiver in this process.
 * @throws an Error with a `code` such as EADDRINUSE when the port cannot be had.
 */
export async function createReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const records = new Records(options.recording ?? {}, options.keyLimit ?? DEFAULT_KEY_LIMIT);
  const routes = createRoutes(records);
  const waiters = createWaiters((destination) => records.stats(destination));
  const secrets = createSecrets(options.secretFor);
  const [server, connectionOf] = createHttpServer(
    records,
    options.keepAliveTimeoutMs ?? DEFAULT_KEEP_ALIVE_TIMEOUT_MS,
  );
  const host: ExchangeHost = {
    records,
    now: options.now ?? createClock(),
    secretOf: secrets.of,
    connectionOf,
    changed: waiters.changed,
  };
  const address = options.host ?? "127.0.0.1";
  const port = await listen(server, options.port ?? 0, address);
  const receiver: Receiver = {
    url: `http://${address === "::1" ? "[::1]" : address}:${port}`,
    port,
    close: (graceMs = 0) => closeServer(server, graceMs),
    reset() {
      records.reset();
      routes.clear();
      waiters.changed();
    },
    script(target, answers, scriptOptions = {}) {
      records.setScript(target, answers, scriptOptions.per ?? "request");
      routes.clear();
    },
    stats: (destination) => records.stats(destination),
    allStats: () => records.allStats(),
    totals: () => records.totals(),
    requests: (filter = {}) => records.requests(filter),
    setRecording: (recording) => records.setRecording(recording),
    setSecret: secrets.set,
    waitFor: waiters.waitFor,
  };
  const control = createControl(receiver);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "/";
    if (target.startsWith(CONTROL_PREFIX)) control(request, response);
    else new Exchange(host, request, response, routes.find(target));
  });
  return receiver;
}
