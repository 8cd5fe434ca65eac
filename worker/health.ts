/**
 * /healthz says whether this process still does its work (no database is asked), /readyz whether it takes new work.
 * Loopback only. It must answer while the database is away, and with 503 while it stops.
 */
import { createServer, type Server } from "node:http";
import type { Alarm } from "./alarms.ts";

export interface HealthFacts {
  readonly region: string;
  readonly workerId: string;
  readonly state: "running" | "stopping";
  /** Milliseconds since the last turn of the dispatcher that went through. */
  readonly lastTurnMs: number;
  /** Milliseconds since the database last answered the heartbeat; null before the first. */
  readonly lastHeartbeatMs: number | null;
  readonly inFlight: number;
  readonly slots: number;
  /** Of the last claims, from asking to answer; null while there are too few. */
  readonly claimP95Ms: number | null;
  /** What a person has to look at; it does not make the process unready. */
  readonly alarms: readonly Alarm[];
}

/** A dispatcher or a heartbeat that is silent for longer is not healthy. */
export const MAX_SILENCE_MS = 15_000;

/** Listens on 127.0.0.1; port 0 takes a free one. */
export function startHealth(
  port: number,
  facts: () => HealthFacts,
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const now = facts();
    const path = request.url?.split("?", 1)[0];
    const healthy = isHealthy(now);
    const ready = healthy && now.state === "running";
    const status =
      path === "/healthz" ? (healthy ? 200 : 503) : path === "/readyz" ? (ready ? 200 : 503) : 404;
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(status === 404 ? { error: "not found" } : { ok: status === 200, ...now }));
  });
  return listen(server, port);
}

export function isHealthy(facts: HealthFacts): boolean {
  return (
    facts.lastTurnMs < MAX_SILENCE_MS &&
    facts.lastHeartbeatMs !== null &&
    facts.lastHeartbeatMs < MAX_SILENCE_MS
  );
}

function listen(server: Server, port: number): Promise<{ port: number; close(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve({
        port: typeof address === "object" && address !== null ? address.port : port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
