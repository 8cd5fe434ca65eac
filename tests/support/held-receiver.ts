/**
 * A receiver that answers when the test says so, in place of one that answers after a while: "it is still in flight" is then
 * true for as long as the test needs it, however slow the machine is. Whoever starts one must close it.
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { waitFor } from "./wait-for.ts";

export interface HeldReceiver {
  readonly url: string;
  /** The Idempotency-Key of every request so far, in the order of arrival. */
  keys(): string[];
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Answers what is held, and holds nothing any more. */
  letGo(status?: number): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. The first `held` requests wait for `letGo`; later ones get 200 at once. */
export async function startHeldReceiver(held = Number.POSITIVE_INFINITY): Promise<HeldReceiver> {
  const keys: string[] = [];
  const waiting: ServerResponse[] = [];
  let left = held;
  const server = createServer((request, response) => {
    keys.push(String(request.headers["idempotency-key"]));
    request.resume();
    left -= 1;
    if (left < 0) response.end("ok");
    else waiting.push(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/held`,
    keys: () => [...keys],
    arrived: async (count) => {
      await waitFor(() => keys.length >= count, { what: `${count} requests at the held receiver` });
    },
    letGo(status = 200) {
      left = 0;
      for (const response of waiting.splice(0)) response.writeHead(status).end();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
