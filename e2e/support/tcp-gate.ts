/** A loopback port that leads to a database until it is shut: how a test stops one region's database for one process. */
import { createServer, type Server, Socket } from "node:net";

export interface TcpGate {
  /** The connection URL through the gate. */
  url: string;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
}

/** Opens a gate in front of the database of `connectionString`. */
export async function openTcpGate(connectionString: string): Promise<TcpGate> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  const server = createServer((inner) => {
    const outer = new Socket();
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        sockets.delete(socket);
        inner.destroy();
        outer.destroy();
      });
    }
    outer.connect(Number(target.port || 5432), target.hostname);
    inner.pipe(outer).pipe(inner);
  });
  const url = new URL(connectionString);
  url.hostname = "127.0.0.1";
  url.port = String(await listen(server));
  return {
    url: url.href,
    shut: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The gate has no port.");
  return address.port;
}
