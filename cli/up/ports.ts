/** Looks whether the ports that `sluice up` needs are free, before anything is started. */
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { SluiceError } from "#domain/errors.ts";
import { PORT_SETTINGS, type PortName } from "../config.ts";

const WHAT: Readonly<Record<PortName, string>> = {
  console: "the console",
  receiver: "the receiver",
  postgres: "Postgres",
  workerUs: "the us worker's health",
  workerEu: "the eu worker's health",
};

const POLL_MS = 200;

/** True when nothing listens on the port of 127.0.0.1 and this user may listen there. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * Checks all ports. `graceMs` gives the processes of a killed earlier run the time to end by themselves.
 * @throws SluiceError `port_busy` naming the first busy port and the setting that moves it.
 */
export async function requireFreePorts(
  ports: Readonly<Partial<Record<PortName, number>>>,
  graceMs: number,
): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (const [name, port] of Object.entries(ports) as [PortName, number][]) {
    while (!(await isPortFree(port))) {
      if (performance.now() >= deadline) throw busyPort(name, port);
      await delay(POLL_MS);
    }
  }
}

/** The error for a port that another program has. */
export function busyPort(name: PortName, port: number): SluiceError {
  return new SluiceError(
    "port_busy",
    `Port ${port} for ${WHAT[name]} is in use: stop the other program or set ${PORT_SETTINGS[name]} to a free port.`,
  );
}
