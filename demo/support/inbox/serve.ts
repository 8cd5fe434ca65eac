/**
 * The receiving endpoint behind plain node:http, at the paths that the console has it at. An adapter only: what a request
 * means is the inbox's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { Inbox } from "./inbox.ts";
import { problem } from "./problem.ts";

export interface ServedInbox {
  /** Origin without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

const PATH = /^\/demo\/support\/([^/?]+)\/([^/?]+)(?:\?|$)/;
/** Longer than a sender keeps an idle connection, so that the closing side is the sender. */
const KEEP_ALIVE_MS = 65_000;

/** Serves on loopback. @param port 0 takes a free one */
export async function serveInbox(inbox: Inbox, port = 0): Promise<ServedInbox> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    answer(inbox, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${taken}`, port: taken, close: () => closeServer(server) };
}

async function answer(inbox: Inbox, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const [, region, endpoint] = PATH.exec(incoming.url ?? "") ?? [];
  const response =
    region === undefined || endpoint === undefined
      ? problem("not_found", "There is no such endpoint.")
      : await inbox(toRequest(incoming), { region, endpoint });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

function toRequest(incoming: IncomingMessage): Request {
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`http://127.0.0.1${incoming.url ?? "/"}`, {
    method,
    headers,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
