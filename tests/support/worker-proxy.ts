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
  /** Cuts every connection and refuses new ones until `open`. */
  shut(): void;
  open(): void;
  /** Connections at the moment. */
  connections(): number;
  close(): Promise<void>;
}

interface Trap {
  readonly text: string;
  readonly sprung: () => void;
}

/** Listens on a free port of 127.0.0.1 and forwards to the server of the URL. */
export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let trap: Trap | null = null;
  let shut = false;

  const listener = createServer((client) => {
    if (shut) {
      client.destroy();
      return;
    }
    const server = connect({ host: target.hostname, port: Number(target.port || "5432") });
    const pair = { client, server };
    pairs.add(pair);
    let armed: Trap | null = null;
    client.on("data", (chunk: Buffer) => {
      if (trap !== null && chunk.includes(trap.text)) {
        armed = trap;
        trap = null;
      }
      server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => {
      if (armed === null) {
        client.write(chunk);
        return;
      }
      // Postgres sends what it has said at the end of the transaction: the commit is behind us.
      armed.sprung();
      armed = null;
      drop();
    });
    const drop = () => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", drop);
      socket.on("close", drop);
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const own = new URL(databaseUrl);
  own.hostname = "127.0.0.1";
  own.port = String((listener.address() as AddressInfo).port);

  return {
    connectionString: own.href,
    loseAnswerTo: (text) =>
      new Promise((resolve) => {
        trap = { text, sprung: resolve };
      }),
    shut() {
      shut = true;
      for (const { client, server } of [...pairs]) {
        client.destroy();
        server.destroy();
      }
    },
    open() {
      shut = false;
    },
    connections: () => pairs.size,
    async close() {
      this.shut();
      listener.close();
      await once(listener, "close");
    },
  };
}
