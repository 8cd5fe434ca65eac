/** Promises of the server that `npm start` and the tests run on, with real servers. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { pingDatabase, withClient } from "#db/admin.ts";
import {
  embeddedNativeDir,
  findFreePort,
  isAlive,
  prepareDataDirectory,
  type RunningServer,
  type ServerSettings,
  startServer,
  stopLeftover,
} from "./embedded-postgres.ts";
import { canReach, outsideDirectory, postgresAccount, reachablePrograms } from "./postgres-account.ts";

const servers: RunningServer[] = [];
let home: string;
let binDir: string;
let common: ServerSettings | null = null;

beforeAll(() => {
  home = mkdtempSync("/tmp/sluice-server-");
  // The unprivileged account must get in when the tests run as root.
  rmSync(home, { recursive: true });
  binDir = path.join(
    reachablePrograms(postgresAccount(), embeddedNativeDir(), () => outsideDirectory(process.cwd())),
    "bin",
  );
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop("immediate");
});

afterAll(() => {
  if (common) forget(common);
  rmSync(home, { recursive: true, force: true });
});

async function start(settings: ServerSettings): Promise<RunningServer> {
  const server = await startServer({ ...settings, settings: { fsync: "off" } });
  servers.push(server);
  return server;
}

async function prepared(name: string, password?: string): Promise<ServerSettings> {
  const settings = {
    binDir,
    dataDir: `${home}-${name}`,
    port: await findFreePort(),
    ...(password ? { password } : {}),
  };
  await prepareDataDirectory(settings);
  return settings;
}

/** A directory that tests use one after the other, each with a port of its own: making one takes longer than most of them. */
async function shared(): Promise<ServerSettings> {
  common ??= await prepared("shared");
  return { ...common, port: await findFreePort() };
}

function forget(settings: ServerSettings): void {
  for (const end of ["", ".log", ".ready", ".pw"])
    rmSync(`${settings.dataDir}${end}`, { recursive: true, force: true });
}

describe("the embedded server", () => {
  it("keeps its data over a stop, asks for the password, and listens on loopback only", async () => {
    const settings = await prepared("kept", "pass/word");
    const first = await start(settings);
    expect(await pingDatabase(first.url)).toBeGreaterThanOrEqual(180_000);
    await expect(pingDatabase(first.url.replace("pass%2Fword", "wrong"))).rejects.toMatchObject({
      code: "28P01",
    });
    await withClient(first.url, async (client) => {
      await client.query("CREATE TABLE kept AS SELECT 7 AS n");
      const { rows } = await client.query("SHOW listen_addresses");
      expect(rows).toEqual([{ listen_addresses: "127.0.0.1" }]);
    });
    await first.stop("fast");
    expect(isAlive(first.pid)).toBe(false);
    const second = await start(settings);
    const { rows } = await withClient(second.url, (client) => client.query("SELECT n FROM kept"));
    expect(rows).toEqual([{ n: 7 }]);
    expect(existsSync(`${settings.dataDir}.pw`)).toBe(false);
    await second.stop("fast");
    forget(settings);
  });

  it("finds and stops the server of a killed run, and then starts again", async () => {
    const settings = await shared();
    const first = await start(settings);
    expect(await stopLeftover(settings.dataDir)).toBe(true);
    expect(isAlive(first.pid)).toBe(false);
    expect(await stopLeftover(settings.dataDir)).toBe(false);
    await pingDatabase((await start(settings)).url);
    await stopLeftover(settings.dataDir);
  });

  it("does not take another process with the old number for a server", async () => {
    const settings = await shared();
    const pidFile = path.join(settings.dataDir, "postmaster.pid");
    writeFileSync(pidFile, `${process.pid}\n${settings.dataDir}\n`, { mode: 0o644 });
    expect(await stopLeftover(settings.dataDir)).toBe(false);
    expect(existsSync(pidFile)).toBe(false);
    await pingDatabase((await start(settings)).url);
    await stopLeftover(settings.dataDir);
  });

  it("prepares a directory again when the first time was interrupted", async () => {
    const settings = await shared();
    rmSync(`${settings.dataDir}.ready`);
    rmSync(path.join(settings.dataDir, "global"), { recursive: true });
    await prepareDataDirectory(settings);
    await pingDatabase((await start(settings)).url);
    await stopLeftover(settings.dataDir);
  });

  it("says in one line that its port is taken, and leaves nothing running", async () => {
    const settings = await shared();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(settings.port, "127.0.0.1", resolve));
    await expect(startServer(settings)).rejects.toMatchObject({
      kind: "port",
      message: `Port ${settings.port} is in use by another program.`,
    });
    expect(existsSync(path.join(settings.dataDir, "postmaster.pid"))).toBe(false);
    await new Promise((resolve) => other.close(resolve));
  });

  it("passes on the server's own words about anything else", async () => {
    const settings = await shared();
    const failing = startServer({ ...settings, settings: { max_connections: "many" } });
    await expect(failing).rejects.toThrow(/did not start: .*max_connections/);
    expect(readFileSync(`${settings.dataDir}.log`, "utf8")).toContain("max_connections");
  });
});

describe("canReach", () => {
  it("sees a closed directory on the way, for an account that is not its owner", () => {
    const closed = mkdtempSync("/tmp/sluice-closed-");
    const stranger = { uid: 54_321, gid: 54_321, name: "stranger" };
    expect(canReach(stranger, path.join(closed, "data"))).toBe(false);
    expect(canReach(stranger, "/tmp/sluice-not-there/data")).toBe(true);
    expect(canReach(null, path.join(closed, "data"))).toBe(true);
    rmSync(closed, { recursive: true });
  });
});
