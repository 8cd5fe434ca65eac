/**
 * The built console as a process of its own on a loopback port, with a person who may see everything. It ends with the run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Pool } from "pg";
import { hashPassword, newPassword } from "#cli/passwords.ts";
import { addGrant, createAccount } from "#db/console/access/grants.ts";
import { REGIONS } from "#domain/region.ts";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { ensureBuilt } from "#scripts/lib/next-build.ts";
import { consoleEnvironment } from "../config.ts";
import { untilTrue } from "../lib/wait.ts";
import type { RegionUrls } from "./seed.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The build of `npm start`. */
export const DIST_DIR = ".next";
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_CHARS = 4_000;
const AUTH_SECRET = randomBytes(32).toString("base64url");

export interface Person {
  readonly email: string;
  readonly password: string;
}

export interface ConsoleProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** An admin of all regions, in the console's database, which is that of us. */
export async function makePerson(pool: Pool): Promise<Person> {
  const by = {
    actor: "cli:bench",
    role: "admin",
    reason: "account of the bench",
    correlationId: randomUUID(),
  } as const;
  const person = { email: `bench-${randomUUID().slice(0, 8)}@example.test`, password: newPassword() };
  await createAccount(
    pool,
    { email: person.email, name: "Bench", passwordHash: await hashPassword(person.password) },
    by,
  );
  await addGrant(
    pool,
    person.email,
    { role: "admin", regions: REGIONS, tenantIds: null, canReveal: false },
    by,
  );
  return person;
}

/** Builds the console when its sources have changed. */
export async function buildConsole(): Promise<void> {
  await ensureBuilt({ root: ROOT, distDir: DIST_DIR });
}

/** @throws Error with the console's own words when it does not start */
export async function startConsole(urls: RegionUrls): Promise<ConsoleProcess> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const next = path.join(ROOT, "node_modules", "next", "dist", "bin", "next");
  const child = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", String(port)], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: consoleEnvironment({
      DATABASE_URL_US: urls.us,
      DATABASE_URL_EU: urls.eu,
      SLUICE_NEXT_DIST: DIST_DIR,
      SLUICE_CONSOLE_URL: url,
      SLUICE_AUTH_SECRET: AUTH_SECRET,
    }),
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-MAX_OUTPUT_CHARS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  try {
    await untilTrue(
      async () => ended() || (await answers(`${url}/healthz`)),
      "the console",
      START_TIMEOUT_MS,
      100,
    );
    if (ended()) throw new Error(`the console ended with ${child.exitCode ?? child.signalCode}`);
  } catch (cause) {
    await stop(child);
    throw new Error(`the console did not start: ${output.trim()}`, { cause });
  }
  return { url, stop: () => stop(child) };
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(3_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(late);
}

/** Signs in as a browser does. @returns the Cookie header. */
export async function signIn(url: string, { email, password }: Person): Promise<string> {
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new Error(`the console refused the sign-in: ${response.status}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");
}
