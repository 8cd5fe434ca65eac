/**
 * A throw-away Postgres for tests: free port, temporary directory, durability off. It is stopped and removed at any
 * exit of its owner; what a killed owner leaves is cleared by the next start.
 * Never use it for data that somebody wants to keep.
 */
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  embeddedNativeDir,
  findFreePort,
  findPostgres15,
  isAlive,
  PostgresStartError,
  prepareDataDirectory,
  type RunningServer,
  startServer,
  stopLeftover,
} from "./embedded-postgres.ts";
import { canReach, outsideDirectory, postgresAccount, reachablePrograms } from "./postgres-account.ts";

export type TestServerVersion = 15 | 18;

const PREFIX = "sluice-test-pg";
const PORT_ATTEMPTS = 5;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_BY_SIGNAL = 130;
/** Speed before safety: a crash of the machine may lose a test server, and nobody minds. */
const THROWAWAY_SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  shared_buffers: "256MB",
  max_connections: "400",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "4GB",
  jit: "off",
} as const;

/** True when this machine can run the version: 18 comes with the project, 15 only where it is installed. */
export function hasTestServer(version: TestServerVersion): boolean {
  return version === 18 || findPostgres15() !== null;
}

/** Starts a server and ties its life to this process. `stop` also removes its directory. */
export async function startTestServer(version: TestServerVersion): Promise<RunningServer> {
  const root = temporaryRoot();
  await clearLeftovers(root);
  const binDir = programDirectory(version);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const settings = { binDir, dataDir: path.join(root, `${PREFIX}-${process.pid}-${port}`), port };
    try {
      await prepareDataDirectory(settings);
      return tieToThisProcess(
        await startServer({ ...settings, settings: THROWAWAY_SETTINGS }),
        settings.dataDir,
      );
    } catch (error) {
      removeServerFiles(settings.dataDir);
      if (!(error instanceof PostgresStartError && error.kind === "port") || attempt === PORT_ATTEMPTS)
        throw error;
    }
  }
}

/** Kills and removes the server at any end of this process that Node tells us of. */
function tieToThisProcess(server: RunningServer, dataDir: string): RunningServer {
  const remove = () => {
    try {
      process.kill(server.pid, "SIGQUIT");
    } catch {
      // It has ended already.
    }
    removeServerFiles(dataDir);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    // Others who listen decide how the process ends; without them Node would have ended it at once.
    if (process.listenerCount(signal) === 0) process.exit(EXIT_BY_SIGNAL);
  };
  process.once("exit", remove);
  for (const signal of SIGNALS) process.once(signal, onSignal);
  return {
    ...server,
    stop: async () => {
      process.off("exit", remove);
      for (const signal of SIGNALS) process.off(signal, onSignal);
      await server.stop("immediate");
      removeServerFiles(dataDir);
    },
  };
}

function programDirectory(version: TestServerVersion): string {
  if (version === 18) {
    const native = reachablePrograms(postgresAccount(), embeddedNativeDir(), () =>
      outsideDirectory(process.cwd()),
    );
    return path.join(native, "bin");
  }
  const directory = findPostgres15();
  if (directory === null) throw new Error("Postgres 15 is not installed here.");
  return directory;
}

function temporaryRoot(): string {
  return canReach(postgresAccount(), tmpdir()) ? tmpdir() : "/tmp";
}

/** Stops and removes the servers whose owner was killed. */
async function clearLeftovers(root: string): Promise<void> {
  for (const name of readdirSync(root)) {
    const match = /^sluice-test-pg-(\d+)-(\d+)$/.exec(name);
    if (!match || isAlive(Number(match[1]))) continue;
    const dataDir = path.join(root, name);
    // Another user's directory cannot be read; it is theirs to clear.
    await stopLeftover(dataDir).then(
      () => removeServerFiles(dataDir),
      () => {},
    );
  }
}

function removeServerFiles(dataDir: string): void {
  for (const file of [dataDir, `${dataDir}.log`, `${dataDir}.ready`]) {
    rmSync(file, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
