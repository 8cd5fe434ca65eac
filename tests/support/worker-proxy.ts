/**
 * A TCP proxy in front of Postgres, for tests of what a worker does when an answer is lost or the server is gone for
 * it alone. The server itself never notices more than a closed connection.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface DatabaseProxy {
  /** The same database, through the proxy. */
  readonly connectionString: string;
  /**
   * Loses the answer to the next message of a client that holds `text`, after the server has answered it: its
   * transaction has ended, the client never hears of it. Resolves when that has happened.
   */
  loseAnswerTo(text: string): Promise<void>;
  /** Swallows the next message of a client that holds `text`, and all that this connection says later. */
  swallowFrom(text: string): Promise<void>;
  /** Takes back what `loseAnswerTo` and `swallowFrom` still wait for; their promises stay open. */
  disarm(): void;
  /** Cuts every connection and refuses new ones until `open`. */
  shut(): void;
  open(): void;
  /** Forwards nothing any more and closes nothing: a network that swallows everything, until `thaw`. */
  freeze(): void;
  /** Forwards again. What lived through the freeze has lost bytes, so it is cut. */
  thaw(): void;
  /** Connections at the moment. */
  connections(): number;
  /** Whether the server's session of this client port (pg_stat_activity.client_port) goes through this proxy. */
  carries(clientPort: number): boolean;
  close(): Promise<void>;
}

interface Trap {
  readonly text: string;
  readonly kind: "lose-answer" | "swallow";
  readonly sprung: () => void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more, in either direction. */
  muted: boolean;
}

interface ProxyState {
  readonly pairs: Set<Pair>;
  trap: Trap | null;
  shut: boolean;
  frozen: boolean;
}

/** Listens on a free port of 127.0.0.1 and forwards to the server of the URL. */
export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const state: ProxyState = { pairs: new Set(), trap: null, shut: false, frozen: false };
  const listener = createServer((client) => {
    if (state.shut) client.destroy();
    else forward(client, connect({ host: target.hostname, port: Number(target.port || "5432") }), state);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const own = new URL(databaseUrl);
  own.hostname = "127.0.0.1";
  own.port = String((listener.address() as AddressInfo).port);

  const cutAll = () => {
    for (const pair of [...state.pairs]) drop(pair, state);
  };
  const set = (kind: Trap["kind"], text: string) =>
    new Promise<void>((resolve) => {
      state.trap = { kind, text, sprung: resolve };
    });
  return {
    connectionString: own.href,
    loseAnswerTo: (text) => set("lose-answer", text),
    swallowFrom: (text) => set("swallow", text),
    disarm() {
      state.trap = null;
    },
    shut() {
      state.shut = true;
      cutAll();
    },
    open() {
      state.shut = false;
    },
    freeze() {
      state.frozen = true;
    },
    thaw() {
      state.frozen = false;
      cutAll();
    },
    connections: () => state.pairs.size,
    carries: (clientPort) => [...state.pairs].some((pair) => pair.server.localPort === clientPort),
    async close() {
      state.shut = true;
      cutAll();
      listener.close();
      await once(listener, "close");
    },
  };
}

/** Joins a client and the server, until one of them closes or a trap springs. */
function forward(client: Socket, server: Socket, state: ProxyState): void {
  const pair: Pair = { client, server, muted: false };
  state.pairs.add(pair);
  let armed: Trap | null = null;
  client.on("data", (chunk: Buffer) => {
    if (state.frozen || pair.muted) return;
    if (state.trap !== null && chunk.includes(state.trap.text)) {
      const trap = state.trap;
      state.trap = null;
      if (trap.kind === "swallow") {
        pair.muted = true;
        trap.sprung();
        return;
      }
      armed = trap;
    }
    server.write(chunk);
  });
  server.on("data", (chunk: Buffer) => {
    if (state.frozen || pair.muted) return;
    if (armed === null) {
      client.write(chunk);
      return;
    }
    // Postgres sends what it has said at the end of the transaction: the commit is behind us.
    armed.sprung();
    armed = null;
    drop(pair, state);
  });
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    socket.on("error", () => drop(pair, state));
    socket.on("close", () => drop(pair, state));
  }
}

function drop(pair: Pair, state: ProxyState): void {
  state.pairs.delete(pair);
  pair.client.destroy();
  pair.server.destroy();
}
