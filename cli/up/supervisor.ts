/**
 * Holds everything that `sluice up` has started and ends it in the right order: traffic first, so that no new work
 * comes in; then the console; then the workers, which finish what they have in flight; then the receiver, which they
 * needed for that; the database last. It must never return from `stop` while something of it still runs.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { RunningServer } from "#scripts/lib/embedded-postgres.ts";
import { type ManagedChild, restartPauseMs } from "./child.ts";
import { formatDuration } from "./progress.ts";

export interface Supervisor {
  /** Children stop in rising order; those of one order stop together. */
  add(child: ManagedChild, stopOrder: number): void;
  /** Watches the embedded server and starts it again with `restart` when it dies. */
  watchDatabase(server: RunningServer, restart: () => Promise<RunningServer>): void;
  /** Ends everything in order. Safe to call more than once. */
  stop(): Promise<void>;
  /** Kills everything at once. */
  kill(): void;
}

/** Makes an empty supervisor that tells what happens through `say`. */
export function createSupervisor(say: (line: string) => void): Supervisor {
  const children = new Map<ManagedChild, number>();
  let database: RunningServer | null = null;
  let stopping: Promise<void> | null = null;

  const watch = async (server: RunningServer, restart: () => Promise<RunningServer>, deaths: number) => {
    database = server;
    await server.exited;
    if (stopping !== null) return;
    database = null;
    for (let count = deaths + 1; stopping === null; count += 1) {
      const pauseMs = restartPauseMs(count);
      say(`Postgres ended; starting it again in ${formatDuration(pauseMs)}`);
      await delay(pauseMs);
      if (stopping !== null) return;
      try {
        void watch(await restart(), restart, count);
        return;
      } catch (error) {
        say(`Postgres does not start: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };

  const stopAll = async () => {
    const orders = [...new Set(children.values())].sort((one, two) => one - two);
    for (const order of orders) {
      const group = [...children].filter(([, value]) => value === order).map(([child]) => child);
      await Promise.all(group.map((child) => child.stop()));
    }
    await database?.stop("fast");
  };

  return {
    add: (child, stopOrder) => {
      children.set(child, stopOrder);
    },
    watchDatabase: (server, restart) => {
      void watch(server, restart, 0);
    },
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
    kill: () => {
      stopping ??= Promise.resolve();
      for (const child of children.keys()) child.kill();
      void database?.stop("immediate");
    },
  };
}
