/**
 * For fork(): listens on 127.0.0.1 with the shortest queue, answers every HTTP request with 200, and says its port.
 * Stopped by a signal, it lets a handshake wait: what does not fit into its queue is answered when it goes on.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => request.resume().on("end", () => response.end("ok")));
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once("disconnect", () => process.exit(0));
