/** The command line as a process: what it prints, where, and with which exit code. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { createEmptyDatabase, type TestDatabase } from "#tests/support/database.ts";
import { PORT_SETTINGS, ROOT } from "./config.ts";

let dataDir: string;
let database: TestDatabase;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "sluice-cli-"));
  database = await createEmptyDatabase();
});

afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await database.drop();
});

function sluice(args: string[], env: Record<string, string> = {}) {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, ...rest } = process.env;
  const result = spawnSync(process.execPath, ["cli/sluice.ts", ...args], {
    cwd: ROOT,
    env: { ...rest, SLUICE_DATA_DIR: dataDir, ...env },
    encoding: "utf8",
    timeout: 150_000,
  });
  return {
    code: result.status,
    out: result.stdout,
    errors: result.stderr.trim().split("\n").filter(Boolean),
  };
}

describe("sluice", () => {
  it("explains itself without a database", () => {
    const help = sluice(["--help"]);
    expect(help.code).toBe(0);
    for (const verb of ["up", "migrate", "seed", "worker", "receiver", "console", "doctor"]) {
      expect(help.out).toMatch(new RegExp(`^  ${verb} `, "m"));
    }
    expect(sluice(["--version"])).toMatchObject({ code: 0, out: "0.1.0\n", errors: [] });
    expect(sluice(["up", "--help"]).out).toContain("--fresh");
  });

  it.each([
    [[]],
    [["nope"]],
    [["__proto__"]],
    [["up", "--frsh"]],
    [["up", "extra"]],
    [["migrate", "--region", "asia"]],
    [["worker"]],
    [["console", "--port", "x"]],
  ])("answers bad input %j with one line and exit code 2", (args) => {
    const { code, out, errors } = sluice(args);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(errors).toEqual([expect.stringMatching(/^sluice: /)]);
  });

  it("REG-2 migrates a database for one region and then refuses it to the other", () => {
    const url = database.connectionString;
    const first = sluice(["migrate", "--region", "us"], { DATABASE_URL_US: url });
    expect(first).toMatchObject({ code: 0, errors: [] });
    expect(first.out).toMatch(/^us: applied /);
    expect(sluice(["migrate", "--region", "us"], { DATABASE_URL_US: url }).out).toBe("us: up to date\n");
    const other = sluice(["migrate", "--region", "eu"], { DATABASE_URL_EU: url });
    expect(other.code).toBe(1);
    expect(other.errors).toEqual([expect.stringContaining("belongs to region us")]);
  });

  it("doctor says what is wrong with each database and exits with 1", () => {
    const dead = "postgres://u:hunter2@127.0.0.1:1/d";
    const { code, out } = sluice(["doctor"], {
      DATABASE_URL_US: database.connectionString,
      DATABASE_URL_EU: dead,
    });
    expect(code).toBe(1);
    expect(out).toMatch(/^ok +database us: Postgres \d+ at .*, region us$/m);
    expect(out).toMatch(/^wrong +database eu: .*ECONNREFUSED/m);
    expect(out).not.toContain("hunter2");
  });
});

describe("sluice up, when it cannot start", () => {
  /** Free ones, whatever else runs on this machine. */
  let ports: Record<string, string>;

  beforeAll(async () => {
    const settings = Object.values(PORT_SETTINGS);
    const free = await Promise.all(settings.map(() => findFreePort()));
    ports = Object.fromEntries(settings.map((setting, index) => [setting, String(free[index])]));
  });

  function refuses(env: Record<string, string>, words: RegExp, args: string[] = []) {
    const { code, errors } = sluice(["up", ...args], env);
    expect(errors).toEqual([expect.stringMatching(words)]);
    expect(code).toBe(1);
    expect(errors.join()).not.toContain("hunter2");
  }

  it("names the setting of a busy port", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const port = String((server.address() as { port: number }).port);
    refuses(
      { ...ports, SLUICE_CONSOLE_PORT: port },
      new RegExp(`Port ${port} for the console .* SLUICE_CONSOLE_PORT`),
    );
    refuses(
      { ...ports, SLUICE_RECEIVER_PORT: port },
      new RegExp(`Port ${port} for the receiver .* SLUICE_RECEIVER_PORT`),
    );
    await new Promise((resolve) => server.close(resolve));
  });

  it("refuses a port that is none, and one for two", () => {
    refuses({ SLUICE_CONSOLE_PORT: "70000" }, /SLUICE_CONSOLE_PORT must be a port/);
    refuses({ SLUICE_CONSOLE_PORT: "4400", SLUICE_RECEIVER_PORT: "4400" }, /are the same port/);
  });

  it("names a database URL that is missing, malformed or dead", () => {
    const dead = "postgres://u:hunter2@127.0.0.1:1/d";
    refuses({ DATABASE_URL_US: dead }, /DATABASE_URL_US is set but DATABASE_URL_EU is not/);
    refuses(
      { DATABASE_URL_US: dead, DATABASE_URL_EU: "mysql://u:hunter2@h/d" },
      /DATABASE_URL_EU is not a Postgres/,
    );
    refuses(
      { ...ports, DATABASE_URL_US: dead, DATABASE_URL_EU: dead },
      /DATABASE_URL_US: no connection to 127.0.0.1:1/,
    );
  });

  it("never drops a database that is not its own", () => {
    const url = database.connectionString;
    refuses(
      { ...ports, DATABASE_URL_US: url, DATABASE_URL_EU: url },
      /--fresh only drops the embedded database/,
      ["--fresh"],
    );
  });

  it("says so when the data folder cannot be written", () => {
    refuses({ SLUICE_DATA_DIR: "/dev/null/x" }, /cannot be written .*SLUICE_DATA_DIR/);
  });
});
