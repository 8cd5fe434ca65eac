/**
 * The packages that the bench compares with. They have a package.json of their own and are installed here, when a
 * scenario needs them, from its lock file; `npm start` and `npm test` never do. Scripts of packages do not run.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { progress } from "./progress.ts";

const PEERS_DIR = fileURLToPath(new URL("../peers", import.meta.url));
const NAMES = ["pg-boss", "bullmq", "ioredis"] as const;
export type PeerName = (typeof NAMES)[number];

const requirePeer = createRequire(path.join(PEERS_DIR, "package.json"));

/** @throws Error with one line when they are missing and cannot be installed */
export async function installPeers(): Promise<void> {
  if (NAMES.every((name) => existsSync(path.join(PEERS_DIR, "node_modules", name, "package.json")))) return;
  progress("installing what is compared with: npm ci in bench/peers (--no-peers leaves it out)");
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: PEERS_DIR,
      stdio: ["ignore", "ignore", "inherit"],
    });
    child.once("error", () => resolve(null));
    child.once("exit", resolve);
  });
  if (code !== 0) throw new Error("npm ci in bench/peers failed; --no-peers measures without them");
}

/** Loads a peer. Its types are not ours: the caller says which small part of it is used. */
export async function loadPeer<Module>(name: PeerName): Promise<Module> {
  return (await import(pathToFileURL(requirePeer.resolve(name)).href)) as Module;
}

/** Version that is installed. */
export function peerVersion(name: PeerName): string {
  const file = path.join(PEERS_DIR, "node_modules", name, "package.json");
  return (requirePeer(file) as { version: string }).version;
}
