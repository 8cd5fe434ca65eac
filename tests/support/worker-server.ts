/**
 * A Postgres of a test's own that can be stopped and started again under load, on the same port and data. Commits are
 * durable against the end of its processes, whichever way they end; a crash of the machine may lose them.
 * Whoever starts one must stop it: its directory goes with it.
 */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  embeddedNativeDir,
  findFreePort,
  PostgresStartError,
  prepareDataDirectory,
  type RunningServer,
  type ServerSettings,
  startServer,
} from "#scripts/lib/embedded-postgres.ts";
import {
  canReach,
  outsideDirectory,
  postgresAccount,
  reachablePrograms,
} from "#scripts/lib/postgres-account.ts";

export type StopMode = "fast" | "immediate";

export interface RestartableServer {
  /** Of the database `postgres`. Stays the same over restarts. */
  readonly url: string;
  /** Stops the server, and starts it again after `awayMs` (default 0). Resolves when it accepts connections. */
  restart(mode: StopMode, awayMs?: number): Promise<void>;
  /** Stops it for good and removes its files. */
  stop(): Promise<void>;
}

const PORT_ATTEMPTS = 5;
/** The set-up of any later test run clears what a killed owner left under such a name. */
const PREFIX = "sluice-test-pg";
/** Nothing waits for the disk. What the server's processes have written stays when they are killed: the kernel has it. */
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  jit: "off",
};

/** @param settings server parameters on top of the fixed ones, such as `max_connections` */
export async function startRestartableServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<RestartableServer> {
  const native = reachablePrograms(postgresAccount(), embeddedNativeDir(), () =>
    outsideDirectory(process.cwd()),
  );
  const root = canReach(postgresAccount(), tmpdir()) ? tmpdir() : "/tmp";
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const wanted: ServerSettings = {
      binDir: path.join(native, "bin"),
      dataDir: path.join(root, `${PREFIX}-${process.pid}-${port}`),
      port,
      settings: { ...SETTINGS, ...settings },
    };
    try {
      await prepareDataDirectory(wanted);
      return restartable(wanted, await startServer(wanted));
    } catch (error) {
      remove(wanted.dataDir);
      if (!(error instanceof PostgresStartError && error.kind === "port") || attempt === PORT_ATTEMPTS)
        throw error;
    }
  }
}

function restartable(settings: ServerSettings, started: RunningServer): RestartableServer {
  let running = started;
  // An owner that ends without a stop takes the server along.
  const kill = () => {
    try {
      process.kill(running.pid, "SIGQUIT");
    } catch {
      // It has ended already.
    }
    remove(settings.dataDir);
  };
  process.once("exit", kill);
  return {
    url: started.url,
    async restart(mode, awayMs = 0) {
      await running.stop(mode);
      if (awayMs > 0) await new Promise((resolve) => setTimeout(resolve, awayMs));
      running = await startServer(settings);
    },
    async stop() {
      process.off("exit", kill);
      await running.stop("immediate");
      remove(settings.dataDir);
    },
  };
}

function remove(dataDir: string): void {
  for (const file of [dataDir, `${dataDir}.log`, `${dataDir}.ready`]) {
    rmSync(file, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
